// Requests of programs that take part in coordination: claims, preparations, presenters.

/// One read or write that a claim asks for.
public struct AccessRequest: Hashable, Sendable, Codable {
    /// `reading` or `writing`.
    public enum Mode: String, Hashable, Sendable, Codable { case reading, writing }

    public var path: Path
    public var mode: Mode
    /// Of a read any of `withoutChanges`, `resolvesSymbolicLink`, `immediatelyAvailableMetadataOnly`, `forUploading`;
    /// of a write at most one of `forDeleting`, `forMoving`, `forMerging`, `forReplacing`,
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

/// Claims items. The reply comes once they are granted, all together; until then the client may send
/// ``CancelClaimRequest``.
public struct ClaimRequest: ControlRequest {
    public static let method = "claim"
    public var accesses: [AccessRequest]
    /// Names the claim for ``CancelClaimRequest`` while it waits; the client chooses it.
    public var key: UInt64?
    /// What this claim has in common with others that it need not wait for: 32 hex digits that the daemon gave out.
    public var purpose: String?
    /// The presenter of this connection that it is made for: it is asked nothing, and hears nothing of it.
    public var presenter: UInt64?
    /// Claims of this connection that it will not release before it has this one.
    public var within: [UInt64]?
    /// The presenter of this connection in whose handler it is made.
    public var handling: UInt64?
    /// Has presenters asked once for all claims of the same purpose that follow, and excludes nobody.
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
        /// To be given to claims that belong to this one, in whatever process.
        public var purpose: String
        /// Where the items are now, in the order of the request.
        public var paths: [Path]

        public init(claim: UInt64, purpose: String, paths: [Path]) {
            self.claim = claim
            self.purpose = purpose
            self.paths = paths
        }
    }
}

/// The claim is over.
public struct ReleaseRequest: ControlRequest {
    public static let method = "release"
    public typealias Reply = Done
    public var claim: UInt64
    public init(claim: UInt64) { self.claim = claim }
}

/// A claim that still waits is not wanted any more: it is answered `cancelled`, unless it has just been granted.
public struct CancelClaimRequest: ControlRequest {
    public static let method = "cancelClaim"
    public typealias Reply = Done
    public var key: UInt64
    public init(key: UInt64) { self.key = key }
}

/// Presents an item, a directory or a package: the client is asked before others access it, until it withdraws.
public struct PresentRequest: ControlRequest {
    public static let method = "present"
    /// Nil while the item has no place yet.
    public var path: Path?
    /// Whether a presenter of a directory is asked before something in it is deleted.
    public var accommodatesSubitems: Bool?
    /// The last change that the client has seen of the item; it hears of those behind it, and `path` is where the item
    /// was then. Nil: from now on.
    public var after: UInt64?
    /// The purpose of the presenter that this one goes on for, so that what that one did counts as its own; nil for a
    /// new one.
    public var purpose: String?

    public init(path: Path?, accommodatesSubitems: Bool = false, after: UInt64? = nil, purpose: String? = nil) {
        self.path = path
        self.accommodatesSubitems = accommodatesSubitems ? true : nil
        self.after = after
        self.purpose = purpose
    }

    public struct Reply: Hashable, Sendable, Codable {
        public var presenter: UInt64
        /// What the presenter's own claims are made with.
        public var purpose: String
        /// The last change recorded before: whoever has read the item later than that has missed nothing if it watches
        /// from here.
        public var sequence: UInt64

        public init(presenter: UInt64, purpose: String, sequence: UInt64) {
            self.presenter = presenter
            self.purpose = purpose
            self.sequence = sequence
        }
    }
}

/// The presenter's item is here now.
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

/// The item is presented no more.
public struct WithdrawRequest: ControlRequest {
    public static let method = "withdraw"
    public typealias Reply = Done
    public var presenter: UInt64
    public init(presenter: UInt64) { self.presenter = presenter }
}

/// The presenters that the caller may know of.
public struct PresentersRequest: ControlRequest {
    public static let method = "presenters"
    public typealias Reply = [PresenterInfo]
    public init() {}
}

/// Someone who presents an item.
public struct PresenterInfo: Hashable, Sendable, Codable {
    public var id: String
    /// Relative to the container's root; nil while it has none.
    public var path: Path?
    public var pid: Int32
    public var program: String
    /// It has not answered in time, and is not waited for until it does.
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
