// Requests about keeping versions: pin, thin, purge, forget.

import VersionModel

/// Pins a version, so that thinning keeps it, or removes the pin.
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

/// Keeps the content of a file in the container as a version of a document. The document stays unchanged.
public struct AddVersionRequest: ControlRequest {
    public static let method = "addVersion"
    public typealias Reply = VersionInfo
    public var target: Target
    /// The file with the content, relative to the container's root; it stays in place.
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
    /// Only list the versions that would go.
    public var dryRun: Bool
    public init(dryRun: Bool) { self.dryRun = dryRun }
}

/// Deletes versions of a document for good: one, or all except the current one and those of unresolved conflicts.
/// Pinned versions stay.
public struct PurgeRequest: ControlRequest {
    public static let method = "purge"
    public static let isLong = true
    public typealias Reply = Removed
    public var target: Target
    /// nil: all other versions.
    public var version: VersionName?
    /// Only list the versions that would go. Older tools send it, and get an answer. New code must not send it: an even
    /// older daemon does not know it, and purges.
    public var dryRun: Bool?
    /// Include pinned versions.
    public var force: Bool?
    public init(_ target: Target, version: VersionName?, force: Bool? = nil) {
        self.target = target
        self.version = version
        self.force = force
    }
}

/// Lists the versions that ``PurgeRequest`` would delete. It is a method of its own: a daemon that does not know it
/// refuses it, and deletes no version.
public struct PreviewPurgeRequest: ControlRequest {
    public static let method = "previewPurge"
    public static let isLong = true
    public typealias Reply = Removed
    public var target: Target
    /// nil: all other versions.
    public var version: VersionName?
    /// Include pinned versions.
    public var force: Bool?
    public init(_ target: Target, version: VersionName?, force: Bool? = nil) {
        self.target = target
        self.version = version
        self.force = force
    }

    /// The purge request without its effect.
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
    /// Only entries that were deleted before this moment; nil: all.
    public var before: Timestamp?
    /// Only list the entries that would go; see ``PurgeRequest/dryRun``.
    public var dryRun: Bool?
    /// Include entries with pinned versions.
    public var force: Bool?
    public init(_ target: Target? = nil, before: Timestamp?, force: Bool? = nil) {
        self.target = target
        self.before = before
        self.force = force
    }
}

/// Lists the entries that ``PurgeDeletedRequest`` would delete.
public struct PreviewPurgeDeletedRequest: ControlRequest {
    public static let method = "previewPurgeDeleted"
    public static let isLong = true
    public typealias Reply = Removed
    /// Only entries that were deleted there or below, or the one entry of an id; nil: all.
    public var target: Target?
    /// Only entries that were deleted before this moment; nil: all.
    public var before: Timestamp?
    /// Include entries with pinned versions.
    public var force: Bool?
    public init(_ target: Target? = nil, before: Timestamp?, force: Bool? = nil) {
        self.target = target
        self.before = before
        self.force = force
    }

    /// The purge request without its effect.
    public var dryRun: PurgeDeletedRequest {
        var request = PurgeDeletedRequest(target, before: before, force: force)
        request.dryRun = true
        return request
    }
}

/// The deleted data, or the data that would be deleted.
public struct Removed: Hashable, Sendable, Codable {
    /// The affected versions; at most 10,000 are listed.
    public var versions: [VersionInfo]
    public var versionCount: Int
    /// The number of affected entries of the deleted area.
    public var deletedCount: Int
    /// Those entries, for a preview; at most 10,000 are listed. Nil if there are none.
    public var deleted: [DeletedEntry]?
    /// The number of pinned versions that stay and would go with `force`; nil if there are none.
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

/// Deletes the state of an unmounted container: served by `versionsfs --offline` only.
public struct ForgetRequest: ControlRequest {
    public static let method = "forget"
    public static let isLong = true
    /// The content of the deleted state.
    public typealias Reply = ContainerStatus
    /// False: only list the content that would go.
    public var confirmed: Bool
    public init(confirmed: Bool) { self.confirmed = confirmed }
}
