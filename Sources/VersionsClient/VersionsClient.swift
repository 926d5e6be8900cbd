// The client of a container: finds its daemon, agrees with it on the protocol, calls it and watches.

// Calls and their replies are the protocol's: who uses this uses them.
@_exported import ControlProtocol
import Glibc
import VersionModel

/// Speaks with the daemon of one container.
///
///     let place = try ContainerPlace.find(Path("Notes/todo.txt"))
///     let client = try await VersionsClient.connect(to: place, program: "example", version: "1.0")
///     let history = try await client.call(HistoryRequest(.path(place.path)))
public final class VersionsClient: Sendable {
    /// What the daemon said of itself.
    public let daemon: Handshake.Reply
    let connection: ControlConnection

    private init(connection: ControlConnection, daemon: Handshake.Reply) {
        self.connection = connection
        self.daemon = daemon
    }

    deinit { connection.close() }

    /// Connects to the container of a place that ``ContainerPlace/find(_:followingLastLink:)`` found.
    /// - Throws: `notMounted` if there is no daemon, `incompatible` if it speaks another protocol.
    public static func connect(
        to place: ContainerPlace, program: String, version: String
    ) async throws(ControlError) -> VersionsClient {
        try await connect(socket: socket(of: place), program: program, version: version)
    }

    /// Takes over a connected socket.
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

    /// The same for a caller that is no task; the thread waits.
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
            // Who is refused is not hung up on: the reading thread would wait for ever.
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

    /// Has something called when the connection ends, on its reading thread; at once if it has.
    public func whenEnded(_ body: @escaping @Sendable (ControlError) -> Void) { connection.whenEnded(body) }

    /// Whether the connection has ended: nothing can be called any more.
    public var hasEnded: Bool { connection.end != nil }

    /// Calls the daemon and goes on; see ``ControlConnection/call(_:then:)``.
    public func call<Request: ControlRequest>(
        _ request: Request, then: @escaping @Sendable (Result<Request.Reply, ControlError>) -> Void
    ) {
        connection.call(request, then: then)
    }

    /// The same, and waits; for a caller that is no task.
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
