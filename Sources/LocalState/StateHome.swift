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
        // Another user's directory comes here through su and sudo, and is no place for what root writes.
        let given = environment("XDG_STATE_HOME").flatMap { path in
            path.hasPrefix("/") && (user == 0 ? Self.isOfRoot(path) : Self.owner(path) ?? user == user) ? path : nil
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
        places.filter { !$0.leads(into: covered) }
    }

    private static func home(_ user: uid_t, _ environment: (String) -> String?) -> String {
        if let home = environment("HOME"), home.hasPrefix("/") { return home }
        return getpwuid(user).map { String(cString: $0.pointee.pw_dir) } ?? ""
    }

    private static func owner(_ path: String) -> uid_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Whether root alone says what is at a path: what exists of it belongs to root, and other users may neither make
    /// the rest nor put something else in its place.
    private static func isOfRoot(_ path: String) -> Bool {
        var place = "/"
        var isShared = false
        for name in [Substring()] + path.split(separator: "/") {
            place += (place == "/" ? "" : "/") + name
            var status = stat()
            guard stat(place, &status) == 0 else { return errno == ENOENT && !isShared }
            isShared = status.st_mode & 0o022 != 0
            // In a sticky directory others cannot move what root has made.
            guard status.st_uid == 0, !isShared || status.st_mode & S_ISVTX != 0 else { return false }
        }
        return !isShared
    }
}

extension Path {
    /// A path in this directory.
    func below(_ name: String) -> Path { Path(bytes: bytes + (bytes.last == 47 ? [] : [47]) + Array(name.utf8)) }

    /// Whether an absolute path is another one or lies below it, by their texts.
    func isAt(orBelow other: Path) -> Bool {
        bytes == other.bytes || bytes.starts(with: other.bytes.last == 47 ? other.bytes : other.bytes + [47])
    }

    /// Whether an absolute path is or lies below one of some others, by its text or over symbolic links.
    /// - Parameter covered: without symbolic links. What lies there is not touched.
    func leads(into covered: [Path]) -> Bool {
        func isCovered(_ place: Path) -> Bool { covered.contains { place.isAt(orBelow: $0) } }
        if isCovered(self) { return true }
        var (place, links) = (Path(bytes: [47]), 0)
        var rest = Array(bytes.split(separator: 47).map(Array.init).reversed())
        while let name = rest.popLast() {
            if name == [46] { continue }
            if name == [46, 46] {
                place = Path(bytes: place.bytes[..<(place.bytes.lastIndex(of: 47).map { max($0, 1) } ?? 0)])
                continue
            }
            let next = Path(bytes: (place.bytes == [47] ? [] : place.bytes) + [47] + name)
            if isCovered(next) { return true }
            guard links < 40, let target = next.target else {
                place = next
                continue
            }
            links += 1
            if target.first == 47 { place = Path(bytes: [47]) }
            rest += target.split(separator: 47).map(Array.init).reversed()
        }
        return false
    }

    /// What a symbolic link says; nil for anything else.
    private var target: [UInt8]? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(terminated, &buffer, buffer.count)
        return count > 0 ? buffer[..<count].map { UInt8(bitPattern: $0) } : nil
    }

    /// The bytes as C takes them.
    var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
