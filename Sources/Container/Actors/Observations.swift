// Which version of an item each actor last saw, and what that makes the base of a save (DESIGN 5.2).

import VersionModel

/// The observations of all actors. A value without clock or lock: times are handed in, in nanoseconds of a clock that
/// only goes forward and goes on while the system sleeps (CLOCK_BOOTTIME).
public struct Observations: Sendable {
    /// What an actor did that shows which version it knows.
    public enum Kind: Sendable {
        /// It opened the version for reading.
        case read
        /// It saved the version.
        case save
    }

    /// How long what was lent to an ancestor serves the ancestor's other descendants, in nanoseconds.
    public static let lentFor: Int64 = 15 * 60 * 1_000_000_000

    /// One observation.
    struct Mark: Equatable {
        var version: VersionID
        var time: Int64
        /// Orders observations of one time, and tells one from the other.
        var sequence: UInt64
        var isRead: Bool
    }

    /// The newest observation of an item and the one before, for when the newest is taken back.
    struct Trail: Equatable {
        var last: Mark
        var before: Mark?
        /// The actor has unlinked the name itself: whatever it knows is not what it will save from.
        var isBlind = false
        /// How many observations of this trail were reads that still count.
        var reads = 0
        /// Some observation of this trail was a read.
        var includesRead: Bool { reads > 0 }

        /// Adds an observation; true if it is the first of its trail.
        static func add(_ mark: Mark, of item: ItemID, to trails: inout [ItemID: Trail]) -> Bool {
            guard let index = trails.index(forKey: item) else {
                trails[item] = Trail(last: mark, reads: mark.isRead ? 1 : 0)
                return true
            }
            // What a blind actor knew before is nothing to fall back to.
            let before = trails.values[index].isBlind ? nil : trails.values[index].last
            let reads = trails.values[index].reads + (mark.isRead ? 1 : 0)
            trails.values[index] = Trail(last: mark, before: before, reads: reads)
            return false
        }
    }

    /// What one actor knows of items.
    struct Ledger: Equatable {
        var own: [ItemID: Trail] = [:]
        var lent: [ItemID: Trail] = [:]
        var isEmpty: Bool { own.isEmpty && lent.isEmpty }
    }

    /// Where a trail is, in the order in which trails were last changed.
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
    /// Oldest first; a trace whose trail has a later observation is passed over.
    private var order: [Trace] = []
    private var firstInOrder = 0
    private var trails = 0
    private var sequence: UInt64 = 0
    /// Ended actors that something is lent to, with the time when it no longer serves anyone.
    private var ended: [(actor: ActorRef, until: Int64)] = []
    private let limit: Int

    /// - Parameter limit: estimated bytes beyond which the oldest observations are dropped.
    public init(limit: Int = 32 << 20) { self.limit = limit }

    /// How many bytes the observations take, roughly.
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

    /// Takes back an actor's last read of an item, from itself and from its lineage: it read only to make a backup
    /// (vim, nano -B, JetBrains), so it does not know what it read. Nothing happens if its last observation is a save.
    public mutating func retractLastRead(of item: ItemID, by actor: FileActor) {
        guard let mark = ledgers[actor.ref]?.own[item]?.last, mark.isRead else { return }
        remove(mark, of: item, from: actor.ref, isOwn: true)
        actor.lineage.forEach { remove(mark, of: item, from: $0, isOwn: false) }
    }

    /// Notes that an actor itself unlinked the item's name: until its next observation of it, its saves have no base.
    public mutating func noBase(for item: ItemID, by actor: FileActor, now: Int64) {
        sequence += 1
        if ledgers[actor.ref]?.own[item] == nil {
            // Blind to a version that does not exist: the mark is never given out while `isBlind`.
            let none = Mark(version: VersionID(high: 0, low: 0), time: now, sequence: sequence, isRead: false)
            add(none, of: item, to: actor.ref, isOwn: true)
        }
        ledgers[actor.ref]?.own[item]?.isBlind = true
        dropOldest()
    }

    /// Forgets what an ended process saw itself. What it lent stays with its lineage, and what was lent to it serves
    /// its descendants for as long as such things do.
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

    // MARK: Asking

    /// The version that a save of the item by this actor starts from; nil if none is known.
    public func base(of item: ItemID, for actor: FileActor, now: Int64) -> VersionID? {
        let ledger = ledgers[actor.ref]
        let own = ledger?.own[item]
        if let own, own.isBlind { return nil }
        let lent = ledger?.lent[item]
        if let own, own.last.sequence >= lent?.last.sequence ?? 0 { return own.last.version }
        if let lent { return lent.last.version }
        for (index, ancestor) in actor.lineage.enumerated() {
            // A shell at a terminal knows for what is typed there, not for what that runs in turn.
            if actor.endsAtTerminal, index > 0, index == actor.lineage.count - 1 { continue }
            // Who has only ever let things be written knows none of them: make's next run is no rival of another's.
            guard let trail = ledgers[ancestor]?.lent[item], trail.includesRead else { continue }
            if trail.last.time >= now - Self.lentFor { return trail.last.version }
        }
        return nil
    }

    /// Every version that some actor may start from: not to be thinned away.
    public var bases: Set<VersionID> {
        var versions: Set<VersionID> = []
        for ledger in ledgers.values {
            for trail in ledger.own.values where !trail.isBlind { versions.insert(trail.last.version) }
            for trail in ledger.lent.values { versions.insert(trail.last.version) }
        }
        return versions
    }

    // MARK: Keeping the books

    /// Whoever saves one file again and again is the last in the order already: its traces are brought up to date.
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

    /// - Parameter isOrdered: its place in the order has been renewed.
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

    /// Drops the oldest observations while there are more than the limit allows.
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

    /// Drops what was lent to ended actors too long ago.
    private mutating func dropEnded(now: Int64) {
        while let first = ended.first, first.until < now {
            ended.removeFirst()
            guard let ledger = ledgers.removeValue(forKey: first.actor) else { continue }
            trails -= ledger.own.count + ledger.lent.count
        }
    }
}
