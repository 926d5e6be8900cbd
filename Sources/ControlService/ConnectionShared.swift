// The shared state of a server's connections: methods, threads, limits, and the list of connections.

import ControlProtocol
import Glibc
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Shared by a server's connections. Some members are used only on the server's one event loop; they say so.
final class ConnectionShared: Sendable {
    let backend: any ControlBackend
    let router: Router
    let limits: ControlServer.Limits
    let logger: Logger
    private let threads = ServiceThreads()
    private let lastNumber = Atomic<UInt64>(0)
    /// Set while a wake-up of the loop is pending: further changes need no other one.
    private let wakeIsScheduled = Atomic(false)
    /// The open connections. Never locked together with another lock; only the event loop changes it.
    private let connections = Mutex<[ObjectIdentifier: Entry]>([:])

    private struct Entry: Sendable {
        var userID: UInt32
        var handler: NIOLoopBound<ConnectionHandler>
    }

    init(backend: any ControlBackend, limits: ControlServer.Limits, logger: Logger) {
        self.backend = backend
        self.limits = limits
        self.logger = logger
        router = Router(backend)
    }

    /// Runs a backend's method on a thread of its kind; ignored after the server has stopped.
    func run(on kind: ServiceThreads.Kind, from source: WorkSource, _ work: @escaping @Sendable () -> Void) {
        threads.run(on: kind, from: source, work)
    }

    /// A unique number for a connection.
    func number() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

    /// Whether the peer may know all names: root and the daemon's own user may.
    func trusts(_ peer: Peer) -> Bool { peer.isRoot || peer.userID == geteuid() }

    /// The reason to refuse the peer; nil if it may connect.
    func refusal(of peer: Peer) -> ControlError? {
        let daemon = geteuid()
        guard daemon == 0 || peer.userID == daemon || peer.isRoot else {
            return ControlError(.denied, "this container is served to its owner and root only")
        }
        let (all, own) = connections.withLock { list in
            (list.count, list.values.count { $0.userID == peer.userID })
        }
        let isLimited = !peer.isRoot && peer.userID != daemon
        guard all < limits.connectionCount, !isLimited || own < limits.connectionCountPerUser else {
            return ControlError(.busy, "too many connections", advice: "close some")
        }
        return nil
    }

    func opened(_ handler: ConnectionHandler, peer: Peer, on loop: any EventLoop) {
        let entry = Entry(userID: peer.userID, handler: NIOLoopBound(handler, eventLoop: loop))
        connections.withLock { $0[ObjectIdentifier(handler)] = entry }
    }

    func closed(_ handler: ConnectionHandler) {
        _ = connections.withLock { $0.removeValue(forKey: ObjectIdentifier(handler)) }
    }

    /// Called by the backend on any thread.
    func changesHappened(on loop: any EventLoop) {
        guard !wakeIsScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.execute {
            self.wakeIsScheduled.store(false, ordering: .releasing)
            for handler in self.handlers() { handler.changesHappened() }
        }
    }

    /// Call on the event loop.
    func closeAll() {
        for handler in handlers() { handler.close() }
    }

    func stopThreads() { threads.stop() }

    /// Call on the event loop.
    private func handlers() -> [ConnectionHandler] {
        connections.withLock { $0.values.map(\.handler) }.map(\.value)
    }
}
