// Connects to a Unix socket by the bytes of its path.

import ControlProtocol
import Glibc

/// Unix stream sockets.
enum UnixSocket {
    /// Connects.
    /// - Throws: `notMounted` if no process listens, `denied` if this user may not use the socket or its daemon is not
    ///   trusted.
    static func connect(to path: Path) throws(ControlError) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ControlError(.failed, "the path of the control socket is too long", path: path)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        let socket = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw ControlError(system: "no socket can be made", path: path) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, length) }
        }
        guard result == 0 else {
            let error = refusal(path)
            close(socket)
            throw error
        }
        guard isTrusted(socket) else {
            close(socket)
            throw ControlError(
                .denied, "the control socket belongs to another user", path: path,
                advice: "mount the directory yourself")
        }
        return socket
    }

    private static func refusal(_ path: Path) -> ControlError {
        switch errno {
        case ECONNREFUSED, ENOENT:
            ControlError(.notMounted, "the daemon does not answer", path: path, advice: "mount the directory again")
        case EACCES, EPERM:
            ControlError(.denied, "this container is served to its owner and root only", path: path,
                advice: "ask its owner to mount it as root")
        default: ControlError(system: "the daemon cannot be reached", path: path)
        }
    }

    /// Any user can write attributes that name a socket, so only root's daemon and this user's are trusted. Root may
    /// use every daemon.
    private static func isTrusted(_ socket: CInt) -> Bool {
        guard let peer = peer(of: socket) else { return false }
        return geteuid() == 0 || peer.user == 0 || peer.user == geteuid()
    }

    /// The process that listens at the other end.
    static func peer(of socket: CInt) -> (process: Int32, user: UInt32)? {
        // struct ucred: pid, uid, gid (Linux, 32 bits each).
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return (credentials.pid, credentials.uid)
    }
}

extension ControlError {
    /// An error of the system, with the present errno.
    public init(system message: String, path: Path?, advice: String? = nil) {
        let number = Glibc.errno
        let reason = Glibc.strerror(number).flatMap { String(validatingCString: $0) } ?? "error \(number)"
        self.init(.system, "\(message): \(reason)", path: path, advice: advice, errno: number)
    }
}
