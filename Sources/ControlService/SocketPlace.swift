// The place of a container's control socket (DESIGN 3.4), and a safe way to make its directory.

import ControlProtocol
import Glibc
import VersionModel

/// The path of a control socket and the users that may connect to it.
public struct SocketPlace: Hashable, Sendable {
    /// The directory of the socket; owned by the daemon's user, or root's.
    public let directory: String
    /// The socket.
    public let path: String
    /// 0666 for root's daemon, which serves all users; 0600 for a user's daemon.
    public let mode: mode_t
    /// The required owner of the directory.
    private let owner: uid_t

    /// The place for a container.
    /// - Parameters:
    ///   - user: the daemon's user.
    ///   - runtimeDirectory: the value of XDG_RUNTIME_DIR; used if it is a directory of that user.
    ///   - systemDirectory: a replacement for `/run` and `/tmp` in tests.
    public init(
        container: ContainerID, user: uid_t, runtimeDirectory: String?, runDirectory: String = "/run",
        temporaryDirectory: String = "/tmp"
    ) {
        if user == 0 {
            directory = runDirectory + "/versionsfs"
        } else if let runtimeDirectory, runtimeDirectory.hasPrefix("/"),
            Self.isDirectory(runtimeDirectory, of: user)
        {
            directory = runtimeDirectory + "/versionsfs"
        } else {
            directory = temporaryDirectory + "/versionsfs-\(user)"
        }
        path = "\(directory)/\(container.hex).sock"
        mode = user == 0 ? 0o666 : 0o600
        owner = user
    }

    /// A socket at a given path, in an existing directory (for tests).
    public init(path: String, mode: mode_t = 0o600) {
        self.path = path
        self.mode = mode
        directory = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        owner = geteuid()
    }

    /// Makes the directory if it is missing, and refuses one that another user may have made there.
    public func prepare() throws(ControlError) {
        let directoryMode: mode_t = owner == 0 ? 0o755 : 0o700
        if mkdir(directory, directoryMode) != 0, errno != EEXIST {
            var error = systemError("the directory for the control socket cannot be made", directory)
            if owner != 0 { error.advice = "let XDG_RUNTIME_DIR name a directory that you may write to" }
            throw error
        }
        var status = stat()
        guard lstat(directory, &status) == 0 else {
            throw systemError("the directory for the control socket cannot be read", directory)
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == owner, status.st_mode & 0o022 == 0 else {
            throw ControlError(
                .denied, "the directory of the control socket belongs to another user, or others may write to it",
                path: Path(directory), advice: "remove it, or set XDG_RUNTIME_DIR")
        }
        // A socket of a daemon that died. The container's lock excludes a second running daemon.
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
    }

    private static func isDirectory(_ path: String, of user: uid_t) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
    }
}

/// An error of the system, with the present errno.
func systemError(_ message: String, _ path: String) -> ControlError {
    let number = errno
    let reason = String(validatingCString: strerror(number)) ?? "error \(number)"
    return ControlError(.system, "\(message): \(reason)", path: Path(path), errno: number)
}
