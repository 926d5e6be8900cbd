// The results of the listing commands: conflicts, history, deleted, claims and events, in the form of DESIGN 3.3.

import FoundationEssentials
import VersionModel

/// A document with an unresolved conflict.
public struct ConflictedDocument: Hashable, Sendable, Codable {
    public var path: Path
    /// The version in the file.
    public var current: VersionInfo
    /// The common ancestor, if it is known and kept.
    public var base: VersionInfo?
    /// The losers, newest first.
    public var versions: [VersionInfo]

    public init(path: Path, current: VersionInfo, base: VersionInfo?, versions: [VersionInfo]) {
        self.path = path
        self.current = current
        self.base = base
        self.versions = versions
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        path = try container.decodePath(forKey: "path")
        current = try container.decode(VersionInfo.self, forKey: "current")
        base = try container.decode(VersionInfo?.self, forKey: "base")
        versions = try container.decode([VersionInfo].self, forKey: "versions")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(path: path, forKey: "path")
        try container.encode(current, forKey: "current")
        try container.encode(base, forKey: "base")
        try container.encode(versions, forKey: "versions")
    }
}

/// All versions of one document.
public struct DocumentHistory: Hashable, Sendable, Codable {
    public var path: Path
    /// Newest first, the current one included.
    public var versions: [VersionInfo]

    public init(path: Path, versions: [VersionInfo]) {
        self.path = path
        self.versions = versions
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        path = try container.decodePath(forKey: "path")
        versions = try container.decode([VersionInfo].self, forKey: "versions")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(path: path, forKey: "path")
        try container.encode(versions, forKey: "versions")
    }
}

/// One entry of the deleted area.
public struct DeletedEntry: Hashable, Sendable, Codable, Identifiable {
    public var id: DeletionID
    public var path: Path
    public var type: EntryType
    public var size: UInt64
    public var deleted: Timestamp
    public var user: String
    public var program: String
    /// The first deletion of its group (DESIGN 3.2).
    public var group: DeletionID

    public init(
        id: DeletionID, path: Path, type: EntryType, size: UInt64, deleted: Timestamp, user: String, program: String,
        group: DeletionID
    ) {
        self.id = id
        self.path = path
        self.type = type
        self.size = size
        self.deleted = deleted
        self.user = user
        self.program = program
        self.group = group
    }

    /// From the model.
    public init(_ deletion: Deletion) {
        self.init(
            id: deletion.id, path: Path(deletion.path), type: deletion.type, size: deletion.size,
            deleted: deletion.deleted, user: deletion.author.user, program: deletion.author.program,
            group: deletion.group)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        id = try container.decode(DeletionID.self, forKey: "id")
        path = try container.decodePath(forKey: "path")
        type = try container.decode(EntryType.self, forKey: "type")
        size = try container.decode(UInt64.self, forKey: "size")
        deleted = try container.decode(Timestamp.self, forKey: "deleted")
        user = try container.decode(String.self, forKey: "user")
        program = try container.decode(String.self, forKey: "program")
        group = try container.decode(DeletionID.self, forKey: "group")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(id, forKey: "id")
        try container.encode(path: path, forKey: "path")
        try container.encode(type, forKey: "type")
        try container.encode(size, forKey: "size")
        try container.encode(deleted, forKey: "deleted")
        try container.encode(user, forKey: "user")
        try container.encode(program, forKey: "program")
        try container.encode(group, forKey: "group")
    }
}

/// A coordinated access, granted or waiting.
public struct ClaimInfo: Hashable, Sendable, Codable {
    public var id: String
    /// Relative to the container's root.
    public var paths: [Path]
    /// `read` or `write`.
    public var kind: String
    public var options: [String]
    public var pid: Int32
    public var program: String
    public var since: Timestamp
    /// Whether it is still waiting.
    public var waiting: Bool

    public init(
        id: String, paths: [Path], kind: String, options: [String], pid: Int32, program: String, since: Timestamp,
        waiting: Bool
    ) {
        self.id = id
        self.paths = paths
        self.kind = kind
        self.options = options
        self.pid = pid
        self.program = program
        self.since = since
        self.waiting = waiting
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        id = try container.decode(String.self, forKey: "id")
        paths = try container.decodePaths(forKey: "paths")
        kind = try container.decode(String.self, forKey: "kind")
        options = try container.decode([String].self, forKey: "options")
        pid = try container.decode(Int32.self, forKey: "pid")
        program = try container.decode(String.self, forKey: "program")
        since = try container.decode(Timestamp.self, forKey: "since")
        waiting = try container.decode(Bool.self, forKey: "waiting")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(id, forKey: "id")
        try container.encode(paths: paths, forKey: "paths")
        try container.encode(kind, forKey: "kind")
        try container.encode(options, forKey: "options")
        try container.encode(pid, forKey: "pid")
        try container.encode(program, forKey: "program")
        try container.encode(since, forKey: "since")
        try container.encode(waiting, forKey: "waiting")
    }
}

/// One row of the change feed.
public struct WatchEvent: Hashable, Sendable, Codable {
    public var sequence: UInt64
    public var event: ChangeEvent
    public var path: Path
    /// For a rename, the path before it.
    public var from: Path?
    public var version: VersionID?
    public var time: Timestamp
    /// The user of the change; nil for the container itself.
    public var user: String?
    public var pid: Int32?
    public var program: String?

    public init(
        sequence: UInt64, event: ChangeEvent, path: Path, from: Path? = nil, version: VersionID? = nil,
        time: Timestamp, user: String? = nil, pid: Int32? = nil, program: String? = nil
    ) {
        self.sequence = sequence
        self.event = event
        self.path = path
        self.from = from
        self.version = version
        self.time = time
        self.user = user
        self.pid = pid
        self.program = program
    }

    /// From the model.
    public init(sequence: UInt64, _ change: Change) {
        self.init(
            sequence: sequence, event: change.event, path: Path(change.path), from: change.from.map { Path($0) },
            version: change.version, time: change.time, user: change.author?.user, pid: change.author?.process,
            program: change.author?.program)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        sequence = try container.decode(UInt64.self, forKey: "sequence")
        event = try container.decode(ChangeEvent.self, forKey: "event")
        path = try container.decodePath(forKey: "path")
        from = try container.decodePathIfPresent(forKey: "from")
        version = try container.decodeIfPresent(VersionID.self, forKey: "version")
        time = try container.decode(Timestamp.self, forKey: "time")
        user = try container.decodeIfPresent(String.self, forKey: "user")
        pid = try container.decodeIfPresent(Int32.self, forKey: "pid")
        program = try container.decodeIfPresent(String.self, forKey: "program")
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(sequence, forKey: "sequence")
        try container.encode(event, forKey: "event")
        try container.encode(path: path, forKey: "path")
        try container.encodeIfPresent(path: from, forKey: "from")
        try container.encodeIfPresent(version, forKey: "version")
        try container.encode(time, forKey: "time")
        try container.encodeIfPresent(user, forKey: "user")
        try container.encodeIfPresent(pid, forKey: "pid")
        try container.encodeIfPresent(program, forKey: "program")
    }
}
