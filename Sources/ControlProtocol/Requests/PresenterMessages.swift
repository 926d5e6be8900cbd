// What the daemon asks and tells a client that takes part in coordination.

/// Asks a presenter to leave its item alone until ``ReacquireNotification``.
public struct RelinquishRequest: ControlRequest {
    public static let method = "relinquish"
    public typealias Reply = Done
    public var presenter: UInt64
    /// For which claim.
    public var claim: UInt64
    /// To a writer, else to a reader.
    public var toWriter: Bool
    public init(presenter: UInt64, claim: UInt64, toWriter: Bool) {
        self.presenter = presenter
        self.claim = claim
        self.toWriter = toWriter
    }
}

/// Asks a presenter to write what it has not written yet. An error as the answer fails the claim.
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
    /// What is to be deleted in the package or directory that it presents; nil for the presented item.
    public var path: Path?
    public init(presenter: UInt64, claim: UInt64, path: Path? = nil) {
        self.presenter = presenter
        self.claim = claim
        self.path = path
    }
}

/// Asks a client whether it runs.
public struct ProbeRequest: ControlRequest {
    public static let method = "probe"
    public typealias Reply = Done
    public init() {}
}

/// The presenter has its item back.
public struct ReacquireNotification: ControlNotification {
    public static let method = "reacquire"
    public var presenter: UInt64
    public var claim: UInt64
    public init(presenter: UInt64, claim: UInt64) {
        self.presenter = presenter
        self.claim = claim
    }
}

/// The presenter did not answer in time: others went on, and what it shows may be old.
public struct PresenterRevokedNotification: ControlNotification {
    public static let method = "presenterRevoked"
    public var presenter: UInt64
    public init(presenter: UInt64) { self.presenter = presenter }
}

/// The client did not show that it runs while others waited: the claim is another's.
public struct ClaimRevokedNotification: ControlNotification {
    public static let method = "claimRevoked"
    public var claim: UInt64
    public init(claim: UInt64) { self.claim = claim }
}

/// What a claim of the client is on was changed, moved or deleted by a program that did not wait for it: a rename or
/// an unlink never does, and an open for writing not longer than it has patience. The claim goes on.
public struct ClaimDisturbedNotification: ControlNotification {
    public static let method = "claimDisturbed"
    /// What the program did, or does.
    public enum Disturbance: String, Hashable, Sendable, Codable { case changed, moved, deleted }

    public var claim: UInt64
    /// Where it was done.
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

/// Who holds up a claim of the client that still waits.
public struct HeldUpNotification: ControlNotification {
    public static let method = "heldUp"
    /// The claim's key, if it was given one.
    public var key: UInt64?
    public var pid: Int32
    public var program: String
    /// It holds a claim; else it presents the item and has not answered.
    public var isHolder: Bool
    public init(key: UInt64?, pid: Int32, program: String, isHolder: Bool) {
        self.key = key
        self.pid = pid
        self.program = program
        self.isHolder = isHolder
    }
}

/// What changed about a presenter's item, or in the directory or package that it presents; in order, each change once,
/// and none of the presenter's own but for versions. They come before the ``ReacquireNotification`` of the claim in
/// which they were made.
public struct PresenterChangesNotification: ControlNotification {
    public static let method = "changes"
    public var presenter: UInt64
    public var changes: [PresentedChange]
    /// Everything up to here was considered: what to present again from, after the connection has ended.
    public var sequence: UInt64
    public init(presenter: UInt64, changes: [PresentedChange], sequence: UInt64) {
        self.presenter = presenter
        self.changes = changes
        self.sequence = sequence
    }
}

/// A change as a presenter hears of it.
public struct PresentedChange: Hashable, Sendable, Codable {
    /// What the change is about.
    public enum Relation: String, Hashable, Sendable, Codable {
        /// The presented item, also if it is one with a directory above that has moved.
        case item
        /// Something in the package that is presented.
        case inPackage
        /// Something in the directory that is presented, at whatever depth.
        case inDirectory
    }

    public var event: WatchEvent
    public var relation: Relation
    /// Where the presented item is behind this change.
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
