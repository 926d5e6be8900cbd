// The claims of plain programs on the files that they replace: a pure state machine that decides which opens wait, and
// how long.

import VersionModel

/// Plain programs' claims (DESIGN 4). It has no clock, lock or I/O: times come in, in nanoseconds of a clock that never
/// goes back, and effects come out.
///
/// Only an open can wait. It waits for claims that block it, behind the earlier waiting opens, for at most
/// `replaceWait`. Then it continues, and its overwritten content is kept. A claim ends when its handle is closed, or
/// when its file has not changed for `lapse`. The kernel may write to the file without a report (passthrough,
/// mappings). So the driver of the machine checks the file at ``nextDeadline``, and reports a change before it calls
/// ``tick(now:)``.
public struct WriterClaims: Sendable {
    /// The answer to an open.
    public enum Admission: Hashable, Sendable {
        /// It continues at once.
        case granted
        /// It waits for a ``Resumption``, until this time at most.
        case parked(until: Int64)
    }

    /// The end of a parked open's wait.
    public struct Resumption: Hashable, Sendable {
        public enum Reason: String, Sendable {
            /// No claim blocks it any more.
            case free
            /// It has waited long enough.
            case timeout
            /// A signal, which its process has handled.
            case interrupted
        }
        public var id: ClaimID
        public var reason: Reason

        public init(id: ClaimID, reason: Reason) {
            self.id = id
            self.reason = reason
        }
    }

    /// A claim for listings.
    public struct Listed: Hashable, Sendable {
        public var claim: PlainClaim
        /// The time of its grant; for a waiting claim the time of its arrival.
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

    /// The longest wait of an open from now on, in nanoseconds.
    public var replaceWait: Int64
    private let lapse: Int64
    private var queues: [ItemID: Queue] = [:]
    private var items: [ClaimID: ItemID] = [:]

    /// - Parameters:
    ///   - replaceWait: the longest wait of an open (`replace-wait`).
    ///   - lapse: the time between the last change of the file and the end of its claim.
    public init(replaceWait: Int64 = 2_000_000_000, lapse: Int64 = 200_000_000) {
        self.replaceWait = max(0, replaceWait)
        self.lapse = max(0, lapse)
    }

    // MARK: Events

    /// Handles an open for writing.
    /// - Parameters:
    ///   - truncates: whether it has O_TRUNC.
    ///   - end: an upper limit for the wait, for instance because the open has already waited elsewhere.
    public mutating func open(
        _ id: ClaimID, item: ItemID, actor: FileActor?, truncates: Bool, until end: Int64? = nil, now: Int64
    ) -> Admission {
        dropIdle(item, now: now)
        let claim = PlainClaim(id: id, kind: truncates ? .replacing : .writing, item: item, actor: actor)
        var queue = queues[item] ?? Queue()
        let isContested = queue.holders.contains { $0.claim.kind == .replacing && !PlainClaim.areKin($0.claim, claim) }
        // Without a replacement in progress, writers in place make no claim.
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

    /// Handles the truncation of an open file to 0: the program replaces it from now on. This never waits.
    public mutating func truncated(_ id: ClaimID, item: ItemID, actor: FileActor?, now: Int64) {
        take(id, .replacing, item, actor, now)
    }

    /// Handles the creation of a file: other opens wait as after a truncation. This never waits.
    /// - Parameter sharing: whether other programs may write in place meanwhile, as with a database. An open that
    ///   truncates the file waits all the same.
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

    /// Handles a change of the file now. The writer is unknown, so the claims of all holders continue.
    public mutating func changed(_ item: ItemID, at time: Int64) {
        guard var queue = queues[item] else { return }
        for index in queue.holders.indices where queue.holders[index].lastChange < time {
            queue.holders[index].lastChange = time
        }
        queues[item] = queue
    }

    /// Handles the end of a handle, of a granted open that failed, or of a process.
    public mutating func closed(_ id: ClaimID, now: Int64) -> [Resumption] {
        guard let item = items.removeValue(forKey: id) else { return [] }
        if let queue = queues[item], queue.waiters.isEmpty, queue.holders.count == 1, queue.holders[0].claim.id == id {
            // The only claim, the usual case.
            queues[item] = nil
            return []
        }
        queues[item]?.holders.removeAll { $0.claim.id == id }
        queues[item]?.waiters.removeAll { $0.claim.id == id }
        dropLapsed(item, now: now)
        return serve(item, now: now)
    }

    /// Handles a signal for a parked open.
    /// - Parameter isFatal: whether the open fails with EINTR, which ends its claim; otherwise it continues at once.
    public mutating func interrupted(_ id: ClaimID, isFatal: Bool, now: Int64) -> [Resumption] {
        guard let item = items[id], var queue = queues[item] else { return [] }
        guard let index = queue.waiters.firstIndex(where: { $0.claim.id == id }) else { return [] }
        if isFatal { return closed(id, now: now) }
        let waiter = queue.waiters.remove(at: index)
        queue.holders.append(Holder(claim: waiter.claim, since: now))
        queues[item] = queue
        return [Resumption(id: id, reason: .interrupted)] + serve(item, now: now)
    }

    /// Handles the passing of time.
    public mutating func tick(now: Int64) -> [Resumption] {
        var resumptions: [Resumption] = []
        // The files of other items were not checked: an open does that before it asks.
        for item in contestedItems {
            dropLapsed(item, now: now)
            resumptions += serve(item, now: now)
        }
        return resumptions
    }

    // MARK: Questions

    /// The time of the next possible effect of ``tick(now:)``; nil while no open waits.
    public var nextDeadline: Int64? {
        queues.values.filter { !$0.waiters.isEmpty }.flatMap { queue in
            queue.waiters.map(\.deadline) + queue.holders.map { $0.lastChange + lapse }
        }.min()
    }

    /// The items whose files must be checked before the next ``tick(now:)``.
    public var contestedItems: [ItemID] { queues.filter { !$0.value.waiters.isEmpty }.map(\.key) }

    /// Whether the item has a claim: if so, check the file before ``open(_:item:actor:truncates:now:)``.
    public func isClaimed(_ item: ItemID) -> Bool { queues[item].map { !$0.holders.isEmpty } ?? false }

    /// The granted claims on an item, and the waiting ones in order.
    public func claims(on item: ItemID) -> (held: [PlainClaim], waiting: [PlainClaim]) {
        (queues[item]?.holders.map(\.claim) ?? [], queues[item]?.waiters.map(\.claim) ?? [])
    }

    /// All claims except lapsed ones, the oldest first.
    public func all(now: Int64) -> [Listed] {
        queues.values.flatMap { queue in
            queue.holders.filter { $0.lastChange + lapse > now }
                .map { Listed(claim: $0.claim, since: $0.since, isWaiting: false) }
                + queue.waiters.map { Listed(claim: $0.claim, since: $0.since, isWaiting: true) }
        }.sorted { ($0.since, $0.claim.id.number) < ($1.since, $1.claim.id.number) }
    }

    /// Whether there are no claims.
    public var isEmpty: Bool { queues.isEmpty && items.isEmpty }

    // MARK: Rules

    /// Whether a claim can be granted now, with this many waiting claims before it.
    private func mayGo(_ claim: PlainClaim, in queue: Queue, behind count: Int) -> Bool {
        guard !queue.holders.contains(where: { PlainClaim.blocks($0.claim, claim) }) else { return false }
        // Kin of a holder does not queue behind the claims that wait for that holder: they would wait for one another.
        if queue.holders.contains(where: { PlainClaim.areKin($0.claim, claim) }) { return true }
        return !queue.waiters.prefix(count).contains { PlainClaim.blocks($0.claim, claim) }
    }

    /// Grants waiting claims where possible, in the order of arrival.
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
            // Kin of this claim may be granted now, at any position.
            index = 0
        }
        queues[item] = queue.holders.isEmpty && queue.waiters.isEmpty ? nil : queue
        return resumptions
    }

    /// Drops lapsed claims if no open waits; otherwise ``tick(now:)`` does it and wakes the waiting opens.
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
