// The daemons of this machine, found by their sockets and asked all at once: a mount whose daemon is stuck must not be
// touched, for not even a signal ends a program that waits there.

import Glibc
import Synchronization
import VersionModel

/// A daemon, and what it has said of its container.
public struct SurveyedDaemon: Hashable, Sendable {
    /// Its process; nil in another process namespace.
    public var process: Int32?
    public var user: UInt32
    /// When its socket was made.
    public var since: Timestamp
    /// Nil if it has not answered in time.
    public var greeting: Handshake.Reply?
    /// Nil if it has not answered in time, or speaks another protocol.
    public var status: ContainerStatus?
}

/// Asks the daemons whose sockets this user can reach.
public enum DaemonSurvey {
    /// - Parameter patience: how long each may take.
    public static func take(patience: Duration) async -> [SurveyedDaemon] {
        await take(sockets: sockets(), patience: patience)
    }

    static func take(sockets: [Path], patience: Duration) async -> [SurveyedDaemon] {
        await withTaskGroup(of: SurveyedDaemon?.self) { group in
            for socket in sockets { group.addTask { await ask(socket, patience) } }
            return await group.reduce(into: []) { found, daemon in
                if let daemon { found.append(daemon) }
            }
        }
    }

    private static func ask(_ path: Path, _ patience: Duration) async -> SurveyedDaemon? {
        let inquiry = Inquiry(path)
        let (answers, answer) = AsyncStream<Void>.makeStream()
        // Connecting waits, too, where many have connected and the daemon takes none of them.
        guard ReadingThread.start({ inquiry.begin { answer.finish() } }) else { return nil }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in answers {} }
            group.addTask { try? await Task.sleep(for: patience) }
            _ = await group.next()
            group.cancelAll()
        }
        return inquiry.end()
    }

    /// Sockets in the directories that daemons make theirs in (DESIGN 3.4).
    private static func sockets() -> [Path] {
        let user = geteuid()
        var directories = ["/run/versionsfs"]
        if user == 0 {
            directories += names("/run/user").map { "/run/user/\($0)/versionsfs" }
            directories += names("/tmp").filter { $0.hasPrefix("versionsfs-") }.map { "/tmp/" + $0 }
        } else {
            let given = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
            directories += Set([given ?? "", "/run/user/\(user)"]).filter { $0.hasPrefix("/") }.sorted()
                .map { $0 + "/versionsfs" }
            directories.append("/tmp/versionsfs-\(user)")
        }
        return directories.flatMap { directory in
            names(directory).filter { $0.hasSuffix(".sock") }.map { Path(directory + "/" + $0) }
        }
    }

    private static func names(_ directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// Two questions to one daemon.
private final class Inquiry: Sendable {
    private struct State {
        var daemon: SurveyedDaemon?
        var connection: ControlConnection?
        var isOver = false
    }

    private let path: Path
    /// Guards what is known so far.
    private let state = Mutex(State())

    init(_ path: Path) { self.path = path }

    /// Asks. Called on a thread of its own.
    /// - Parameter done: called when all is answered, or nothing more can be.
    func begin(_ done: @escaping @Sendable () -> Void) {
        guard let since = made(), let socket = try? UnixSocket.connect(to: path) else { return done() }
        guard let peer = UnixSocket.peer(of: socket) else {
            Glibc.close(socket)
            return done()
        }
        let connection = ControlConnection(socket: socket)
        let isLate = state.withLock { state in
            guard !state.isOver else { return true }
            state.daemon = SurveyedDaemon(
                process: peer.process > 0 ? peer.process : nil, user: peer.user, since: since)
            state.connection = connection
            return false
        }
        guard !isLate else { return connection.close() }
        let handshake = Handshake(program: "versionsctl", version: ProductVersion.current)
        connection.call(handshake, then: { [self] result in
            guard case .success(let greeting) = result else { return done() }
            state.withLock { $0.daemon?.greeting = greeting }
            guard greeting.protocolVersion == Handshake.protocolVersion else { return done() }
            connection.call(StatusRequest(), then: { [self] result in
                if case .success(let status) = result { state.withLock { $0.daemon?.status = status } }
                done()
            })
        })
    }

    /// What is known by now; nil if no daemon listens there.
    func end() -> SurveyedDaemon? {
        state.withLock { state in
            state.isOver = true
            state.connection?.close()
            return state.daemon
        }
    }

    /// When the socket was made; nil if it is none.
    private func made() -> Timestamp? {
        var status = stat()
        guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return Timestamp(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }
}
