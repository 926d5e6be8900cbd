// FUSE over io_uring: a thread on the caller's processor gets the request, and its answer goes back with the next wait.

import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// The transport that needs one system call per request and wakes no other processor.
///
/// FORGET, INTERRUPT and notifications to the kernel still use /dev/fuse, whose transport this one contains. If the
/// kernel refuses the ring after all, all other messages use it too.
///
/// `late` guards the parked requests by number; nothing is called under it.
final class RingTransport: Transport {
    /// The number of entries per queue. That many requests of one processor may be active or parked at a time; others
    /// wait in the kernel. An unused entry costs one page. With many processors each queue has fewer.
    private static func entries(_ queues: Int) -> Int { min(64, max(16, 1024 / queues)) }

    let descriptor: Int32
    let serve: @Sendable (Lane) -> Void
    private let device: DeviceTransport
    /// Cuts the connection.
    private let cut: @Sendable () -> Void
    private let queues: [RingQueue]
    private let keeper: RingKeeper
    private let threads = ThreadGroup()
    private let late = Mutex<[UInt64: RingEntry]>([:])
    /// All entries, from the start. The kernel may write to them until the connection is gone, and it ignores waiting
    /// requests when an entry is registered later.
    private let entries: [RingEntry]

    /// Makes everything that can fail, before the kernel is told of the ring.
    ///
    /// - Throws: the error of the missing requirement.
    init(_ device: DeviceTransport, queues count: Int, cut: @escaping @Sendable () -> Void) throws(Errno) {
        self.device = device
        self.cut = cut
        descriptor = device.descriptor
        serve = device.serve
        queues = (0..<count).map { RingQueue(number: $0, entries: Self.entries(count)) }
        keeper = try RingKeeper()
        var made: [RingEntry] = []
        for number in 0..<count {
            for _ in 0..<Self.entries(count) { made.append(try RingEntry(queue: number)) }
        }
        entries = made
        guard threads.start("fuse-ring", { [self] in keeper.live(self, entries) }) else {
            throw .resourceTemporarilyUnavailable
        }
        do throws(Errno) { try keeper.awaitReady() } catch {
            threads.join()
            throw error
        }
    }

    /// Offers the first entries to the kernel, after the answer to INIT with the agreed ring.
    func begin() throws(Errno) { try keeper.register() }

    /// Ends an unused ring.
    func abandon() {
        keeper.end()
        threads.join()
    }

    func run() -> Errno {
        keeper.serve()
        let reason = device.run(aside: true)
        if reason != .operationNotSupportedByDevice && reason != .connectionAbort { cut() }
        for queue in queues { queue.end() }
        keeper.end()
        threads.join()
        return reason
    }

    func send(_ message: UnsafePointer<iovec>, count: Int32) -> Int {
        if count > 0, let first = message.pointee.iov_base, message.pointee.iov_len >= 16 {
            let unique = first.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            if let entry = Lane.current?.entry, entry.unique == unique { return entry.answer(message, count: count) }
            if unique != 0, let entry = late.withLock({ $0.removeValue(forKey: unique) }) {
                queues[entry.queue].unpark()
                defer { keeper.commit(entry) }
                return entry.answer(message, count: count)
            }
        }
        return device.send(message, count: count)
    }

    func park(_ lane: Lane) -> Bool {
        guard let entry = lane.giveBack() else { return true }
        late.withLock { $0[entry.unique] = entry }
        return queues[entry.queue].park()
    }

    // MARK: For the threads

    /// Serves the request of an entry.
    ///
    /// - Returns: whether the entry, with its answer, still belongs to the caller; not if the request was parked.
    func process(_ entry: RingEntry, _ lane: Lane) -> Bool {
        guard let message = entry.receive() else {
            entry.answer(error: .ioError)
            return true
        }
        lane.borrow(entry, message)
        serve(lane)
        guard lane.giveBack() != nil else { return false }
        // The caller must get an answer, even if the handler gave none.
        if !entry.isAnswered { entry.answer(error: .ioError) }
        return true
    }

    /// Gives an entry with a request to a thread of its queue. False: there is no free thread, and none can be started.
    func hand(_ entry: RingEntry) -> Bool {
        guard queues.indices.contains(entry.queue) else { return false }
        let queue = queues[entry.queue]
        if queue.hand(entry) { return true }
        return threads.start("fuse-ring-\(queue.number)") { [self] in
            do throws(Errno) { try RingWorker(self, queue).live(entry) } catch {
                // The thread gets no ring: its entry goes back to the keeper.
                let lane = Lane(borrowing: ())
                lane.whileCurrent {
                    if process(entry, lane) { keeper.commit(entry) }
                }
            }
        }
    }
}
