// The time line of a file or tree, a page at a time.

import VersionModel

/// Asks for a page of what the container remembers of a target: rows of the change feed, versions and deletions.
///
/// What the feed remembers of a save or a deletion is told beside the version or the entry itself; who puts the pages
/// together tells both once.
public struct LogRequest: ControlRequest {
    public static let method = "log"
    public static let isLong = true
    public typealias Reply = LogPage
    public var target: Target
    /// Only what happened then or later.
    public var since: Timestamp?
    /// Only what happened then or before.
    public var until: Timestamp?
    /// Where the page before ended; nil for the first page.
    public var after: String?

    public init(_ target: Target, since: Timestamp? = nil, until: Timestamp? = nil, after: String? = nil) {
        self.target = target
        self.since = since
        self.until = until
        self.after = after
    }
}

/// A page of a log. The order of its events is that of the container, not that of time.
public struct LogPage: Hashable, Sendable, Codable {
    public var events: [LoggedEvent]
    /// Where the next page begins; nil for the last page.
    public var next: String?

    public init(events: [LoggedEvent], next: String?) {
        self.events = events
        self.next = next
    }
}
