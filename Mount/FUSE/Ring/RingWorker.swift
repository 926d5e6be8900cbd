// The loop of a thread that serves one queue: wait with an entry, serve the request, answer, wait again.

import CRing
import Glibc
import SystemPackage

/// One thread of a queue, with a ring of its own.
///
/// It ends with the connection, or when it has no entry and the queue has enough free threads. It never ends with an
/// offered entry, because a request in that entry would be lost.
final class RingWorker {
    private let transport: RingTransport
    private let queue: RingQueue
    private let ring: SubmissionRing
    private let lane = Lane(borrowing: ())

    init(_ transport: RingTransport, _ queue: RingQueue) throws(Errno) {
        self.transport = transport
        self.queue = queue
        ring = try SubmissionRing(device: transport.descriptor, entries: 4)
    }

    /// Starts with an entry that has a request, and serves until the end.
    func live(_ first: RingEntry) {
        // The caller is on this processor and waits, so no other processor must wake. If the thread cannot be pinned,
        // requests are slower.
        _ = ring_pin_thread(UInt32(truncatingIfNeeded: queue.number))
        lane.whileCurrent {
            var next: RingEntry? = first
            while let entry = next {
                guard serve(entry) else { return }
                next = queue.awaitEntry()
            }
        }
    }

    /// Serves until the entry is lost.
    ///
    /// - Returns: whether to continue with another entry: the request was parked, or the kernel did not take the
    ///   answer. False if the connection is gone.
    private func serve(_ first: RingEntry) -> Bool {
        var entry = first
        while true {
            guard transport.process(entry, lane) else { return true }
            do throws(Errno) {
                try ring.commit(entry)
                let came = try ring.turn()
                guard came.result >= 0, let filled = came.entry else { throw Errno(rawValue: -came.result) }
                entry = filled
            } catch {
                return error != .socketNotConnected && error != .connectionAbort
                    && error != .operationNotSupportedByDevice
            }
        }
    }
}
