// Reads the credentials of a connection from the kernel.

import Glibc

extension Peer {
    /// The peer of a connected Unix socket; nil if the kernel does not know it.
    init?(socket: CInt) {
        // struct ucred: pid, uid, gid (Linux, 32 bits each).
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            length == socklen_t(MemoryLayout.size(ofValue: credentials)), credentials.uid != .max
        else { return nil }
        guard let groups = Self.groups(of: socket) else { return nil }
        self.init(userID: credentials.uid, groupID: credentials.gid, groups: groups, process: credentials.pid)
    }

    private static func groups(of socket: CInt) -> [UInt32]? {
        var groups = [UInt32](repeating: 0, count: 64)
        // The kernel answers ERANGE with the necessary length; the groups of a connected socket cannot change.
        for _ in 0..<2 {
            var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
            if getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 {
                return Array(groups.prefix(Int(length) / MemoryLayout<UInt32>.size))
            }
            guard errno == ERANGE else { return nil }
            groups = [UInt32](repeating: 0, count: Int(length) / MemoryLayout<UInt32>.size)
        }
        return nil
    }
}
