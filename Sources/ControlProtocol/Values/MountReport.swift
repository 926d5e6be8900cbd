// The output of `versionsctl mount` and `unmount` for scripts (`--json`); not a message of the socket.

/// A new mount.
public struct MountReport: Hashable, Sendable, Encodable {
    /// The container's directory.
    public var directory: Path
    public var mountpoint: Path
    /// Dead mounts that were detached first.
    public var detached: [Path]
    /// Processes that had the directory open before, and continue beneath the mount.
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

/// The end of a mount.
public struct UnmountReport: Hashable, Sendable, Encodable {
    /// The former mount points.
    public var mountpoints: [Path]
    /// Whether the daemon has ended, so that the directory can be mounted again.
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
