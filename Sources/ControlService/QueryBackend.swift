// The daemon's services for clients that query a part of the tree and its changes.

import ControlProtocol

/// Answers queries over a container.
public protocol QueryBackend: Sendable {
    /// Starts a query with the caller's rights. It looks up only the target.
    /// - Throws: `invalidParameters` for an invalid predicate, `notFound`, `denied`.
    func query(_ request: QueryRequest, peer: Peer) throws(ControlError) -> any RunningQuery
}

/// A query and its position: in the tree while it gathers, in the change feed afterwards. It keeps no results.
public protocol RunningQuery: Sendable {
    /// The last change before its start.
    var began: UInt64 { get }
    /// The next page; called by one thread at a time. A call reads at most a few hundred names and rows.
    /// - Throws: `notFound` if the feed no longer goes back to its position.
    func next() throws(ControlError) -> QueryPage
}

/// A page of a query's results.
public struct QueryPage: Sendable {
    /// Matching entries in their present state.
    public var items: [QueryItem]
    /// Removed paths with everything below them; they come before the items.
    public var gone: [Path]
    /// Paths that do not match themselves, independent of entries below them.
    public var unmatched: [Path]
    /// The last change that the results contain; nil: more pages belong to this step.
    public var sequence: UInt64?
    /// The first set is complete with this page.
    public var isGathered: Bool
    /// No more pages until the next change.
    public var isAtEnd: Bool

    public init(
        items: [QueryItem] = [], gone: [Path] = [], unmatched: [Path] = [], sequence: UInt64? = nil,
        isGathered: Bool = false, isAtEnd: Bool = false
    ) {
        self.items = items
        self.gone = gone
        self.unmatched = unmatched
        self.sequence = sequence
        self.isGathered = isGathered
        self.isAtEnd = isAtEnd
    }

    var isEmpty: Bool { items.isEmpty && gone.isEmpty && unmatched.isEmpty && !isGathered }
}
