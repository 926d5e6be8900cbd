// The one sequence that the numbers of rows, versions and events are from.

/// Gives numbers in blocks, each for the facts of one event.
struct FactNumbers: Sendable {
    /// The numbers that are left out after a disorderly end: more than a power cut can have taken.
    static let skipped: UInt64 = 1 << 20
    /// No store gives a larger one, so that sums of numbers do not overflow.
    static let most: UInt64 = 1 << 62

    private struct Block {
        var first: UInt64
        /// Behind the last one.
        var end: UInt64
        /// Behind the last one that anything has; nil if it is not known.
        var used: UInt64?
    }

    private(set) var next: UInt64
    /// In the order of their numbers; as many as events are being carried out.
    private var blocks: [Block] = []

    /// - Parameter next: the first number that nothing has.
    init(next: UInt64) { self.next = next }

    /// The smallest number that a fact may still get: all facts before it are recorded.
    var smallestReserved: UInt64 { blocks.first?.first ?? next }

    /// Sets numbers aside, and one more for the event row.
    ///
    /// - Returns: the first.
    mutating func reserve(_ count: UInt64) -> UInt64 {
        let first = next
        next += min(count, 1 << 32) + 1
        blocks.append(Block(first: first, end: next))
        return first
    }

    /// The number of the event row of a block's one transaction.
    ///
    /// - Parameter last: the last number that anything of the block has; nil if the whole block may be in use.
    /// - Returns: nil if there is no such block, or no room in it.
    mutating func eventNumber(first: UInt64, last: UInt64?) -> UInt64? {
        guard let index = blocks.firstIndex(where: { $0.first == first }) else { return nil }
        let block = blocks[index]
        let number = max(last.map { max(Self.behind($0), first) } ?? block.end - 1, block.used ?? 0)
        guard number < block.end else { return nil }
        blocks[index].used = number + 1
        return number
    }

    /// Facts are recorded whose last number is this.
    mutating func noteUsed(first: UInt64, last: UInt64) {
        guard let index = blocks.firstIndex(where: { $0.first == first }) else { return }
        blocks[index].used = max(blocks[index].used ?? 0, Self.behind(last))
    }

    /// Ends a block: no more facts get a number of it. What is left of the last block is given again.
    mutating func finish(_ first: UInt64) {
        guard let index = blocks.firstIndex(where: { $0.first == first }) else { return }
        let block = blocks.remove(at: index)
        if let used = block.used, block.end == next { next = max(block.first, min(used, block.end)) }
    }

    /// Leaves out the numbers up to this one: something has been found that has it. A number without an identity
    /// (``FactIDs``) is of no store.
    mutating func skip(through last: UInt64) {
        guard last >> FactIDs.numberBits == 0 else { return }
        next = max(next, last + 1)
    }

    private static func behind(_ number: UInt64) -> UInt64 { min(number, most) + 1 }
}
