// The result of `status`: the fields of DESIGN 3.3, and notes for the user.

import FoundationEssentials
import VersionModel

/// A container's state, as `versionsctl status` shows it.
public struct ContainerStatus: Hashable, Sendable, Codable {
    public var container: ContainerID
    /// The mount point; nil without a mount.
    public var mountpoint: Path?
    /// The device's name.
    public var device: String
    public var items: Int
    public var versions: Int
    /// Unresolved losers.
    public var conflicts: Int
    public var deleted: Count
    /// Bytes.
    public var space: SpaceUse
    /// The hub; nil if there is none.
    public var hub: String?
    public var transport: Transport
    /// The destination of the log: `journal`, `stderr`, `syslog`, a path, or `none` without a mount.
    public var log: String
    /// The daemon's version.
    public var version: String
    /// The features of each file system below; more than the fixed fields.
    public var fileSystems: [FileSystem]
    /// The file at the root that names files without versions; nil if there is none.
    public var ignoreFile: IgnoreFile?
    /// Sentences for the user: files too large for versions, ignored patterns, a clock that jumped.
    public var notes: [String]

    /// A file of patterns, and whether they are in force.
    public struct IgnoreFile: Hashable, Sendable, Codable {
        /// Relative to the container's root.
        public var path: Path
        public var counts: Bool
        /// The reason why it is not in force, as a clause.
        public var reason: String?
        public init(path: Path, counts: Bool, reason: String?) {
            self.path = path
            self.counts = counts
            self.reason = reason
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: TextKey.self)
            path = try container.decodePath(forKey: "path")
            counts = try container.decode(Bool.self, forKey: "counts")
            reason = try container.decodeIfPresent(String.self, forKey: "reason")
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(path: path, forKey: "path")
            try container.encode(counts, forKey: "counts")
            try container.encodeIfPresent(reason, forKey: "reason")
        }
    }

    /// Entries and bytes.
    public struct Count: Hashable, Sendable, Codable {
        public var count: Int
        public var bytes: UInt64
        public init(count: Int, bytes: UInt64) {
            self.count = count
            self.bytes = bytes
        }
    }

    /// The features of the kernel and libfuse that the daemon uses.
    public struct Transport: Hashable, Sendable, Codable {
        public var passthrough: Bool
        public var ring: Bool
        public init(passthrough: Bool, ring: Bool) {
            self.passthrough = passthrough
            self.ring = ring
        }
    }

    /// A file system in the tree, with its tested features.
    public struct FileSystem: Hashable, Sendable, Codable {
        /// Its mount point, relative to the container's root.
        public var path: Path
        public var type: String
        /// Its features as words, such as `reflink`, `xattr`, `acl`, `passthrough`, `versions`.
        public var can: [String]
        public init(path: Path, type: String, can: [String]) {
            self.path = path
            self.type = type
            self.can = can
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: TextKey.self)
            path = try container.decodePath(forKey: "path")
            type = try container.decode(String.self, forKey: "type")
            can = try container.decode([String].self, forKey: "can")
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(path: path, forKey: "path")
            try container.encode(type, forKey: "type")
            try container.encode(can, forKey: "can")
        }
    }

    public init(
        container: ContainerID, mountpoint: Path?, device: String, items: Int, versions: Int, conflicts: Int,
        deleted: Count, space: SpaceUse, hub: String? = nil, transport: Transport, log: String, version: String,
        fileSystems: [FileSystem] = [], ignoreFile: IgnoreFile? = nil, notes: [String] = []
    ) {
        self.container = container
        self.mountpoint = mountpoint
        self.device = device
        self.items = items
        self.versions = versions
        self.conflicts = conflicts
        self.deleted = deleted
        self.space = space
        self.hub = hub
        self.transport = transport
        self.log = log
        self.version = version
        self.fileSystems = fileSystems
        self.ignoreFile = ignoreFile
        self.notes = notes
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        container = try values.decode(ContainerID.self, forKey: "container")
        mountpoint = try values.decodePathIfPresent(forKey: "mountpoint")
        device = try values.decode(String.self, forKey: "device")
        items = try values.decode(Int.self, forKey: "items")
        versions = try values.decode(Int.self, forKey: "versions")
        conflicts = try values.decode(Int.self, forKey: "conflicts")
        deleted = try values.decode(Count.self, forKey: "deleted")
        space = try values.decode(SpaceUse.self, forKey: "space")
        hub = try values.decode(String?.self, forKey: "hub")
        transport = try values.decode(Transport.self, forKey: "transport")
        log = try values.decode(String.self, forKey: "log")
        version = try values.decode(String.self, forKey: "version")
        fileSystems = try values.decodeIfPresent([FileSystem].self, forKey: "fileSystems") ?? []
        ignoreFile = try values.decodeIfPresent(IgnoreFile.self, forKey: "ignoreFile")
        notes = try values.decodeIfPresent([String].self, forKey: "notes") ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(container, forKey: "container")
        if let mountpoint {
            try values.encode(path: mountpoint, forKey: "mountpoint")
        } else {
            try values.encodeNil(forKey: "mountpoint")
        }
        try values.encode(device, forKey: "device")
        try values.encode(items, forKey: "items")
        try values.encode(versions, forKey: "versions")
        try values.encode(conflicts, forKey: "conflicts")
        try values.encode(deleted, forKey: "deleted")
        try values.encode(space, forKey: "space")
        try values.encode(hub, forKey: "hub")
        try values.encode(transport, forKey: "transport")
        try values.encode(log, forKey: "log")
        try values.encode(version, forKey: "version")
        try values.encode(fileSystems, forKey: "fileSystems")
        try values.encodeIfPresent(ignoreFile, forKey: "ignoreFile")
        try values.encode(notes, forKey: "notes")
    }
}

/// Bytes in the tree, in other versions, and in the deleted area.
public struct SpaceUse: Hashable, Sendable, Codable {
    public var live: UInt64
    public var history: UInt64
    public var deleted: UInt64
    public init(live: UInt64, history: UInt64, deleted: UInt64) {
        self.live = live
        self.history = history
        self.deleted = deleted
    }
}
