// Many connections to the daemon that one thread serves, at a cost that is small beside the daemon's.

import Glibc

/// Tells which of several connections have something to read. Belongs to one thread at a time.
public final class ControlSockets {
    private let sockets: [ControlSocket]
    private var waits: [pollfd]
    /// The connections that may have a line still, of those that were ready last.
    private var unfinished: [Int] = []

    public init(_ sockets: [ControlSocket]) {
        self.sockets = sockets
        waits = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    }

    /// Waits until something can be read from one of them; gives their indices.
    public func ready() throws -> [Int] {
        unfinished.removeAll { !sockets[$0].hasLine }
        if !unfinished.isEmpty { return unfinished }
        var count: Int32
        repeat { count = poll(&waits, nfds_t(waits.count), 60_000) } while count < 0 && errno == EINTR
        guard count > 0 else { throw Failure("the daemon does not answer") }
        waits.withUnsafeBufferPointer { waits in
            for index in 0..<waits.count where waits[index].revents != 0 { unfinished.append(index) }
        }
        return unfinished
    }
}
