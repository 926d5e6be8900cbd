// Finding and starting `versionsfs`: beside this program, else through PATH.

import ControlProtocol
import Glibc
import Synchronization
import VersionsClient

/// The daemon's program.
enum Daemon {
    /// The program to start: `VERSIONSFS` in the environment (tests), the one beside this program, or the name alone.
    static func program() -> String {
        if let given = getenv("VERSIONSFS") { return String(cString: given) }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return "versionsfs" }
        let own = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let beside = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/versionsfs"
        return access(beside, X_OK) == 0 ? beside : "versionsfs"
    }

    /// Serves an unmounted container for the time of this command.
    static func serveOffline(_ root: Path) async throws(ControlError) -> VersionsClient {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ControlError(system: "no socket can be made", path: root)
        }
        defer { close(ends[1]) }
        do {
            let process = try Subprocess.start(
                program(), [Path("--offline"), root], standard: [0: ends[1], 1: ends[1]])
            let end = fcntl(ends[0], F_DUPFD_CLOEXEC, 0)
            serving.withLock { $0.append((process, end)) }
        } catch {
            close(ends[0])
            throw error
        }
        close(ends[1])
        ends[1] = -1
        return try await VersionsClient.connect(socket: ends[0], program: "versionsctl", version: toolVersion)
    }

    /// Those that ``serveOffline(_:)`` has started, with another descriptor of our end. Lock order: last.
    private static let serving = Mutex<[(process: pid_t, end: CInt)]>([])

    /// Waits until the container that was served is closed: the next command finds it free.
    static func endOffline() {
        let ended = serving.withLock { serving in
            defer { serving = [] }
            return serving
        }
        for (process, end) in ended {
            // An offline daemon ends when its last client has gone.
            if end >= 0 { shutdown(end, CInt(SHUT_RDWR)) }
            if end >= 0 { close(end) }
            _ = Subprocess.wait(process)
        }
    }
}

/// The version of this tool; the daemon says its own, and a mismatch is said.
let toolVersion = ProductVersion.current
