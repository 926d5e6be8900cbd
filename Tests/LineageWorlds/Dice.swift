/// Numbers that depend on a seed only (xorshift).
struct Dice: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        for _ in 0..<5 { _ = roll(7) }
    }

    /// A number below the bound.
    mutating func roll(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int((state >> 11) % UInt64(bound))
    }
}
