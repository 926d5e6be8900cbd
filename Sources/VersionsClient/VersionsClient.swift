// The client of a container: finds its daemon, agrees with it on the protocol, calls it and watches.

import ControlProtocol
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
        return try agreed(connection, try await connection.call(Handshake(program: program, version: version)))
    }

    /// The same for a caller that is no task; the thread waits.
    @available(*, noasync, message: "use connect(to:program:version:)")
    public static func connectAndWait(
        to place: ContainerPlace, program: String, version: String
    ) throws(ControlError) -> VersionsClient {
        let connection = ControlConnection(socket: try socket(of: place))
        let answer = Awaited<Result<Handshake.Reply, ControlError>>()
        connection.call(Handshake(program: program, version: version)) { answer.set($0) }
        return try agreed(connection, try answer.wait().get())
    }

    private static func socket(of place: ContainerPlace) throws(ControlError) -> CInt {
        switch place.state {
        case .mounted(let socket): return try UnixSocket.connect(to: socket)
        case .unmounted:
            throw ControlError(
                .notMounted, "not mounted", path: place.root, advice: "versionsctl mount \(place.root)")
        case .closed(let owner):
            let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) } ?? "user \(owner)"
            throw ControlError(
                .denied, "mounted by \(name), who alone may enter it", path: place.root,
                advice: "ask them, or have root mount it")
        case .dead:
            throw ControlError(
                .notMounted, "the daemon of this mount is gone", path: place.root,
                advice: "versionsctl mount \(place.root)")
        }
    }

    private static func agreed(
        _ connection: ControlConnection, _ daemon: Handshake.Reply
    ) throws(ControlError) -> VersionsClient {
        guard daemon.protocolVersion == Handshake.protocolVersion else {
            connection.close()
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

    /// Changes at a target and as far below it as is asked for, from now on or behind the last sequence number seen. Ends
    /// with an error if the connection does, or if the consumer falls 65,536 events behind: watch again after the last
    /// event's number.
    public func events(
        of target: Target, depth: WatchDepth = .subtree, after sequence: UInt64? = nil
    ) async throws(ControlError) -> AsyncThrowingStream<WatchEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: WatchEvent.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(65_536))
        let watcher = ControlConnection.Watcher(
            events: { notification in
                for event in notification.events {
                    guard case .dropped = continuation.yield(event) else { continue }
                    let error = ControlError(.failed, "events came faster than they were taken", advice: "watch again")
                    return continuation.finish(throwing: error)
                }
            },
            ended: { continuation.finish(throwing: $0) })
        _ = try await connection.watch(WatchRequest(target, after: sequence, depth: depth), watcher)
        return stream
    }

    /// The same without a buffer: `body` is called on the reading thread, and while it takes its time the daemon waits.
    /// Returns the error that ended it.
    public func watch(
        _ target: Target, depth: WatchDepth = .subtree, after sequence: UInt64? = nil,
        _ body: @escaping @Sendable (WatchEvent) -> Void
    ) async throws(ControlError) -> ControlError {
        let (ends, end) = AsyncStream.makeStream(of: ControlError.self)
        let watcher = ControlConnection.Watcher(
            events: { $0.events.forEach(body) },
            ended: { error in
                end.yield(error)
                end.finish()
            })
        _ = try await connection.watch(WatchRequest(target, after: sequence, depth: depth), watcher)
        for await error in ends { return error }
        return ControlError(.cancelled, "cancelled")
    }
}
