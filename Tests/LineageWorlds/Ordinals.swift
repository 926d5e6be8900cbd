/// Numbers in the order in which they were first met, so that worlds which differ in numbers only are one.
struct Ordinals {
    private var met: [UInt64] = []

    mutating func ordinal(_ number: UInt64) -> Int {
        if let index = met.firstIndex(of: number) { return index }
        met.append(number)
        return met.count - 1
    }

    func known(_ number: UInt64) -> Int? { met.firstIndex(of: number) }

    /// The numbers, smallest first, each with its ordinal.
    var sorted: [(number: UInt64, ordinal: Int)] {
        met.enumerated().map { (number: $1, ordinal: $0) }.sorted { $0.number < $1.number }
    }
}
