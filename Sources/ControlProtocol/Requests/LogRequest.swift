// The timeline of a file or tree, in pages.

import VersionModel

/// Reads a page of a target's events: rows of the change feed, versions and deletions.
///
/// A save or deletion appears both in the feed and as the version or entry itself; a client that joins the pages shows
/// it once.
public struct LogRequest: ControlRequest {
    public static let method = "log"
    public static let isLong = true
    public typealias Reply = LogPage
    public var target: Target
    /// Only events at that time or later.
    public var since: Timestamp?
    /// Only events at that time or before.
    public var until: Timestamp?
    /// The end of the previous page; nil for the first page.
    public var after: String?

    public init(_ target: Target, since: Timestamp? = nil, until: Timestamp? = nil, after: String? = nil) {
        self.target = target
        self.since = since
        self.until = until
        self.after = after
    }
}

/// A page of a log. Its events are in the container's order, not sorted by time.
public struct LogPage: Hashable, Sendable, Codable {
    public var events: [LoggedEvent]
    /// The start of the next page; nil for the last page.
    public var next: String?

    public init(events: [LoggedEvent], next: String?) {
        self.events = events
        self.next = next
    }
}
