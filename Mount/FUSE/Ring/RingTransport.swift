// FUSE over io_uring: requests come to threads on the processor of whoever asks, and answers go back with the next wait.

import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// The transport that needs one system call for a request and wakes no other processor.
///
/// FORGET, INTERRUPT and notices to the kernel keep going over /dev/fuse, whose transport this one contains; should the
/// kernel refuse the ring after all, everything else comes there too.
///
/// `late` guards the parked requests by number; `entries` guards the list of all entries. Nothing is called under either.
final class RingTransport: Transport {
    /// Threads for one queue, that are started because all others are busy. With many processors, fewer for each.
    private static func mostThreads(_ queues: Int) -> Int { min(16, max(4, 64 / queues)) }

    let descriptor: Int32
    let serve: @Sendable (Lane) -> Void
    private let device: DeviceTransport
    /// Cuts the connection.
    private let cut: @Sendable () -> Void
    private let queues: [RingQueue]
    private let keeper: RingKeeper
    private let threads = ThreadGroup()
    private let late = Mutex<[UInt64: RingEntry]>([:])
    /// All entries: the kernel may write to them until the connection is gone.
    private let entries = Mutex<[RingEntry]>([])

    /// Makes everything that may fail, before the kernel is told that a ring will be used.
    ///
    /// - Throws: what this machine lacks for it.
    init(_ device: DeviceTransport, queues count: Int, cut: @escaping @Sendable () -> Void) throws(Errno) {
        self.device = device
        self.cut = cut
        descriptor = device.descriptor
        serve = device.serve
        queues = (0..<count).map { RingQueue(number: $0, most: Self.mostThreads(count)) }
        keeper = try RingKeeper()
        var first: [RingEntry] = []
        for number in 0..<count { first.append(try RingEntry(queue: number)) }
        let made = first
        entries.withLock { $0 = made }
        guard threads.start("fuse-ring", { [self] in keeper.live(self, made) }) else { throw .resourceTemporarilyUnavailable }
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
        let reason = device.run()
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
                defer { keeper.commit(entry) }
                return entry.answer(message, count: count)
            }
        }
        return device.send(message, count: count)
    }

    func park(_ lane: Lane) {
        guard let entry = lane.giveBack() else { return }
        late.withLock { $0[entry.unique] = entry }
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

    /// A further entry, or nil if there is no memory for it.
    func newEntry(_ queue: Int) -> RingEntry? {
        guard let entry = try? RingEntry(queue: queue) else { return nil }
        entries.withLock { $0.append(entry) }
        return entry
    }

    /// Starts another thread for a queue whose threads are all busy.
    func startSpare(_ queue: RingQueue) {
        guard queue.admit() else { return }
        guard let entry = newEntry(queue.number), start(queue, .register(entry)) else {
            queue.dismiss()
            return
        }
    }

    /// Gives an entry with a request to a thread of its queue. False: there is none, and none can be started.
    func hand(_ entry: RingEntry) -> Bool {
        guard queues.indices.contains(entry.queue) else { return false }
        let queue = queues[entry.queue]
        if queue.hand(entry) { return true }
        guard queue.admit(always: true) else { return false }
        if start(queue, .serve(entry)) { return true }
        queue.dismiss()
        return false
    }

    private func start(_ queue: RingQueue, _ work: RingWork) -> Bool {
        threads.start("fuse-ring-\(queue.number)") { [self] in
            defer { queue.dismiss() }
            do throws(Errno) { try RingWorker(self, queue).live(work) } catch {
                // No ring for this thread: what it was started for goes back to the keeper.
                guard case .serve(let entry) = work else { return }
                let lane = Lane(borrowing: ())
                lane.whileCurrent {
                    if process(entry, lane) { keeper.commit(entry) }
                }
            }
        }
    }
}
