// The client of a container: finds its daemon, agrees on the protocol, makes calls and watches changes.

// Calls and replies have types of the protocol, so this module exports it.
@_exported import ControlProtocol
import Glibc
import VersionModel

/// A connection to the daemon of one container.
///
///     let place = try ContainerPlace.find(Path("Notes/todo.txt"))
///     let client = try await VersionsClient.connect(to: place, program: "example", version: "1.0")
///     let history = try await client.call(HistoryRequest(.path(place.path)))
public final class VersionsClient: Sendable {
    /// The daemon's reply to the handshake.
    public let daemon: Handshake.Reply
    let connection: ControlConnection

    private init(connection: ControlConnection, daemon: Handshake.Reply) {
        self.connection = connection
        self.daemon = daemon
    }

    deinit { connection.close() }

    /// Connects to the container of a place from ``ContainerPlace/find(_:followingLastLink:)``.
    /// - Throws: `notMounted` if there is no daemon, `incompatible` if it speaks another protocol.
    public static func connect(
        to place: ContainerPlace, program: String, version: String
    ) async throws(ControlError) -> VersionsClient {
        try await connect(socket: socket(of: place), program: program, version: version)
    }

    /// Takes ownership of a connected socket.
    public static func connect(
        socket: CInt, program: String, version: String
    ) async throws(ControlError) -> VersionsClient {
        let connection = ControlConnection(socket: socket)
        do throws(ControlError) {
            return try agreed(connection, try await connection.call(Handshake(program: program, version: version)))
        } catch {
            connection.close()
            throw error
        }
    }

    /// The same for a caller without a task; the thread waits.
    @available(*, noasync, message: "use connect(to:program:version:)")
    public static func connectAndWait(
        to place: ContainerPlace, program: String, version: String
    ) throws(ControlError) -> VersionsClient {
        let connection = ControlConnection(socket: try socket(of: place))
        let answer = Awaited<Result<Handshake.Reply, ControlError>>()
        connection.call(Handshake(program: program, version: version)) { answer.set($0) }
        do throws(ControlError) {
            return try agreed(connection, try answer.wait().get())
        } catch {
            // The daemon does not close a refused connection, so the reading thread would wait forever.
            connection.close()
            throw error
        }
    }

    private static func socket(of place: ContainerPlace) throws(ControlError) -> CInt {
        switch place.state {
        case .mounted(let socket): return try UnixSocket.connect(to: socket)
        case .unmounted:
            throw ControlError(
                .notMounted, "not mounted", path: place.root, advice: "`versionsctl mount \(place.root)` mounts it")
        case .closed(let owner):
            let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) } ?? "user \(owner)"
            throw ControlError(
                .denied, "mounted by \(name) for that user alone", path: place.root,
                advice: "ask them, or have root mount it")
        case .dead:
            throw ControlError(
                .notMounted, "the daemon of this mount is gone", path: place.root,
                advice: "`versionsctl mount \(place.root)` mounts it again")
        }
    }

    private static func agreed(
        _ connection: ControlConnection, _ daemon: Handshake.Reply
    ) throws(ControlError) -> VersionsClient {
        guard daemon.protocolVersion == Handshake.protocolVersion else {
            throw ControlError(
                .incompatible, "the daemon is of version \(daemon.version) and speaks another protocol",
                advice: "unmount and mount again with this version")
        }
        return VersionsClient(connection: connection, daemon: daemon)
    }

    /// Calls a handler at the end of the connection, on its reading thread; at once if it has ended.
    public func whenEnded(_ body: @escaping @Sendable (ControlError) -> Void) { connection.whenEnded(body) }

    /// Whether the connection has ended, so that no call is possible.
    public var hasEnded: Bool { connection.end != nil }

    /// Calls the daemon and returns at once; see ``ControlConnection/call(_:then:)``.
    public func call<Request: ControlRequest>(
        _ request: Request, then: @escaping @Sendable (Result<Request.Reply, ControlError>) -> Void
    ) {
        connection.call(request, then: then)
    }

    /// The same, with a wait; for a caller without a task.
    @available(*, noasync, message: "use call(_:progress:)")
    public func callAndWait<Request: ControlRequest>(_ request: Request) throws(ControlError) -> Request.Reply {
        let answer = Awaited<Result<Request.Reply, ControlError>>()
        connection.call(request) { answer.set($0) }
        return try answer.wait().get()
    }

    /// Calls the daemon; see ``ControlConnection/call(_:progress:)``.
    public func call<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (ProgressNotification) -> Void)? = nil
    ) async throws(ControlError) -> Request.Reply {
        try await connection.call(request, progress: progress)
    }
}
