// What `versionsctl mount` and `unmount` tell scripts (`--json`); no message of the socket.

/// A mount that was made.
public struct MountReport: Hashable, Sendable, Encodable {
    /// The container's directory.
    public var directory: Path
    public var mountpoint: Path
    /// Dead mounts that were detached first.
    public var detached: [Path]
    /// Who had the directory open before, and goes on beneath the mount.
    public var beneath: [Process]

    /// A process by its id and the name of its program.
    public struct Process: Hashable, Sendable, Encodable {
        public var pid: Int32
        public var program: String
        public init(pid: Int32, program: String) {
            self.pid = pid
            self.program = program
        }
    }

    public init(directory: Path, mountpoint: Path, detached: [Path], beneath: [Process]) {
        self.directory = directory
        self.mountpoint = mountpoint
        self.detached = detached
        self.beneath = beneath
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(path: directory, forKey: "directory")
        try container.encode(path: mountpoint, forKey: "mountpoint")
        try container.encode(paths: detached, forKey: "detached")
        try container.encode(beneath, forKey: "beneath")
    }
}

/// A container that was unmounted.
public struct UnmountReport: Hashable, Sendable, Encodable {
    /// Where it was mounted.
    public var mountpoints: [Path]
    /// Whether the daemon has ended: the directory can be mounted again.
    public var ended: Bool

    public init(mountpoints: [Path], ended: Bool) {
        self.mountpoints = mountpoints
        self.ended = ended
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(paths: mountpoints, forKey: "mountpoints")
        try container.encode(ended, forKey: "ended")
    }
}
