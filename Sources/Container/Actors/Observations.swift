// The version of an item that each actor saw last, which is the base of its save (DESIGN 5.2).

import VersionModel

/// The observations of all actors. A value without clock or lock: times come from the caller, in nanoseconds of a clock
/// that never goes back and runs while the system sleeps (CLOCK_BOOTTIME).
public struct Observations: Sendable {
    /// An actor's action that shows which version it knows.
    public enum Kind: Sendable {
        /// It opened the version for reading.
        case read
        /// It saved the version.
        case save
    }

    /// The time for which an observation lent to an ancestor serves the ancestor's other descendants, in nanoseconds.
    public static let lentFor: Int64 = 15 * 60 * 1_000_000_000

    /// One observation.
    struct Mark: Equatable {
        var version: VersionID
        var time: Int64
        /// Orders observations of one time, and distinguishes them.
        var sequence: UInt64
        var isRead: Bool
    }

    /// The newest observation of an item and the preceding one, in case the newest is retracted.
    struct Trail: Equatable {
        var last: Mark
        var before: Mark?
        /// Whether the actor itself has unlinked the name: its saves then have no base.
        var isBlind = false
        /// The number of valid reads in this trail.
        var reads = 0
        /// Whether an observation of this trail was a read.
        var includesRead: Bool { reads > 0 }

        /// Adds an observation; true if it is the first of its trail.
        static func add(_ mark: Mark, of item: ItemID, to trails: inout [ItemID: Trail]) -> Bool {
            guard let index = trails.index(forKey: item) else {
                trails[item] = Trail(last: mark, reads: mark.isRead ? 1 : 0)
                return true
            }
            // A blind actor has no earlier observation to return to.
            let before = trails.values[index].isBlind ? nil : trails.values[index].last
            let reads = trails.values[index].reads + (mark.isRead ? 1 : 0)
            trails.values[index] = Trail(last: mark, before: before, reads: reads)
            return false
        }
    }

    /// An actor's knowledge of items.
    struct Ledger: Equatable {
        var own: [ItemID: Trail] = [:]
        var lent: [ItemID: Trail] = [:]
        var isEmpty: Bool { own.isEmpty && lent.isEmpty }
    }

    /// The position of a trail in the order of the trails' last changes.
    struct Trace {
        var sequence: UInt64
        var actor: ActorRef
        var item: ItemID
        var isOwn: Bool
    }

    // Estimated bytes of a trail with its share of a dictionary and of the order, and of a ledger with its key.
    static let trailSize = 352
    static let ledgerSize = 192

    var ledgers: [ActorRef: Ledger] = [:]
    /// Oldest first; a trace is skipped if its trail has a later observation.
    private var order: [Trace] = []
    private var firstInOrder = 0
    private var trails = 0
    private var sequence: UInt64 = 0
    /// Ended actors with lent observations, and the time when these expire.
    private var ended: [(actor: ActorRef, until: Int64)] = []
    private let limit: Int

    /// - Parameter limit: estimated bytes beyond which the oldest observations are dropped.
    public init(limit: Int = 32 << 20) { self.limit = limit }

    /// The estimated size of the observations in bytes.
    public var estimatedSize: Int { trails * Self.trailSize + ledgers.count * Self.ledgerSize }

    // MARK: Recording

    /// Records that an actor has seen a version: its own observation, lent to its lineage.
    public mutating func record(
        _ kind: Kind, of item: ItemID, version: VersionID, by actor: FileActor, now: Int64
    ) {
        sequence += 1
        let mark = Mark(version: version, time: now, sequence: sequence, isRead: kind == .read)
        let isOrdered = renewLast(mark, of: item, by: actor)
        add(mark, of: item, to: actor.ref, isOwn: true, isOrdered: isOrdered)
        actor.lineage.forEach { add(mark, of: item, to: $0, isOwn: false, isOrdered: isOrdered) }
        dropEnded(now: now)
        dropOldest()
    }

    /// Retracts an actor's last read of an item, from itself and from its lineage: it was only for a backup (vim, nano
    /// -B, JetBrains), so the actor does not know the content. No effect if its last observation is a save.
    public mutating func retractLastRead(of item: ItemID, by actor: FileActor) {
        guard let mark = ledgers[actor.ref]?.own[item]?.last, mark.isRead else { return }
        remove(mark, of: item, from: actor.ref, isOwn: true)
        actor.lineage.forEach { remove(mark, of: item, from: $0, isOwn: false) }
    }

    /// Notes that an actor itself unlinked the item's name: until its next observation of the item, its saves have no
    /// base.
    public mutating func noBase(for item: ItemID, by actor: FileActor, now: Int64) {
        sequence += 1
        if ledgers[actor.ref]?.own[item] == nil {
            // A version that does not exist: the mark is never returned while `isBlind`.
            let none = Mark(version: VersionID(high: 0, low: 0), time: now, sequence: sequence, isRead: false)
            add(none, of: item, to: actor.ref, isOwn: true)
        }
        ledgers[actor.ref]?.own[item]?.isBlind = true
        dropOldest()
    }

    /// Forgets an ended process's own observations. Those that it lent stay with its lineage. Those lent to it serve
    /// its descendants until they expire.
    public mutating func exited(_ actor: ActorRef, now: Int64) {
        guard let ledger = ledgers[actor] else { return }
        trails -= ledger.own.count
        if ledger.lent.isEmpty {
            ledgers[actor] = nil
        } else {
            ledgers[actor]?.own = [:]
            ended.append((actor, now + Self.lentFor))
        }
    }

    // MARK: Queries

    /// The version that this actor's save of the item starts from; nil if it is unknown.
    public func base(of item: ItemID, for actor: FileActor, now: Int64) -> VersionID? {
        let ledger = ledgers[actor.ref]
        let own = ledger?.own[item]
        if let own, own.isBlind { return nil }
        let lent = ledger?.lent[item]
        if let own, own.last.sequence >= lent?.last.sequence ?? 0 { return own.last.version }
        if let lent { return lent.last.version }
        for (index, ancestor) in actor.lineage.enumerated() {
            // A shell at a terminal lends to its direct commands, not to their descendants.
            if actor.endsAtTerminal, index > 0, index == actor.lineage.count - 1 { continue }
            // An ancestor whose descendants have only written knows no content: make's next run does not compete with
            // another's.
            guard let trail = ledgers[ancestor]?.lent[item], trail.includesRead else { continue }
            if trail.last.time >= now - Self.lentFor { return trail.last.version }
        }
        return nil
    }

    /// Every version that an actor may start from: thinning must keep them.
    public var bases: Set<VersionID> {
        var versions: Set<VersionID> = []
        for ledger in ledgers.values {
            for trail in ledger.own.values where !trail.isBlind { versions.insert(trail.last.version) }
            for trail in ledger.lent.values { versions.insert(trail.last.version) }
        }
        return versions
    }

    // MARK: Bookkeeping

    /// An actor that saves one file repeatedly is already last in the order: its traces are updated.
    private mutating func renewLast(_ mark: Mark, of item: ItemID, by actor: FileActor) -> Bool {
        let first = order.count - 1 - actor.lineage.count
        guard first >= firstInOrder, order[first].isOwn, order[first].actor == actor.ref else { return false }
        for index in first..<order.count where order[index].item != item { return false }
        for (index, ancestor) in actor.lineage.enumerated() {
            let trace = order[first + 1 + index]
            if trace.isOwn || trace.actor != ancestor { return false }
        }
        for index in first..<order.count { order[index].sequence = mark.sequence }
        return true
    }

    /// - Parameter isOrdered: whether its position in the order has been renewed.
    mutating func add(_ mark: Mark, of item: ItemID, to actor: ActorRef, isOwn: Bool, isOrdered: Bool = false) {
        sequence = max(sequence, mark.sequence)
        let isFirst =
            isOwn
            ? Trail.add(mark, of: item, to: &ledgers[actor, default: Ledger()].own)
            : Trail.add(mark, of: item, to: &ledgers[actor, default: Ledger()].lent)
        if isFirst { trails += 1 }
        if isOrdered { return }
        order.append(Trace(sequence: mark.sequence, actor: actor, item: item, isOwn: isOwn))
        if order.count - firstInOrder > 2 * trails + 1024 { tidyOrder() }
    }

    private mutating func remove(_ mark: Mark, of item: ItemID, from actor: ActorRef, isOwn: Bool) {
        let ledger: WritableKeyPath<Ledger, [ItemID: Trail]> = isOwn ? \.own : \.lent
        guard var trail = ledgers[actor]?[keyPath: ledger][item] else { return }
        if trail.before == mark {
            trail.before = nil
            trail.reads -= mark.isRead ? 1 : 0
        } else if trail.last == mark, let before = trail.before {
            trail = Trail(last: before, before: nil, reads: trail.reads - (mark.isRead ? 1 : 0))
            order.append(Trace(sequence: before.sequence, actor: actor, item: item, isOwn: isOwn))
        } else if trail.last == mark {
            drop(item, of: actor, isOwn: isOwn)
            return
        }
        ledgers[actor]?[keyPath: ledger][item] = trail
    }

    private mutating func drop(_ item: ItemID, of actor: ActorRef, isOwn: Bool) {
        guard let index = ledgers.index(forKey: actor) else { return }
        let dropped =
            isOwn
            ? ledgers.values[index].own.removeValue(forKey: item)
            : ledgers.values[index].lent.removeValue(forKey: item)
        if dropped != nil { trails -= 1 }
        if ledgers.values[index].isEmpty { ledgers.remove(at: index) }
    }

    /// Drops the oldest observations above the limit.
    private mutating func dropOldest() {
        while estimatedSize > limit, firstInOrder < order.count {
            let trace = order[firstInOrder]
            firstInOrder += 1
            if isLast(trace) { drop(trace.item, of: trace.actor, isOwn: trace.isOwn) }
        }
        if firstInOrder > 4096, firstInOrder * 2 > order.count { tidyOrder() }
    }

    private func isLast(_ trace: Trace) -> Bool {
        let ledger = ledgers[trace.actor]
        let trail = trace.isOwn ? ledger?.own[trace.item] : ledger?.lent[trace.item]
        return trail?.last.sequence == trace.sequence
    }

    private mutating func tidyOrder() {
        order = order[firstInOrder...].filter { isLast($0) }
        firstInOrder = 0
    }

    /// Drops expired observations of ended actors.
    private mutating func dropEnded(now: Int64) {
        while let first = ended.first, first.until < now {
            ended.removeFirst()
            guard let ledger = ledgers.removeValue(forKey: first.actor) else { continue }
            trails -= ledger.own.count + ledger.lent.count
        }
    }
}
