// The claims of plain programs on the files they replace: a pure machine that says which opens wait, and how long.

import VersionModel

/// Plain programs' claims (DESIGN 4). Without clock, lock or I/O: times come in, in nanoseconds of a clock that only
/// goes forward, and what is to be done comes out.
///
/// Only an open may wait. It waits for claims that block it, behind whoever waits already, at most `replaceWait`; then
/// it goes on, and everything it overwrites is kept. A claim ends when its handle is closed, or when its file has not
/// changed for `lapse`. As the kernel may write to the file without telling (passthrough, mappings), whoever drives the
/// machine looks at the file when ``nextDeadline`` comes, and reports a change before it calls ``tick(now:)``.
public struct WriterClaims: Sendable {
    /// The answer to an open.
    public enum Admission: Hashable, Sendable {
        /// It goes on at once.
        case granted
        /// It waits for a ``Resumption``, at the latest at this time.
        case parked(until: Int64)
    }

    /// A parked open goes on.
    public struct Resumption: Hashable, Sendable {
        public enum Reason: String, Sendable {
            /// Nothing blocks it any more.
            case free
            /// It has waited long enough.
            case timeout
            /// A signal that its process has handled.
            case interrupted
        }
        public var id: ClaimID
        public var reason: Reason

        public init(id: ClaimID, reason: Reason) {
            self.id = id
            self.reason = reason
        }
    }

    /// A claim as people may see it.
    public struct Listed: Hashable, Sendable {
        public var claim: PlainClaim
        /// When it was granted; of one that waits, when it came.
        public var since: Int64
        public var isWaiting: Bool
    }

    private struct Holder {
        var claim: PlainClaim
        var since: Int64
        var lastChange: Int64

        init(claim: PlainClaim, since: Int64) {
            self.claim = claim
            self.since = since
            lastChange = since
        }
    }

    private struct Waiter {
        var claim: PlainClaim
        var since: Int64
        var deadline: Int64
    }

    /// An item with claims.
    private struct Queue {
        var holders: [Holder] = []
        /// In the order of arrival.
        var waiters: [Waiter] = []
    }

    /// How long an open that comes from now on waits at most, in nanoseconds.
    public var replaceWait: Int64
    private let lapse: Int64
    private var queues: [ItemID: Queue] = [:]
    private var items: [ClaimID: ItemID] = [:]

    /// - Parameters:
    ///   - replaceWait: how long an open waits at most (`replace-wait`).
    ///   - lapse: how long a claim outlasts the last change of its file.
    public init(replaceWait: Int64 = 2_000_000_000, lapse: Int64 = 200_000_000) {
        self.replaceWait = max(0, replaceWait)
        self.lapse = max(0, lapse)
    }

    // MARK: Events

    /// A program opens an item for writing.
    /// - Parameters:
    ///   - truncates: whether with O_TRUNC.
    ///   - end: when it has waited long enough in any case, for instance because it has waited elsewhere already.
    public mutating func open(
        _ id: ClaimID, item: ItemID, actor: FileActor?, truncates: Bool, until end: Int64? = nil, now: Int64
    ) -> Admission {
        dropIdle(item, now: now)
        let claim = PlainClaim(id: id, kind: truncates ? .replacing : .writing, item: item, actor: actor)
        var queue = queues[item] ?? Queue()
        let isContested = queue.holders.contains { $0.claim.kind == .replacing && !PlainClaim.areKin($0.claim, claim) }
        // Without a replacement going on, writers in place make no claim at all.
        guard truncates || isContested || queue.waiters.contains(where: { PlainClaim.blocks($0.claim, claim) }) else {
            return .granted
        }
        items[id] = item
        defer { queues[item] = queue }
        if mayGo(claim, in: queue, behind: queue.waiters.count) {
            queue.holders.append(Holder(claim: claim, since: now))
            return .granted
        }
        let deadline = max(now, min(end ?? .max, now + replaceWait))
        queue.waiters.append(Waiter(claim: claim, since: now, deadline: deadline))
        return .parked(until: deadline)
    }

    /// A program has truncated an open file to nothing: it is replacing it from now on. This never waits.
    public mutating func truncated(_ id: ClaimID, item: ItemID, actor: FileActor?, now: Int64) {
        take(id, .replacing, item, actor, now)
    }

    /// A program has made a file: others wait for it as for one that has truncated its file. This never waits.
    /// - Parameter sharing: others may write in place beside it, as with a database; an open that would truncate the
    ///   file waits all the same.
    public mutating func created(_ id: ClaimID, item: ItemID, actor: FileActor?, sharing: Bool, now: Int64) {
        take(id, sharing ? .writing : .replacing, item, actor, now)
    }

    private mutating func take(
        _ id: ClaimID, _ kind: PlainClaimKind, _ item: ItemID, _ actor: FileActor?, _ now: Int64
    ) {
        dropIdle(item, now: now)
        var queue = queues[item] ?? Queue()
        queue.holders.removeAll { $0.claim.id == id }
        let claim = PlainClaim(id: id, kind: kind, item: item, actor: actor)
        queue.holders.append(Holder(claim: claim, since: now))
        queues[item] = queue
        items[id] = item
    }

    /// The file has changed at this moment: nobody can tell by whose hand, so the claims of all who hold it go on.
    public mutating func changed(_ item: ItemID, at time: Int64) {
        guard var queue = queues[item] else { return }
        for index in queue.holders.indices where queue.holders[index].lastChange < time {
            queue.holders[index].lastChange = time
        }
        queues[item] = queue
    }

    /// The handle was closed, or its open failed after it had been granted, or its process has ended.
    public mutating func closed(_ id: ClaimID, now: Int64) -> [Resumption] {
        guard let item = items.removeValue(forKey: id) else { return [] }
        if let queue = queues[item], queue.waiters.isEmpty, queue.holders.count == 1, queue.holders[0].claim.id == id {
            // Alone, as nearly always.
            queues[item] = nil
            return []
        }
        queues[item]?.holders.removeAll { $0.claim.id == id }
        queues[item]?.waiters.removeAll { $0.claim.id == id }
        dropLapsed(item, now: now)
        return serve(item, now: now)
    }

    /// A signal has come for a parked open.
    /// - Parameter isFatal: whether the open fails with EINTR, and its claim is gone; else it goes on at once.
    public mutating func interrupted(_ id: ClaimID, isFatal: Bool, now: Int64) -> [Resumption] {
        guard let item = items[id], var queue = queues[item] else { return [] }
        guard let index = queue.waiters.firstIndex(where: { $0.claim.id == id }) else { return [] }
        if isFatal { return closed(id, now: now) }
        let waiter = queue.waiters.remove(at: index)
        queue.holders.append(Holder(claim: waiter.claim, since: now))
        queues[item] = queue
        return [Resumption(id: id, reason: .interrupted)] + serve(item, now: now)
    }

    /// Time has passed.
    public mutating func tick(now: Int64) -> [Resumption] {
        var resumptions: [Resumption] = []
        // The files of the other items were not looked at: an open does so before it asks.
        for item in contestedItems {
            dropLapsed(item, now: now)
            resumptions += serve(item, now: now)
        }
        return resumptions
    }

    // MARK: Questions

    /// When ``tick(now:)`` may have something to do; nil while nobody waits.
    public var nextDeadline: Int64? {
        queues.values.filter { !$0.waiters.isEmpty }.flatMap { queue in
            queue.waiters.map(\.deadline) + queue.holders.map { $0.lastChange + lapse }
        }.min()
    }

    /// The items whose files are to be looked at before the next ``tick(now:)``.
    public var contestedItems: [ItemID] { queues.filter { !$0.value.waiters.isEmpty }.map(\.key) }

    /// Whether anyone has a claim on the item: if so, look at the file before ``open(_:item:actor:truncates:now:)``.
    public func isClaimed(_ item: ItemID) -> Bool { queues[item].map { !$0.holders.isEmpty } ?? false }

    /// The claims that are held on an item, and those that wait for it in their order.
    public func claims(on item: ItemID) -> (held: [PlainClaim], waiting: [PlainClaim]) {
        (queues[item]?.holders.map(\.claim) ?? [], queues[item]?.waiters.map(\.claim) ?? [])
    }

    /// All claims but those that have lapsed, the oldest first.
    public func all(now: Int64) -> [Listed] {
        queues.values.flatMap { queue in
            queue.holders.filter { $0.lastChange + lapse > now }
                .map { Listed(claim: $0.claim, since: $0.since, isWaiting: false) }
                + queue.waiters.map { Listed(claim: $0.claim, since: $0.since, isWaiting: true) }
        }.sorted { ($0.since, $0.claim.id.number) < ($1.since, $1.claim.id.number) }
    }

    /// Whether nothing is claimed at all.
    public var isEmpty: Bool { queues.isEmpty && items.isEmpty }

    // MARK: The rules

    /// Whether a claim may be held now, with so many waiters before it.
    private func mayGo(_ claim: PlainClaim, in queue: Queue, behind count: Int) -> Bool {
        guard !queue.holders.contains(where: { PlainClaim.blocks($0.claim, claim) }) else { return false }
        // Kin of a holder does not queue behind those who wait for that holder: they would wait for one another.
        if queue.holders.contains(where: { PlainClaim.areKin($0.claim, claim) }) { return true }
        return !queue.waiters.prefix(count).contains { PlainClaim.blocks($0.claim, claim) }
    }

    /// Lets go on who can, in the order of arrival.
    private mutating func serve(_ item: ItemID, now: Int64) -> [Resumption] {
        guard var queue = queues[item] else { return [] }
        var resumptions: [Resumption] = []
        var index = 0
        while index < queue.waiters.count {
            let waiter = queue.waiters[index]
            let isFree = mayGo(waiter.claim, in: queue, behind: index)
            guard isFree || waiter.deadline <= now else {
                index += 1
                continue
            }
            queue.waiters.remove(at: index)
            queue.holders.append(Holder(claim: waiter.claim, since: now))
            resumptions.append(Resumption(id: waiter.claim.id, reason: isFree ? .free : .timeout))
            // Kin of this one may go now, wherever they wait.
            index = 0
        }
        queues[item] = queue.holders.isEmpty && queue.waiters.isEmpty ? nil : queue
        return resumptions
    }

    /// Drops what has lapsed where nobody waits for it; else that is left to ``tick(now:)``, which wakes the waiting.
    private mutating func dropIdle(_ item: ItemID, now: Int64) {
        if queues[item]?.waiters.isEmpty == true { dropLapsed(item, now: now) }
    }

    private mutating func dropLapsed(_ item: ItemID, now: Int64) {
        guard var queue = queues[item] else { return }
        for holder in queue.holders where holder.lastChange + lapse <= now { items[holder.claim.id] = nil }
        queue.holders.removeAll { $0.lastChange + lapse <= now }
        queues[item] = queue.holders.isEmpty && queue.waiters.isEmpty ? nil : queue
    }
}
