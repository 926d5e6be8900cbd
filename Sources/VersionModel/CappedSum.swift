// Sums of sizes that a user chooses: three sparse files may be more than 64 bits hold.

extension UInt64 {
    /// Adds, and stays at the largest number where the sum is larger.
    public mutating func addCapped(_ more: UInt64) { self += Swift.min(more, .max - self) }
}

extension Sequence<UInt64> {
    /// The sum, or the largest number where the sum is larger.
    public var cappedSum: UInt64 { reduce(into: 0) { $0.addCapped($1) } }
}
