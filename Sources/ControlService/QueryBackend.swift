// What a daemon offers clients that ask for a part of the tree and how it changes.

import ControlProtocol

/// Answers queries over a container.
public protocol QueryBackend: Sendable {
    /// Begins a query with the caller's rights. Nothing is looked for yet but the target.
    /// - Throws: `invalidParameters` for a predicate that cannot be read, `notFound`, `denied`.
    func query(_ request: QueryRequest, peer: Peer) throws(ControlError) -> any RunningQuery
}

/// A query and its place: in the tree while it gathers, in the change feed afterwards. It keeps no results.
public protocol RunningQuery: Sendable {
    /// The change that was the last one when it began.
    var began: UInt64 { get }
    /// The next piece; called by one thread at a time. A call looks at a few hundred names and rows at most.
    /// - Throws: `notFound` if the feed no longer reaches back to its place.
    func next() throws(ControlError) -> QueryPage
}

/// A piece of a query's results.
public struct QueryPage: Sendable {
    /// What matches, as it is now.
    public var items: [QueryItem]
    /// What is gone with all below it; told before the items.
    public var gone: [Path]
    /// What does not match itself, whatever is below it.
    public var unmatched: [Path]
    /// Everything up to this change has been told; nil: more pieces belong to this step.
    public var sequence: UInt64?
    /// The first set is complete with this piece.
    public var isGathered: Bool
    /// There is nothing more until something changes.
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
