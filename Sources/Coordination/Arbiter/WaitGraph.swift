// Who waits for whom, among claims that are numbered: in bits, so that going round hundreds of them costs little.

/// Edges between claims. An edge from or to a claim that is not in it is none.
struct WaitGraph {
    private var numbers: [ClaimID: Int] = [:]
    private let words: Int
    /// For each claim the bits of those that wait for it.
    private var rows: [UInt64]

    init(_ claims: some Sequence<ClaimID>) {
        for id in claims where numbers[id] == nil { numbers[id] = numbers.count }
        words = (numbers.count + 63) / 64
        rows = Array(repeating: 0, count: numbers.count * words)
    }

    mutating func add(_ waiter: ClaimID, waitsFor other: ClaimID) {
        guard let waiter = numbers[waiter] else { return }
        add(number: waiter, waitsFor: other)
    }

    /// The same for all that one waits for.
    mutating func add(_ waiter: ClaimID, waitsFor others: Set<ClaimID>) {
        guard !others.isEmpty, let waiter = numbers[waiter] else { return }
        for other in others { add(number: waiter, waitsFor: other) }
    }

    private mutating func add(number waiter: Int, waitsFor other: ClaimID) {
        guard let other = numbers[other] else { return }
        rows[other * words + waiter / 64] |= 1 << UInt64(waiter % 64)
    }

    /// Those that wait for a claim, however many others are between them.
    struct Waiters {
        fileprivate var numbers: [ClaimID: Int]
        fileprivate var bits: [UInt64]

        func contains(_ id: ClaimID) -> Bool {
            guard let number = numbers[id] else { return false }
            return bits[number / 64] & (1 << UInt64(number % 64)) != 0
        }
    }

    func waiters(for id: ClaimID) -> Waiters {
        var found = [UInt64](repeating: 0, count: words)
        var open = numbers[id].map { [$0] } ?? []
        while let number = open.popLast() {
            for word in 0..<words {
                var new = rows[number * words + word] & ~found[word]
                found[word] |= new
                while new != 0 {
                    open.append(word * 64 + new.trailingZeroBitCount)
                    new &= new - 1
                }
            }
        }
        return Waiters(numbers: numbers, bits: found)
    }

    /// Whether a claim waits for itself.
    func isTied(_ id: ClaimID) -> Bool { waiters(for: id).contains(id) }
}
