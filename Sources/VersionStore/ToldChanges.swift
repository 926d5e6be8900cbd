// A page of the change feed.

import VersionModel

/// What has happened, in order.
public struct ToldChanges: Sendable {
    /// Changes by one call may have the same number.
    public var changes: [(sequence: UInt64, change: Change)]
    /// The next page begins after this number; without another page it is the number that was asked for.
    public var last: UInt64
    /// Whether changes after the number that was asked for are gone.
    public var hasGap: Bool
}

/// A page of a list that goes on at a position.
public struct ListPage<Element: Sendable>: Sendable {
    public var elements: [Element]
    /// nil at the end.
    public var next: ListPosition?
}

/// A position in a list; its numbers mean something to the list alone.
public struct ListPosition: Hashable, Sendable {
    public var number: Int64
    public var part: UInt32

    public init(number: Int64, part: UInt32 = 0) { (self.number, self.part) = (number, part) }
}

extension VersionStore {
    public func told(after sequence: UInt64, limit: Int) throws(StoreError) -> ToldChanges {
        let rows = try changes(after: sequence, limit: limit)
        // After the read: rows that were removed meanwhile were either read or are reported missing here.
        let first = try changeRange()?.lowerBound ?? 0
        return ToldChanges(
            changes: rows.map { ($0.sequence, $0.1) }, last: rows.last?.sequence ?? sequence,
            hasGap: first > sequence &+ 1)
    }
}
