// Requests that only read: status, conflicts, history, show, deleted, space, claims.

import VersionModel

/// The container's state.
public struct StatusRequest: ControlRequest {
    public static let method = "status"
    public typealias Reply = ContainerStatus
    public init() {}
}

/// The documents with unresolved conflicts that the caller may read, at or below a path.
public struct ConflictsRequest: ControlRequest {
    public static let method = "conflicts"
    public static let isLong = true
    public typealias Reply = [ConflictedDocument]
    public var target: Target
    public init(_ target: Target) { self.target = target }
}

/// A document's versions.
public struct HistoryRequest: ControlRequest {
    public static let method = "history"
    public typealias Reply = DocumentHistory
    public var target: Target
    public init(_ target: Target) { self.target = target }
}

/// One version; its `file` is the path of its content.
public struct ShowRequest: ControlRequest {
    public static let method = "show"
    public typealias Reply = VersionInfo
    public var target: Target
    /// nil: the version that the target names, or the current one.
    public var version: VersionName?
    /// Whether the caller will read the content. If it is not kept, the error is `contentMissing` with the reason.
    public var content: Bool?
    public init(_ target: Target, version: VersionName?, content: Bool? = nil) {
        self.target = target
        self.version = version
        self.content = content
    }
}

/// The items deleted at or below a path, newest first.
public struct DeletedRequest: ControlRequest {
    public static let method = "deleted"
    public static let isLong = true
    public typealias Reply = [DeletedEntry]
    public var target: Target
    public init(_ target: Target) { self.target = target }
}

/// Bytes in the tree, in other versions and in the deleted area, at or below a path.
public struct SpaceRequest: ControlRequest {
    public static let method = "space"
    public static let isLong = true
    public typealias Reply = SpaceUse
    public var target: Target
    public init(_ target: Target) { self.target = target }
}

/// The claims, granted and waiting.
public struct ClaimsRequest: ControlRequest {
    public static let method = "claims"
    public typealias Reply = [ClaimInfo]
    public init() {}
}
