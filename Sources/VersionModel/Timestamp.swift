// Times: nanoseconds on the wall clock, and the hybrid logical time that orders versions across devices.

/// A moment on the wall clock, in nanoseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// From the two fields of a `timespec`; saturates instead of overflowing.
    public init(seconds: Int, nanoseconds: Int) {
        let (product, over) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, more) = product.addingReportingOverflow(Int64(nanoseconds))
        self.nanoseconds = over || more ? (seconds < 0 ? .min : .max) : sum
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment this many nanoseconds later; saturates.
    public func advanced(byNanoseconds interval: Int64) -> Timestamp {
        let (sum, over) = nanoseconds.addingReportingOverflow(interval)
        return Timestamp(nanoseconds: over ? (interval < 0 ? .min : .max) : sum)
    }

    /// Nanoseconds from the other moment to this one; saturates.
    public func since(_ other: Timestamp) -> Int64 {
        let (difference, over) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return over ? (nanoseconds < other.nanoseconds ? .min : .max) : difference
    }
}

/// Hybrid logical time (Kulkarni and others, 2014): follows the wall clock, never runs backwards, and orders causes
/// before effects even between devices with different clocks.
public struct HybridTime: Hashable, Comparable, Sendable {
    /// The wall clock's nanoseconds, or the highest seen value.
    public let wall: Timestamp
    /// Counts events within one `wall`.
    public let logical: UInt32

    public init(wall: Timestamp, logical: UInt32) {
        self.wall = wall
        self.logical = logical
    }

    public static func < (left: HybridTime, right: HybridTime) -> Bool {
        (left.wall, left.logical) < (right.wall, right.logical)
    }

    /// The time of a new local event, later than every seen one.
    public func next(now: Timestamp) -> HybridTime {
        guard now <= wall else { return HybridTime(wall: now, logical: 0) }
        guard logical < .max else { return HybridTime(wall: wall.advanced(byNanoseconds: 1), logical: 0) }
        return HybridTime(wall: wall, logical: logical + 1)
    }
}
