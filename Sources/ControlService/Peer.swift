// The other end of a connection, according to the kernel.

import VersionModel

/// The process and the rights of a caller at the time of its connection (SO_PEERCRED, SO_PEERGROUPS).
public struct Peer: Hashable, Sendable {
    public var userID: UInt32
    /// The primary group.
    public var groupID: UInt32
    /// The supplementary groups.
    public var groups: [UInt32]
    /// 0 if the process is in another pid namespace.
    public var process: Int32

    public init(userID: UInt32, groupID: UInt32, groups: [UInt32], process: Int32) {
        self.userID = userID
        self.groupID = groupID
        self.groups = groups
        self.process = process
    }

    /// Whether the caller has the rights of root.
    public var isRoot: Bool { userID == 0 }
}
