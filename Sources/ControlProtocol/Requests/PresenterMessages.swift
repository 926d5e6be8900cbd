// The daemon's questions and notifications for a client that takes part in coordination.

/// Asks a presenter not to use its item until ``ReacquireNotification``.
public struct RelinquishRequest: ControlRequest {
    public static let method = "relinquish"
    public typealias Reply = Done
    public var presenter: UInt64
    /// The claim that needs the item.
    public var claim: UInt64
    /// Whether the claim writes; otherwise it reads.
    public var toWriter: Bool
    public init(presenter: UInt64, claim: UInt64, toWriter: Bool) {
        self.presenter = presenter
        self.claim = claim
        self.toWriter = toWriter
    }
}

/// Asks a presenter to write its unsaved changes. An error as the answer fails the claim.
public struct SaveRequest: ControlRequest {
    public static let method = "save"
    public typealias Reply = Done
    public var presenter: UInt64
    public var claim: UInt64
    public init(presenter: UInt64, claim: UInt64) {
        self.presenter = presenter
        self.claim = claim
    }
}

/// Asks a presenter to make a deletion possible. An error as the answer keeps the item.
public struct AccommodateDeletionRequest: ControlRequest {
    public static let method = "accommodateDeletion"
    public typealias Reply = Done
    public var presenter: UInt64
    public var claim: UInt64
    /// The item to be deleted in the presented package or directory; nil for the presented item itself.
    public var path: Path?
    public init(presenter: UInt64, claim: UInt64, path: Path? = nil) {
        self.presenter = presenter
        self.claim = claim
        self.path = path
    }
}

/// Checks that a client runs.
public struct ProbeRequest: ControlRequest {
    public static let method = "probe"
    public typealias Reply = Done
    public init() {}
}

/// Gives the presenter its item back.
public struct ReacquireNotification: ControlNotification {
    public static let method = "reacquire"
    public var presenter: UInt64
    public var claim: UInt64
    public init(presenter: UInt64, claim: UInt64) {
        self.presenter = presenter
        self.claim = claim
    }
}

/// The presenter has not answered in time: other programs continued, and it may show old content.
public struct PresenterRevokedNotification: ControlNotification {
    public static let method = "presenterRevoked"
    public var presenter: UInt64
    public init(presenter: UInt64) { self.presenter = presenter }
}

/// The client did not show that it runs while other programs waited: its claim is over.
public struct ClaimRevokedNotification: ControlNotification {
    public static let method = "claimRevoked"
    public var claim: UInt64
    public init(claim: UInt64) { self.claim = claim }
}

/// A program without coordination has changed, moved or deleted an item under a claim of the client. A rename or an
/// unlink never waits for a claim, and an open for writing waits only for a limited time. The claim continues.
public struct ClaimDisturbedNotification: ControlNotification {
    public static let method = "claimDisturbed"
    /// The program's action.
    public enum Disturbance: String, Hashable, Sendable, Codable { case changed, moved, deleted }

    public var claim: UInt64
    /// The place of the action.
    public var path: Path
    public var disturbance: Disturbance
    public init(claim: UInt64, path: Path, disturbance: Disturbance) {
        self.claim = claim
        self.path = path
        self.disturbance = disturbance
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        claim = try container.decode(UInt64.self, forKey: "claim")
        path = try container.decodePath(forKey: "path")
        disturbance = try container.decode(Disturbance.self, forKey: "disturbance")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(claim, forKey: "claim")
        try container.encode(path: path, forKey: "path")
        try container.encode(disturbance, forKey: "disturbance")
    }
}

/// Names the holder of an item that a claim of the client waits for.
public struct HeldUpNotification: ControlNotification {
    public static let method = "heldUp"
    /// The claim's key, if it has one.
    public var key: UInt64?
    public var pid: Int32
    public var program: String
    /// True if it holds a claim; false if it presents the item and has not answered.
    public var isHolder: Bool
    public init(key: UInt64?, pid: Int32, program: String, isHolder: Bool) {
        self.key = key
        self.pid = pid
        self.program = program
        self.isHolder = isHolder
    }
}

/// Changes of a presenter's item, or in the presented directory or package: in order, each once, without the
/// presenter's own changes except those of versions. They come before the ``ReacquireNotification`` of the claim that
/// made them.
public struct PresenterChangesNotification: ControlNotification {
    public static let method = "changes"
    public var presenter: UInt64
    public var changes: [PresentedChange]
    /// The last considered change: the position to present again from after the end of the connection.
    public var sequence: UInt64
    public init(presenter: UInt64, changes: [PresentedChange], sequence: UInt64) {
        self.presenter = presenter
        self.changes = changes
        self.sequence = sequence
    }
}

/// A change in a presenter's view.
public struct PresentedChange: Hashable, Sendable, Codable {
    /// The relation of the changed item to the presented one.
    public enum Relation: String, Hashable, Sendable, Codable {
        /// The presented item, including its move with a directory above it.
        case item
        /// An item in the presented package.
        case inPackage
        /// An item in the presented directory, at any depth.
        case inDirectory
    }

    public var event: WatchEvent
    public var relation: Relation
    /// The place of the presented item after this change.
    public var place: Path

    public init(event: WatchEvent, relation: Relation, place: Path) {
        self.event = event
        self.relation = relation
        self.place = place
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        event = try container.decode(WatchEvent.self, forKey: "event")
        relation = try container.decode(Relation.self, forKey: "relation")
        place = try container.decodePath(forKey: "place")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(event, forKey: "event")
        try container.encode(relation, forKey: "relation")
        try container.encode(path: place, forKey: "place")
    }
}
