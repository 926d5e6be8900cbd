// Requests about what is kept and for how long: pin, thin, purge, forget.

import VersionModel

/// Keeps a version from being thinned, or lets it go again.
public struct PinRequest: ControlRequest {
    public static let method = "pin"
    public typealias Reply = VersionInfo
    public var target: Target
    public var version: VersionName
    public var pinned: Bool
    public init(_ target: Target, version: VersionName, pinned: Bool) {
        self.target = target
        self.version = version
        self.pinned = pinned
    }
}

/// Keeps what a file of the container holds as a version of a document, which stays as it is.
public struct AddVersionRequest: ControlRequest {
    public static let method = "addVersion"
    public typealias Reply = VersionInfo
    public var target: Target
    /// The file with the content, relative to the container's root; it stays where it is.
    public var contents: Path
    public init(_ target: Target, contents: Path) {
        self.target = target
        self.contents = contents
    }
}

/// Thins history by its schedule now.
public struct ThinRequest: ControlRequest {
    public static let method = "thin"
    public static let isLong = true
    public typealias Reply = Removed
    /// Only say which would go.
    public var dryRun: Bool
    public init(dryRun: Bool) { self.dryRun = dryRun }
}

/// Removes versions of a document for good: one, or all but the current one and unresolved losers. Pinned versions
/// stay.
public struct PurgeRequest: ControlRequest {
    public static let method = "purge"
    public static let isLong = true
    public typealias Reply = Removed
    public var target: Target
    /// nil: all other versions.
    public var version: VersionName?
    /// Only say which would go. Older tools ask so, and are answered. Not to be sent: a daemon that is older still
    /// does not know it, and purges.
    public var dryRun: Bool?
    /// Pinned versions, too.
    public var force: Bool?
    public init(_ target: Target, version: VersionName?, force: Bool? = nil) {
        self.target = target
        self.version = version
        self.force = force
    }
}

/// Says what ``PurgeRequest`` would remove. It has a name of its own: a daemon that does not know it refuses it, and
/// removes nothing.
public struct PreviewPurgeRequest: ControlRequest {
    public static let method = "previewPurge"
    public static let isLong = true
    public typealias Reply = Removed
    public var target: Target
    /// nil: all other versions.
    public var version: VersionName?
    /// Pinned versions, too.
    public var force: Bool?
    public init(_ target: Target, version: VersionName?, force: Bool? = nil) {
        self.target = target
        self.version = version
        self.force = force
    }

    /// The purge, with nothing removed.
    public var dryRun: PurgeRequest {
        var request = PurgeRequest(target, version: version, force: force)
        request.dryRun = true
        return request
    }
}

/// Empties the deleted area. Entries with pinned versions stay.
public struct PurgeDeletedRequest: ControlRequest {
    public static let method = "purgeDeleted"
    public static let isLong = true
    public typealias Reply = Removed
    /// Only entries that were deleted there or below, or the one entry of an id; nil: all.
    public var target: Target?
    /// Only what was deleted before this moment; nil: all.
    public var before: Timestamp?
    /// Only say which would go; see ``PurgeRequest/dryRun``.
    public var dryRun: Bool?
    /// Entries with pinned versions, too.
    public var force: Bool?
    public init(_ target: Target? = nil, before: Timestamp?, force: Bool? = nil) {
        self.target = target
        self.before = before
        self.force = force
    }
}

/// Says what ``PurgeDeletedRequest`` would remove.
public struct PreviewPurgeDeletedRequest: ControlRequest {
    public static let method = "previewPurgeDeleted"
    public static let isLong = true
    public typealias Reply = Removed
    /// Only entries that were deleted there or below, or the one entry of an id; nil: all.
    public var target: Target?
    /// Only what was deleted before this moment; nil: all.
    public var before: Timestamp?
    /// Entries with pinned versions, too.
    public var force: Bool?
    public init(_ target: Target? = nil, before: Timestamp?, force: Bool? = nil) {
        self.target = target
        self.before = before
        self.force = force
    }

    /// The purge, with nothing removed.
    public var dryRun: PurgeDeletedRequest {
        var request = PurgeDeletedRequest(target, before: before, force: force)
        request.dryRun = true
        return request
    }
}

/// What is gone, or would go.
public struct Removed: Hashable, Sendable, Codable {
    /// The versions concerned; at most 10,000 are listed.
    public var versions: [VersionInfo]
    public var versionCount: Int
    /// Entries of the deleted area.
    public var deletedCount: Int
    /// These, of a purge that would be; at most 10,000 are listed. Nil where there are none.
    public var deleted: [DeletedEntry]?
    /// Pinned versions that stay, and would go by force; nil where there are none.
    public var pinnedCount: Int?
    public var bytes: UInt64
    public init(
        versions: [VersionInfo], versionCount: Int, deletedCount: Int, deleted: [DeletedEntry]? = nil,
        pinnedCount: Int? = nil, bytes: UInt64
    ) {
        self.versions = versions
        self.versionCount = versionCount
        self.deletedCount = deletedCount
        self.deleted = deleted
        self.pinnedCount = pinnedCount
        self.bytes = bytes
    }
}

/// Removes the state of an unmounted container: served by `versionsfs --offline` only.
public struct ForgetRequest: ControlRequest {
    public static let method = "forget"
    public static let isLong = true
    /// What is in the state that goes.
    public typealias Reply = ContainerStatus
    /// False: only say what would go.
    public var confirmed: Bool
    public init(confirmed: Bool) { self.confirmed = confirmed }
}
