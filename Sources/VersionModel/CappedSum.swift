// Sums of sizes that a user chooses: three sparse files may exceed 64 bits.

extension UInt64 {
    /// Adds, and stays at the largest number if the sum exceeds it.
    public mutating func addCapped(_ more: UInt64) { self += Swift.min(more, .max - self) }
}

extension Sequence<UInt64> {
    /// The sum, or the largest number if the sum exceeds it.
    public var cappedSum: UInt64 { reduce(into: 0) { $0.addCapped($1) } }
}
