// FUSE over io_uring: requests come to threads on the processor of whoever asks, and answers go back with the next
// wait.

import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// The transport that needs one system call for a request and wakes no other processor.
///
/// FORGET, INTERRUPT and notices to the kernel keep going over /dev/fuse, whose transport this one contains; should the
/// kernel refuse the ring after all, everything else comes there too.
///
/// `late` guards the parked requests by number; nothing is called under it.
final class RingTransport: Transport {
    /// Entries for one queue: as many requests of one processor may be at work or parked at a time, the others wait in
    /// the kernel. An entry costs a page until it is used. With many processors, fewer for each.
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
    /// All entries there will ever be: the kernel may write to them until the connection is gone, and does not look
    /// after waiting requests when one is registered later.
    private let entries: [RingEntry]

    /// Makes everything that may fail, before the kernel is told that a ring will be used.
    ///
    /// - Throws: what this machine lacks for it.
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

    /// INIT was answered, with the ring agreed to: offers the first entries to the kernel.
    func begin() throws(Errno) { try keeper.register() }

    /// Ends what was made for nothing.
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

    // MARK: What the threads need

    /// Serves the request of an entry.
    ///
    /// - Returns: whether the entry, with its answer, is still the caller's; not if the request was parked.
    func process(_ entry: RingEntry, _ lane: Lane) -> Bool {
        guard let message = entry.receive() else {
            entry.answer(error: .ioError)
            return true
        }
        lane.borrow(entry, message)
        serve(lane)
        guard lane.giveBack() != nil else { return false }
        // Nobody may be left waiting for an answer that nobody will give.
        if !entry.isAnswered { entry.answer(error: .ioError) }
        return true
    }

    /// Gives an entry with a request to a thread of its queue. False: there is none, and none can be started.
    func hand(_ entry: RingEntry) -> Bool {
        guard queues.indices.contains(entry.queue) else { return false }
        let queue = queues[entry.queue]
        if queue.hand(entry) { return true }
        return threads.start("fuse-ring-\(queue.number)") { [self] in
            do throws(Errno) { try RingWorker(self, queue).live(entry) } catch {
                // No ring for this thread: its entry goes back to the keeper.
                let lane = Lane(borrowing: ())
                lane.whileCurrent {
                    if process(entry, lane) { keeper.commit(entry) }
                }
            }
        }
    }
}
