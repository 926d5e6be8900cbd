// Where a container's control socket lies (DESIGN 3.4), and making the directory for it safely.

import ControlProtocol
import Glibc
import VersionModel

/// The path of a control socket and who may connect to it.
public struct SocketPlace: Hashable, Sendable {
    /// The directory of the socket; ours alone, except root's.
    public let directory: String
    /// The socket.
    public let path: String
    /// 0666 for root's daemon, which serves everyone; 0600 for a user's.
    public let mode: mode_t
    /// Whose directory it has to be.
    private let owner: uid_t

    /// The place for a container.
    /// - Parameters:
    ///   - user: who runs the daemon.
    ///   - runtimeDirectory: the value of XDG_RUNTIME_DIR; used if it is a directory of that user's.
    ///   - systemDirectory: what stands for `/run` and `/tmp` in tests.
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

    /// A socket at a given path, in a directory that exists (tests).
    public init(path: String, mode: mode_t = 0o600) {
        self.path = path
        self.mode = mode
        directory = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        owner = geteuid()
    }

    /// Makes the directory if it is missing, and refuses one that somebody else could have laid there.
    public func prepare() throws(ControlError) {
        let directoryMode: mode_t = owner == 0 ? 0o755 : 0o700
        if mkdir(directory, directoryMode) != 0, errno != EEXIST {
            throw systemError("the directory for the control socket cannot be made", directory)
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
        // A socket of a daemon that died; the container's lock keeps two daemons from being here at once.
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
    }

    private static func isDirectory(_ path: String, of user: uid_t) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
    }
}

/// An error of the system, with errno as it is now.
func systemError(_ message: String, _ path: String) -> ControlError {
    let number = errno
    let reason = String(validatingCString: strerror(number)) ?? "error \(number)"
    return ControlError(.system, "\(message): \(reason)", path: Path(path), errno: number)
}
