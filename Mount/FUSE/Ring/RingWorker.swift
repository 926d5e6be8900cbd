// The life of a thread that serves one queue: wait with an entry, serve what comes, answer, wait again.

import CRing
import Glibc
import Synchronization
import SystemPackage

/// How a thread of a queue begins.
enum RingWork: Sendable {
    /// With an entry that the kernel does not know yet.
    case register(RingEntry)
    /// With an entry that has a request.
    case serve(RingEntry)
}

/// One thread of a queue, with a ring of its own.
///
/// It ends with the connection, or when it has no entry and nobody needs it: a thread must never end with an entry that
/// it has offered, because a request that the kernel has given to the entry would be lost with it.
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

    /// Serves until the end; the queue counts the thread as serving when this begins, and no more when it returns.
    func live(_ first: RingWork) {
        // Whoever asks is on this processor, and waits: no other has to be woken. Where that cannot be, it is slower.
        _ = ring_pin_thread(UInt32(truncatingIfNeeded: queue.number))
        lane.whileCurrent {
            var next: RingWork? = first
            while let work = next { next = serve(from: work) }
        }
    }

    /// Serves until the entry is lost.
    ///
    /// - Returns: what to go on with; nil to end.
    private func serve(from work: RingWork) -> RingWork? {
        var entry: RingEntry
        do {
            switch work {
            case .register(let new):
                entry = new
                try ring.register(new)
            case .serve(let handed):
                entry = handed
                // All others may be busy, or this be the first.
                if queue.waiting.load(ordering: .relaxed) == 0 { transport.startSpare(queue) }
                guard transport.process(entry, lane) else { return proceed() }
                try ring.commit(entry)
            }
            while true {
                queue.waiting.add(1, ordering: .relaxed)
                let turn = Result { () throws(Errno) in try ring.turn() }
                let left = queue.waiting.subtract(1, ordering: .relaxed).newValue
                let came = try turn.get()
                guard came.result >= 0, let filled = came.entry else {
                    return lost(Errno(rawValue: -came.result))
                }
                if left == 0 { transport.startSpare(queue) }
                entry = filled
                guard transport.process(entry, lane) else { return proceed() }
                try ring.commit(entry)
            }
        } catch {
            return lost(error)
        }
    }

    /// The entry was parked. If that leaves nobody waiting for requests, this thread takes a new one.
    private func proceed() -> RingWork? {
        if queue.waiting.load(ordering: .relaxed) == 0, let entry = transport.newEntry(queue.number) {
            return .register(entry)
        }
        return awaitWork()
    }

    /// The kernel has taken the entry away: with the connection, or because it had no use for what we sent.
    private func lost(_ reason: Errno) -> RingWork? {
        if reason == .socketNotConnected || reason == .connectionAbort || reason == .operationNotSupportedByDevice {
            return nil
        }
        return awaitWork()
    }

    private func awaitWork() -> RingWork? {
        queue.awaitEntry().map { .serve($0) }
    }
}
