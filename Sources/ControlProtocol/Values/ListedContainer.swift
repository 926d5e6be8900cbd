// What `versionsctl list` tells; no message of the socket.

import VersionModel

/// A container that a machine knows.
public struct ListedContainer: Hashable, Sendable, Encodable {
    public enum State: String, Hashable, Sendable, Codable {
        case mounted, unmounted
        /// Mounted, and its daemon has not answered in time; or not mounted, and its file system has not.
        case silent
        /// Mounted, and its daemon has ended without unmounting it.
        case dead
        /// In the list, and no longer on the disk.
        case gone
    }

    /// The container's directory.
    public var directory: Path
    /// Where it is mounted; nil if it is not.
    public var mountpoint: Path?
    public var state: State
    /// Nil unless its daemon answers.
    public var container: ContainerID?
    /// The unresolved conflict versions; nil unless its daemon answers.
    public var conflicts: Int?
    /// When it was mounted; nil if that is not known.
    public var since: Timestamp?
    /// The daemon's version; nil unless it answers.
    public var version: String?
    /// Where the daemon's log goes, as `status` says; not told in JSON.
    public var log: String?

    public init(directory: Path, mountpoint: Path? = nil, state: State) {
        self.directory = directory
        self.mountpoint = mountpoint
        self.state = state
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(path: directory, forKey: "directory")
        if let mountpoint {
            try values.encode(path: mountpoint, forKey: "mountpoint")
        } else {
            try values.encodeNil(forKey: "mountpoint")
        }
        try values.encode(state, forKey: "state")
        try values.encode(container, forKey: "container")
        try values.encode(conflicts, forKey: "conflicts")
        try values.encode(since, forKey: "since")
        try values.encode(version, forKey: "version")
    }
}
