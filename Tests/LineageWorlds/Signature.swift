/// 128 bits that tell worlds apart.
public struct Signature: Hashable, Sendable {
    private(set) var high: UInt64 = 0x6A09_E667_F3BC_C908
    private(set) var low: UInt64 = 0xBB67_AE85_84CA_A73B

    mutating func add(_ value: UInt64) {
        let (product, upper) = Self.mix(low ^ value, 0x9E37_79B9_7F4A_7C15)
        let (other, otherUpper) = Self.mix(high ^ value, 0xC2B2_AE3D_27D4_EB4F)
        low = product ^ otherUpper &+ high
        high = other ^ upper &+ (low << 23 | low >> 41)
    }

    mutating func add(_ value: Bool) { add(value ? 1 : 2) }

    mutating func add(_ value: Int?) { add(value.map { UInt64(bitPattern: Int64($0)) &+ 2 } ?? 1) }

    private static func mix(_ value: UInt64, _ factor: UInt64) -> (UInt64, UInt64) {
        let (high, low) = value.multipliedFullWidth(by: factor)
        return (low, high)
    }

    public static func == (left: Signature, right: Signature) -> Bool {
        left.low == right.low && left.high == right.high
    }

    /// The bits are mixed already.
    public func hash(into hasher: inout Hasher) { hasher.combine(low) }
}
