// Queries over the tree: a first set of results in pages, then its changes.

/// Finds the entries below a directory that match a predicate. Results follow as ``QueryResultsNotification`` on the
/// same connection.
public struct QueryRequest: ControlRequest {
    public static let method = "query"
    /// The directory, or one document.
    public var target: Target
    /// In the language of `docs/query.md`; nil: all entries.
    public var predicate: String?
    /// Whether to report changes after the first set.
    public var live: Bool?
    /// Continues after this sequence number, without a first set: the last position of a live query of the same kind.
    public var after: UInt64?

    public init(_ target: Target, predicate: String? = nil, live: Bool = false, after: UInt64? = nil) {
        self.target = target
        self.predicate = predicate
        self.live = live ? true : nil
        self.after = after
    }

    public struct Reply: Hashable, Sendable, Codable {
        /// The query's number in its results.
        public var query: UInt64
        /// The last change before the start of the query.
        public var sequence: UInt64
        public init(query: UInt64, sequence: UInt64) {
            self.query = query
            self.sequence = sequence
        }
    }
}

/// Ends a query.
public struct EndQueryRequest: ControlRequest {
    public static let method = "endQuery"
    public typealias Reply = Done
    public var query: UInt64
    public init(query: UInt64) { self.query = query }
}

/// A page of a query's results. In each page, `gone` and `unmatched` come before `items`. Several pages make one step;
/// the last one has `sequence`.
public struct QueryResultsNotification: ControlNotification {
    public static let method = "queryResults"
    public var query: UInt64
    /// Matching entries in their present state, new or already reported.
    public var items: [QueryItem]
    /// Removed paths with everything below them. Later entries in this step exist again.
    public var gone: [Path]
    /// Directories that do not match themselves, or no longer do.
    public var unmatched: [Path]
    /// The last change in the results: the position to continue a live query from. Nil: the step is not complete.
    public var sequence: UInt64?
    /// Whether the first set is complete with this step; a query that is not live is then over.
    public var gathered: Bool?

    public init(
        query: UInt64, items: [QueryItem], gone: [Path] = [], unmatched: [Path] = [], sequence: UInt64?,
        gathered: Bool = false
    ) {
        self.query = query
        self.items = items
        self.gone = gone
        self.unmatched = unmatched
        self.sequence = sequence
        self.gathered = gathered ? true : nil
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        query = try container.decode(UInt64.self, forKey: "query")
        items = try container.decode([QueryItem].self, forKey: "items")
        gone = try container.contains("gone") ? container.decodePaths(forKey: "gone") : []
        unmatched = try container.contains("unmatched") ? container.decodePaths(forKey: "unmatched") : []
        sequence = try container.decodeIfPresent(UInt64.self, forKey: "sequence")
        gathered = try container.decodeIfPresent(Bool.self, forKey: "gathered")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(query, forKey: "query")
        try container.encode(items, forKey: "items")
        if !gone.isEmpty { try container.encode(paths: gone, forKey: "gone") }
        if !unmatched.isEmpty { try container.encode(paths: unmatched, forKey: "unmatched") }
        try container.encodeIfPresent(sequence, forKey: "sequence")
        try container.encodeIfPresent(gathered, forKey: "gathered")
    }
}

/// The daemon ended a query: the feed no longer goes back so far, or the target cannot be read.
public struct QueryEndedNotification: ControlNotification {
    public static let method = "queryEnded"
    public var query: UInt64
    /// A sentence.
    public var reason: String
    public init(query: UInt64, reason: String) {
        self.query = query
        self.reason = reason
    }
}
