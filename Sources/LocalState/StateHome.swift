// The directories for what VersionsFS keeps on a machine outside of its containers.

import ControlProtocol
import Glibc

/// The places of one user: a list of containers, and logs.
public struct StateHome: Hashable, Sendable {
    /// The directory for lists: `$XDG_STATE_HOME/versionsfs`, or what stands for it.
    public let state: Path
    /// The directory for logs.
    public let logs: Path
    /// A directory that lasts until the next boot, for a user whose other places lie in a container.
    public let runtime: Path

    /// - Parameters:
    ///   - user: the user that the places belong to.
    ///   - environment: gives variables of the environment.
    public init(user: uid_t = geteuid(), environment: (String) -> String? = Self.variable) {
        // Another user's directory comes here through sudo, and is no place for what root writes.
        let given = environment("XDG_STATE_HOME").flatMap { path in
            path.hasPrefix("/") && !Self.isOthers(path, than: user) ? path : nil
        }
        let base: String =
            if let given { given + "/versionsfs" } else if user == 0 { "/var/lib/versionsfs" } else {
                Self.home(user, environment) + "/.local/state/versionsfs"
            }
        state = Path(base)
        logs = Path(given == nil && user == 0 ? "/var/log/versionsfs" : base + "/logs")
        let session = environment("XDG_RUNTIME_DIR").flatMap { path in
            path.hasPrefix("/") && Self.owner(path) == user ? path : nil
        }
        runtime = Path(user == 0 ? "/run/versionsfs" : session.map { $0 + "/versionsfs" } ?? "/tmp/versionsfs-\(user)")
    }

    /// The places of a user whose environment is not known.
    public init(user: uid_t, home: Path) {
        state = Path(bytes: home.bytes + Array("/.local/state/versionsfs".utf8))
        logs = state.below("logs")
        runtime = Path("/tmp/versionsfs-\(user)")
    }

    /// A variable of this process's environment.
    public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The directories for the list of containers, the best first, without those that lie at or below some paths.
    public func lists(outside covered: [Path]) -> [Path] { Self.outside(covered, [state, runtime]) }

    /// The same for logs.
    public func logDirectories(outside covered: [Path]) -> [Path] {
        Self.outside(covered, [logs, runtime.below("logs")])
    }

    private static func outside(_ covered: [Path], _ places: [Path]) -> [Path] {
        places.filter { place in !covered.contains { place.isAt(orBelow: $0) } }
    }

    private static func home(_ user: uid_t, _ environment: (String) -> String?) -> String {
        if let home = environment("HOME"), home.hasPrefix("/") { return home }
        return getpwuid(user).map { String(cString: $0.pointee.pw_dir) } ?? ""
    }

    private static func owner(_ path: String) -> uid_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    private static func isOthers(_ path: String, than user: uid_t) -> Bool { owner(path).map { $0 != user } ?? false }
}

extension Path {
    /// A path in this directory.
    func below(_ name: String) -> Path { Path(bytes: bytes + (bytes.last == 47 ? [] : [47]) + Array(name.utf8)) }

    /// Whether an absolute path is another one or lies below it, by their texts.
    func isAt(orBelow other: Path) -> Bool {
        bytes == other.bytes || bytes.starts(with: other.bytes.last == 47 ? other.bytes : other.bytes + [47])
    }

    /// The bytes as C takes them.
    var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
