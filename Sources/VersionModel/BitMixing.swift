// Spreads a number over 64 bits. Identities on disk depend on it: it never changes.

/// The step and the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
public enum BitMixing {
    public static let step: UInt64 = 0x9e37_79b9_7f4a_7c15

    /// The number after `value` in the sequence of SplitMix64.
    public static func mix(_ value: UInt64) -> UInt64 {
        var value = value &+ step
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
