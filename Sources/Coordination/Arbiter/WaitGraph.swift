// The waits between numbered claims, in bits, so that a search for rings among hundreds of claims is cheap.

/// Edges between claims. Edges from or to other claims are ignored.
struct WaitGraph {
    private var numbers: [ClaimID: Int] = [:]
    private let words: Int
    /// For each claim the bits of the claims that wait for it.
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

    /// Adds all waits of one claim.
    mutating func add(_ waiter: ClaimID, waitsFor others: Set<ClaimID>) {
        guard !others.isEmpty, let waiter = numbers[waiter] else { return }
        for other in others { add(number: waiter, waitsFor: other) }
    }

    private mutating func add(number waiter: Int, waitsFor other: ClaimID) {
        guard let other = numbers[other] else { return }
        rows[other * words + waiter / 64] |= 1 << UInt64(waiter % 64)
    }

    /// The claims that wait for a claim, directly or through other claims.
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
