// The control socket: listens, lets in who may, and hands connections to their handlers.

import ControlProtocol
import Glibc
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Serves a backend on a Unix socket until it is stopped. Start it after the daemon has detached: it owns threads.
public final class ControlServer: Sendable {
    /// Bounds on what clients can take.
    public struct Limits: Sendable {
        /// The longest line, in bytes: a claim of 256 of the longest paths fits.
        public var lineByteCount = 4 << 20
        /// Lines up to here are read on the event loop; longer ones, which take long, on a thread of their own.
        public var shortLineByteCount = 8 << 10
        /// Connections at once.
        public var connectionCount = 512
        /// Connections at once of one user that is neither root nor the daemon's.
        public var connectionCountPerUser = 64
        /// Calls of one connection that are served at once; further ones wait, and nothing more is read.
        public var callCountPerConnection = 16
        /// Claims of one connection that wait or are held at once.
        public var claimCountPerConnection = 1024
        public var presenterCountPerConnection = 1024
        public var subscriptionCountPerConnection = 256
        /// Queries of one connection that have not ended.
        public var queryCountPerConnection = 64
        /// Questions and notices to a client that does not read; with more it is cut off.
        public var untakenMessageCount = 10_000
        /// Rows of the change feed that are looked at in one piece.
        public var changesPerPage = 512
        public init() {}
    }

    /// Where it listens.
    public let place: SocketPlace
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    /// The socket's own: the name may be another daemon's by the end.
    private let inode: ino_t?
    private let shared: ConnectionShared
    private let observation: any ChangeObservation

    /// Listens.
    /// - Throws: `denied` for an unsafe directory, `system` if the socket cannot be made.
    public init(
        at place: SocketPlace, backend: any ControlBackend, limits: Limits = Limits(), logger: Logger
    ) throws(ControlError) {
        try place.prepare()
        // One loop: all connections' state is confined to it, and it never waits for a backend.
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

    /// Closes the socket and all connections, waits for calls that are running, and removes the socket's name.
    public func stop() {
        observation.cancel()
        try? listener.close().wait()
        if Self.inode(of: place) == inode { unlink(place.path) }
        try? group.next().submit { [shared] in shared.closeAll() }.wait()
        shared.stopThreads()
        try? group.syncShutdownGracefully()
    }
}
