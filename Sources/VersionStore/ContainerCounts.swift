// What a container has, in numbers, for `status`.

/// Counts of the catalog's records.
public struct ContainerCounts: Hashable, Sendable {
    public var items = 0
    public var versions = 0
    /// The number of unresolved losers of items that are not deleted.
    public var conflicts = 0
    public var deletions = 0
    /// The total length of the deleted files.
    public var deletedBytes: UInt64 = 0

    public init() {}
}
