// The control socket: listens, admits clients, and passes connections to their handlers.

import ControlProtocol
import Glibc
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Serves a backend on a Unix socket until it is stopped. Start it after the daemon has detached, because it owns
/// threads.
public final class ControlServer: Sendable {
    /// Limits on the use by clients.
    public struct Limits: Sendable {
        /// The longest line in bytes: a claim of 256 paths of maximum length fits.
        public var lineByteCount = 4 << 20
        /// The event loop reads lines up to this length; another thread reads longer ones, because they take long.
        public var shortLineByteCount = 8 << 10
        /// Simultaneous connections.
        public var connectionCount = 512
        /// Simultaneous connections of one user other than root and the daemon's user.
        public var connectionCountPerUser = 64
        /// Calls of one connection that run at the same time. Further calls wait, and reading pauses.
        public var callCountPerConnection = 16
        /// Claims of one connection, waiting and granted.
        public var claimCountPerConnection = 1024
        public var presenterCountPerConnection = 1024
        public var subscriptionCountPerConnection = 256
        /// Running queries of one connection.
        public var queryCountPerConnection = 64
        /// Unread questions and notifications of a client. Beyond this the service closes its connection.
        public var untakenMessageCount = 10_000
        /// Rows of the change feed per page.
        public var changesPerPage = 512
        public init() {}
    }

    /// The socket's place.
    public let place: SocketPlace
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    /// The socket's own inode: another daemon may have the name by the end.
    private let inode: ino_t?
    private let shared: ConnectionShared
    private let observation: any ChangeObservation

    /// Starts to listen.
    /// - Throws: `denied` for an unsafe directory, `system` if the socket cannot be made.
    public init(
        at place: SocketPlace, backend: any ControlBackend, limits: Limits = Limits(), logger: Logger
    ) throws(ControlError) {
        try place.prepare()
        // One loop: the state of all connections is confined to it, and it never waits for a backend.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let shared = ConnectionShared(backend: backend, limits: limits, logger: logger)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 128)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionHandler(shared))
                }
            }
        do {
            listener = try bootstrap.bind(unixDomainSocketPath: place.path).wait()
        } catch {
            try? group.syncShutdownGracefully()
            throw ControlError(.system, "the control socket cannot be made: \(error)", path: Path(place.path))
        }
        self.place = place
        inode = Self.inode(of: place)
        self.group = group
        self.shared = shared
        let loop = group.next()
        observation = backend.observeChanges { shared.changesHappened(on: loop) }
        guard chmod(place.path, place.mode) == 0 else {
            let error = systemError("the control socket's mode cannot be set", place.path)
            stop()
            throw error
        }
    }

    private static func inode(of place: SocketPlace) -> ino_t? {
        var status = stat()
        return lstat(place.path, &status) == 0 ? status.st_ino : nil
    }

    /// Closes the socket and all connections, waits for the running calls, and removes the socket's name.
    public func stop() {
        observation.cancel()
        try? listener.close().wait()
        if Self.inode(of: place) == inode { unlink(place.path) }
        try? group.next().submit { [shared] in shared.closeAll() }.wait()
        shared.stopThreads()
        try? group.syncShutdownGracefully()
    }
}
