// Copies whose data is on its way to the disk, so that later changes do not become durable before it.

import CLinux
import Glibc
import SystemPackage

/// A thread that synchronizes waits for the copies begun before. A copy begun meanwhile is awaited at once. So a save
/// does not wait while no thread synchronizes: even the writing is started by a thread of this object a moment later,
/// because the start may take as long as the disk needs to accept a request. Lock order: last; not held during waits.
final class Arrivals: @unchecked Sendable {
    // Sendable because `mutex` guards all mutable state. A pthread mutex, because the thread waits for work.

    /// The number of copies that stay open: by then the earlier ones have long arrived. At twice this number, the
    /// thread that adds one waits for it.
    private static let limit = 256
    /// The delay of a write that no thread waits for. A program that saves again meanwhile truncates a file without
    /// blocks, which is free. The release of blocks may take a discard, and the disk makes that wait.
    private static let leisureNanoseconds: Int = 200_000_000

    /// A copy, open as long as a thread uses it.
    private final class Copy {
        let file: FileDescriptor

        init?(of copy: FileDescriptor) {
            file = FileDescriptor(rawValue: fcntl(copy.rawValue, F_DUPFD_CLOEXEC, 0))
            guard file.rawValue >= 0 else { return nil }
        }

        /// Another opening of a file, which does not count among its writers.
        init?(reading file: FileDescriptor) {
            let path = "/proc/self/fd/\(file.rawValue)"
            guard let opened = try? System.open(path, in: file, O_RDONLY) else { return nil }
            self.file = opened
        }

        deinit { System.close(file) }

        /// Whether it has lost its name; it then takes room as long as it is open.
        var isRemoved: Bool {
            var status = stat()
            return fstat(file.rawValue, &status) == 0 && status.st_nlink == 0
        }

    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let work = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let arrived = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Oldest first; the writes of the last ``unstarted`` are not started.
    private var writing: [Copy] = []
    private var unstarted = 0
    /// Files whose write should start soon and that no thread waits for, oldest first, with the file's number and the
    /// time.
    private var hasty: [(file: UInt64, copy: Copy, due: Int)] = []
    private var synchronizing = 0
    /// The numbers of the batches that a thread waits for now, and the next number.
    private var batches: Set<Int> = []
    private var nextBatch = 0
    private var isIdle = false
    private var isOver = false
    private var thread: pthread_t?
    private let startWriting: @Sendable (Int32) -> Void
    private let awaitWriting: @Sendable (Int32) -> Void

    /// - Parameters:
    ///   - startWriting: starts to write a file's data to the disk, without a wait.
    ///   - awaitWriting: waits until the data is on the disk and in the file system's journal.
    init(
        startWriting: @escaping @Sendable (Int32) -> Void = { _ = linux_start_writing($0) },
        awaitWriting: @escaping @Sendable (Int32) -> Void = { _ = linux_await_writing($0) }
    ) {
        self.startWriting = startWriting
        self.awaitWriting = awaitWriting
        pthread_mutex_init(mutex, nil)
        MonotonicTime.initialize(work)
        pthread_cond_init(arrived, nil)
    }

    deinit {
        pthread_cond_destroy(work)
        pthread_cond_destroy(arrived)
        arrived.deallocate()
        pthread_mutex_destroy(mutex)
        work.deallocate()
        mutex.deallocate()
    }

    /// Takes a new copy, whose data is written from now on.
    func began(_ copy: FileDescriptor) {
        guard let own = Copy(of: copy) else {
            awaitWriting(copy.rawValue)
            return
        }
        let (mustWait, mustWake) = locked {
            if synchronizing > 0 || isOver || unstarted >= Self.limit || !startThread() { return (true, false) }
            writing.append(own)
            unstarted += 1
            return (false, takeIdle())
        }
        if mustWait { finish(own) }
        if mustWake { pthread_cond_signal(work) }
    }

    /// Starts the write of a file's data soon. Beyond the limit the oldest ones start early. If the thread is too slow,
    /// the calling thread starts one: ext4 does the same when such a file is closed.
    /// - Parameter number: identifies the file.
    func hasten(_ file: FileDescriptor, number: UInt64) {
        let (mustWake, surplus) = locked { () -> (Bool, Copy?) in
            guard !isOver, !hasty.contains(where: { $0.file == number }), startThread(), let own = Copy(reading: file)
            else { return (false, nil) }
            hasty.append((number, own, MonotonicTime.now() + Self.leisureNanoseconds))
            let surplus = hasty.count > 2 * Self.limit ? hasty.removeFirst().copy : nil
            // For one of several the thread knows the time already.
            return ((hasty.count == 1 || hasty.count > Self.limit) && takeIdle(), surplus)
        }
        if mustWake { pthread_cond_signal(work) }
        if let surplus { startWriting(surplus.file.rawValue) }
    }

    private func finish(_ copy: Copy) { awaitWriting(copy.file.rawValue) }

    /// Runs a call that makes files durable, after all copies begun before, including those that another thread waits
    /// for.
    func synchronizing<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        let (due, batch) = locked {
            synchronizing += 1
            let due = takeAll()
            return (due, due.isEmpty && batches.isEmpty ? nil : beginBatch())
        }
        defer { locked { synchronizing -= 1 } }
        if let batch {
            for copy in due { finish(copy) }
            locked {
                endBatch(batch)
                while batches.contains(where: { $0 < batch }) { pthread_cond_wait(arrived, mutex) }
            }
        }
        return try body()
    }

    /// Called with `mutex` held.
    private func beginBatch() -> Int {
        nextBatch += 1
        batches.insert(nextBatch)
        return nextBatch
    }

    /// Called with `mutex` held.
    private func endBatch(_ batch: Int) {
        batches.remove(batch)
        pthread_cond_broadcast(arrived)
    }

    /// The number of copies that may not have arrived, because no thread has waited for them.
    var unawaited: Int { locked { writing.count } }

    /// Closes copies that were removed meanwhile, so that their room is free. They are not needed on the disk, so this
    /// does not wait.
    func closeRemoved() {
        // Closed after `mutex` is released.
        _ = locked { () -> [Copy] in
            var removed: [Copy] = []
            func isLeft(_ copy: Copy) -> Bool {
                if copy.isRemoved { removed.append(copy) } else { return true }
                return false
            }
            let waiting = writing.suffix(unstarted).filter(isLeft)
            writing = writing.dropLast(unstarted).filter(isLeft) + waiting
            unstarted = waiting.count
            hasty = hasty.filter { isLeft($0.copy) }
            return removed
        }
    }

    /// Ends the thread, and waits for all copies; a later copy is awaited at once.
    func end() {
        let thread = locked {
            isOver = true
            pthread_cond_signal(work)
            defer { self.thread = nil }
            return self.thread
        }
        if let thread { pthread_join(thread, nil) }
        for copy in locked(takeAll) { finish(copy) }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Called with `mutex` held.
    private func takeAll() -> [Copy] {
        defer { (writing, unstarted) = ([], 0) }
        return writing
    }

    /// Whether the thread must be woken. The caller wakes it after it releases `mutex`, which the thread needs at once.
    /// Called with it held.
    private func takeIdle() -> Bool {
        defer { isIdle = false }
        return isIdle
    }

    // MARK: The thread

    /// Called with `mutex` held. The thread keeps this alive until ``end()``.
    private func startThread() -> Bool {
        if thread != nil { return true }
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Arrivals>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            return false
        }
        self.thread = thread
        return true
    }

    private func run() {
        // Signals are for the daemon's own threads.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        // The thread that started this one may be bound to one processor, and has precedence there.
        linux_be_aside("arrivals")
        while let (begun, surplus, batch) = next() {
            for copy in begun { startWriting(copy.file.rawValue) }
            guard let batch else { continue }
            for copy in surplus { finish(copy) }
            locked { endBatch(batch) }
        }
    }

    /// Waits for copies; nil at the end. Copies beyond the limit are closed.
    private func next() -> (begun: [Copy], surplus: [Copy], batch: Int?)? {
        locked { () -> (begun: [Copy], surplus: [Copy], batch: Int?)? in
            var due = takeDue()
            while unstarted == 0, due.isEmpty {
                if isOver { return nil }
                isIdle = true
                if let first = hasty.first {
                    MonotonicTime.wait(on: work, mutex, until: first.due)
                } else {
                    pthread_cond_wait(work, mutex)
                }
                due = takeDue()
            }
            isIdle = false
            let begun = Array(writing.suffix(unstarted)) + due
            unstarted = 0
            let surplus = Array(writing.prefix(max(0, writing.count - Self.limit)))
            writing.removeFirst(surplus.count)
            return (begun, surplus, surplus.isEmpty ? nil : beginBatch())
        }
    }

    /// Called with `mutex` held.
    private func takeDue() -> [Copy] {
        guard !hasty.isEmpty else { return [] }
        let now = MonotonicTime.now()
        // Files beyond the limit start early.
        let ripe = hasty.firstIndex { $0.due > now } ?? hasty.count
        let count = isOver ? hasty.count : max(ripe, hasty.count - Self.limit)
        defer { hasty.removeFirst(count) }
        return hasty.prefix(count).map(\.copy)
    }
}
