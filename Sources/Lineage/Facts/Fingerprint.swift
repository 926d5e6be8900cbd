/// A content as the rules see it: its length and 128 bits that differ where contents differ. The engine takes the first
/// bits of its SHA-256; the enumerator, whose contents are a few letters, takes the content itself.
@frozen
public struct Fingerprint: Hashable, Sendable {
    public var size: UInt64
    public var high: UInt64
    public var low: UInt64

    @inlinable
    public init(size: UInt64, high: UInt64, low: UInt64) {
        self.size = size
        self.high = high
        self.low = low
    }

    /// No bytes at all.
    public static let empty = Fingerprint(size: 0, high: 0, low: 0)

    @inlinable
    public var isEmpty: Bool { size == 0 }
}
