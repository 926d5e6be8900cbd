// The numbers that stand for places and actors, as far as memory has them.

/// Numbers of keys, which are in groups: the names of a directory, what a process has been.
///
/// | a number is | it stays in memory |
/// |---|---|
/// | fresh: no transaction has its row | always |
/// | queued: a transaction has its row, which the catalog may not have yet | always |
/// | written | while it is used, and there is room |
///
/// So what memory has forgotten is in the catalog, where a reader sees it without waiting for the queue.
struct KnownNumbers<Group: Hashable & Sendable, Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        var number: UInt32
        /// The last sweep before which it was used.
        var sweep: UInt32
    }
    private struct Members {
        var entries: [Key: Entry] = [:]
        /// Whether the catalog has no others.
        var isComplete = false
    }

    private var groups: [Group: Members] = [:]
    private var keys: [UInt32: (group: Group, key: Key)] = [:]
    /// Numbers of which no transaction has the row.
    private(set) var fresh: Set<UInt32> = []
    private var unwritten: Set<UInt32> = []
    private var next: UInt32
    private var sweep: UInt32 = 0
    /// How often numbers were forgotten. What was read from the catalog before that may miss one.
    private(set) var losses: UInt64 = 0
    /// Whether memory has all numbers that there are.
    private var isComplete: Bool
    private let limit: Int

    /// - Parameters:
    ///   - last: the largest number in use.
    ///   - isComplete: whether the catalog has no key that could be asked for.
    ///   - limit: about how many written numbers are in memory at most.
    init(after last: UInt32, isComplete: Bool, limit: Int) {
        next = last
        (self.isComplete, self.limit) = (isComplete, limit)
    }

    var count: Int { keys.count }
    /// Whether there are no more numbers to give.
    var isExhausted: Bool { next == .max }

    // MARK: Looking

    /// The number of a key; nil if memory does not know it.
    mutating func number(of key: Key, in group: Group) -> UInt32? {
        guard let entry = groups[group]?.entries[key] else { return nil }
        if entry.sweep != sweep { groups[group]?.entries[key]?.sweep = sweep }
        return entry.number
    }

    /// The key of a number; nil if memory does not know it.
    func key(of number: UInt32) -> (group: Group, key: Key)? { keys[number] }

    /// Whether a key without a number in memory has none in the catalog either.
    func knowsAll(of group: Group) -> Bool { isComplete || groups[group]?.isComplete ?? false }

    // MARK: Learning

    /// Takes in what the catalog has of a group.
    ///
    /// - Parameters:
    ///   - isAll: whether these are all that the catalog has.
    ///   - losses: as they were before the catalog was read.
    mutating func learn(_ found: [(key: Key, number: UInt32)], in group: Group, isAll: Bool, since losses: UInt64) {
        for (key, number) in found where groups[group]?.entries[key] == nil { add(key, group, number) }
        if isAll, losses == self.losses { groups[group, default: Members()].isComplete = true }
        makeRoom()
    }

    /// Gives a key a number that it has for good. A key that has one keeps that.
    ///
    /// - Parameter losses: as they were before the catalog was asked for the key, and had none.
    /// - Returns: nil if it must be asked again.
    mutating func give(_ key: Key, in group: Group, since losses: UInt64) -> UInt32? {
        if let number = number(of: key, in: group) { return number }
        guard losses == self.losses, next < .max else { return nil }
        next += 1
        let isAll = knowsAll(of: group)
        add(key, group, next)
        // All of a new group is in memory, until a part is forgotten.
        if isAll { groups[group]?.isComplete = true }
        fresh.insert(next)
        unwritten.insert(next)
        makeRoom()
        return next
    }

    private mutating func add(_ key: Key, _ group: Group, _ number: UInt32) {
        groups[group, default: Members()].entries[key] = Entry(number: number, sweep: sweep)
        keys[number] = (group, key)
    }

    /// The keys of a group are another one's from now on, which loses its own.
    mutating func move(_ group: Group, to other: Group) {
        for entry in (groups[other]?.entries ?? [:]).values {
            keys[entry.number] = nil
            fresh.remove(entry.number)
            unwritten.remove(entry.number)
        }
        let moved = groups.removeValue(forKey: group)?.entries ?? [:]
        for (key, entry) in moved { keys[entry.number] = (other, key) }
        groups[other] = moved.isEmpty ? nil : Members(entries: moved)
        (isComplete, losses) = (false, losses + 1)
    }

    // MARK: Writing

    /// A transaction that has these rows is queued.
    mutating func noteQueued(_ numbers: some Sequence<UInt32>) { fresh.subtract(numbers) }

    /// The catalog has these rows.
    mutating func noteWritten(_ numbers: some Sequence<UInt32>) {
        for number in numbers {
            fresh.remove(number)
            unwritten.remove(number)
        }
        makeRoom()
    }

    /// Forgets what was not used since the last time, or all if that is not enough.
    private mutating func makeRoom() {
        guard keys.count - unwritten.count > limit else { return }
        let present = sweep
        forget { $0 < present }
        if keys.count - unwritten.count > limit / 4 * 3 { forget { _ in true } }
        sweep &+= 1
        (isComplete, losses) = (false, losses + 1)
    }

    private mutating func forget(_ isOld: (UInt32) -> Bool) {
        for (group, members) in groups {
            let kept = members.entries.filter { !isOld($0.value.sweep) || unwritten.contains($0.value.number) }
            guard kept.isEmpty || kept.count < members.entries.count else { continue }
            for entry in members.entries.values where isOld(entry.sweep) && !unwritten.contains(entry.number) {
                keys[entry.number] = nil
            }
            groups[group] = kept.isEmpty ? nil : Members(entries: kept)
        }
    }
}
