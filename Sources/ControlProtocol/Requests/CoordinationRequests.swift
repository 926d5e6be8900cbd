// Requests of programs that take part in coordination: claims, preparations, presenters.

/// One read or write of a claim.
public struct AccessRequest: Hashable, Sendable, Codable {
    /// `reading` or `writing`.
    public enum Mode: String, Hashable, Sendable, Codable { case reading, writing }

    public var path: Path
    public var mode: Mode
    /// For a read, any of `withoutChanges`, `resolvesSymbolicLink`, `immediatelyAvailableMetadataOnly`, `forUploading`;
    /// for a write, at most one of `forDeleting`, `forMoving`, `forMerging`, `forReplacing`,
    /// `contentIndependentMetadataOnly`.
    public var options: [String]

    public init(_ mode: Mode, _ path: Path, options: [String] = []) {
        self.path = path
        self.mode = mode
        self.options = options
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        path = try container.decodePath(forKey: "path")
        mode = try container.decode(Mode.self, forKey: "mode")
        options = try container.decodeIfPresent([String].self, forKey: "options") ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(path: path, forKey: "path")
        try container.encode(mode, forKey: "mode")
        try container.encode(options, forKey: "options")
    }
}

/// Claims items. The reply comes when all of them are granted; until then the client may send ``CancelClaimRequest``.
public struct ClaimRequest: ControlRequest {
    public static let method = "claim"
    public var accesses: [AccessRequest]
    /// The claim's name for ``CancelClaimRequest`` while it waits; the client chooses it.
    public var key: UInt64?
    /// The purpose of the claim: claims of one purpose do not wait for one another. 32 hex digits from the daemon.
    public var purpose: String?
    /// The presenter of this connection that makes the claim: it gets no questions and no notifications for it.
    public var presenter: UInt64?
    /// Claims of this connection that last until after this one.
    public var within: [UInt64]?
    /// The presenter of this connection whose handler makes the claim.
    public var handling: UInt64?
    /// Whether to only ask presenters, once for all following claims of the same purpose. Excludes no other access.
    public var preparing: Bool?

    public init(
        _ accesses: [AccessRequest], key: UInt64? = nil, purpose: String? = nil, presenter: UInt64? = nil,
        within: [UInt64] = [], handling: UInt64? = nil, preparing: Bool = false
    ) {
        self.accesses = accesses
        self.key = key
        self.purpose = purpose
        self.presenter = presenter
        self.within = within.isEmpty ? nil : within
        self.handling = handling
        self.preparing = preparing ? true : nil
    }

    public struct Reply: Hashable, Sendable, Codable {
        public var claim: UInt64
        /// The purpose for other claims that belong to this one, in any process.
        public var purpose: String
        /// The present places of the items, in the order of the request.
        public var paths: [Path]

        public init(claim: UInt64, purpose: String, paths: [Path]) {
            self.claim = claim
            self.purpose = purpose
            self.paths = paths
        }
    }
}

/// Ends a claim.
public struct ReleaseRequest: ControlRequest {
    public static let method = "release"
    public typealias Reply = Done
    public var claim: UInt64
    public init(claim: UInt64) { self.claim = claim }
}

/// Cancels a waiting claim: its answer is `cancelled`, unless it has just been granted.
public struct CancelClaimRequest: ControlRequest {
    public static let method = "cancelClaim"
    public typealias Reply = Done
    public var key: UInt64
    public init(key: UInt64) { self.key = key }
}

/// Presents an item, a directory or a package: the client gets questions before other accesses, until it withdraws.
public struct PresentRequest: ControlRequest {
    public static let method = "present"
    /// Nil while the item has no place yet.
    public var path: Path?
    /// Whether a presenter of a directory gets a question before an item in it is deleted.
    public var accommodatesSubitems: Bool?
    /// The last change that the client has seen, with the item at `path`; it hears of later changes. Nil: from now on.
    public var after: UInt64?
    /// The purpose of an earlier presenter that this one continues, so that the earlier one's changes count as its own;
    /// nil for a new presenter.
    public var purpose: String?

    public init(path: Path?, accommodatesSubitems: Bool = false, after: UInt64? = nil, purpose: String? = nil) {
        self.path = path
        self.accommodatesSubitems = accommodatesSubitems ? true : nil
        self.after = after
        self.purpose = purpose
    }

    public struct Reply: Hashable, Sendable, Codable {
        public var presenter: UInt64
        /// The purpose of the presenter's own claims.
        public var purpose: String
        /// The last change before the presentation. A client that reads the item after the reply and watches from here
        /// misses no change.
        public var sequence: UInt64

        public init(presenter: UInt64, purpose: String, sequence: UInt64) {
            self.presenter = presenter
            self.purpose = purpose
            self.sequence = sequence
        }
    }
}

/// Sets the present place of the presenter's item.
public struct PlacePresenterRequest: ControlRequest {
    public static let method = "placePresenter"
    public typealias Reply = Done
    public var presenter: UInt64
    public var path: Path?
    public init(presenter: UInt64, path: Path?) {
        self.presenter = presenter
        self.path = path
    }
}

/// Ends a presentation.
public struct WithdrawRequest: ControlRequest {
    public static let method = "withdraw"
    public typealias Reply = Done
    public var presenter: UInt64
    public init(presenter: UInt64) { self.presenter = presenter }
}

/// Lists the presenters that the caller may know.
public struct PresentersRequest: ControlRequest {
    public static let method = "presenters"
    public typealias Reply = [PresenterInfo]
    public init() {}
}

/// A presenter of an item.
public struct PresenterInfo: Hashable, Sendable, Codable {
    public var id: String
    /// Relative to the container's root; nil while the item has no place.
    public var path: Path?
    public var pid: Int32
    public var program: String
    /// Whether it has not answered in time. Claims do not wait for it until it answers again.
    public var silent: Bool

    public init(id: String, path: Path?, pid: Int32, program: String, silent: Bool) {
        self.id = id
        self.path = path
        self.pid = pid
        self.program = program
        self.silent = silent
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        id = try container.decode(String.self, forKey: "id")
        path = try container.decodePathIfPresent(forKey: "path")
        pid = try container.decode(Int32.self, forKey: "pid")
        program = try container.decode(String.self, forKey: "program")
        silent = try container.decode(Bool.self, forKey: "silent")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(id, forKey: "id")
        try container.encodeIfPresent(path: path, forKey: "path")
        try container.encode(pid, forKey: "pid")
        try container.encode(program, forKey: "program")
        try container.encode(silent, forKey: "silent")
    }
}
