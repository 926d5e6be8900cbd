// Subscriptions to the change feed, from any sequence number on.

/// The depth of a subscription below its target.
public enum WatchDepth: String, Hashable, Sendable, Codable {
    /// Only the item.
    case item
    /// A directory and its own entries.
    case directory
    /// The item and everything below it.
    case subtree
}

/// Subscribes to the changes at or below a path. Events follow as ``EventsNotification`` on the same connection.
public struct WatchRequest: ControlRequest {
    public static let method = "watch"
    public var target: Target
    /// The last sequence number that the client has seen; nil: from now on.
    public var after: UInt64?
    /// nil: the subtree. For a target by id, always the item.
    public var depth: WatchDepth?
    public init(_ target: Target, after: UInt64?, depth: WatchDepth? = nil) {
        self.target = target
        self.after = after
        self.depth = depth
    }

    public struct Reply: Hashable, Sendable, Codable {
        /// The subscription's number in its events.
        public var subscription: UInt64
        /// Events start after this sequence number.
        public var sequence: UInt64
        public init(subscription: UInt64, sequence: UInt64) {
            self.subscription = subscription
            self.sequence = sequence
        }
    }
}

/// Ends a subscription.
public struct UnwatchRequest: ControlRequest {
    public static let method = "unwatch"
    public typealias Reply = Done
    public var subscription: UInt64
    public init(subscription: UInt64) { self.subscription = subscription }
}

/// Changes, in order.
public struct EventsNotification: ControlNotification {
    public static let method = "events"
    public var subscription: UInt64
    public var events: [WatchEvent]
    /// The last considered change: the position to continue from, also when `events` is empty.
    public var sequence: UInt64
    public init(subscription: UInt64, events: [WatchEvent], sequence: UInt64) {
        self.subscription = subscription
        self.events = events
        self.sequence = sequence
    }
}

/// The daemon ended a subscription: the client read too slowly, or the feed no longer goes back so far.
public struct WatchEndedNotification: ControlNotification {
    public static let method = "watchEnded"
    public var subscription: UInt64
    /// The position to continue from.
    public var sequence: UInt64
    /// A sentence.
    public var reason: String
    public init(subscription: UInt64, sequence: UInt64, reason: String) {
        self.subscription = subscription
        self.sequence = sequence
        self.reason = reason
    }
}
