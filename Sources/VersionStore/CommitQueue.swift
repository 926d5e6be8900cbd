// Write-behind: calls wait in order until the writer thread puts them, many at once, into one transaction.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel

/// The queue and its thread. A commit costs an append; the thread gathers for 100 ms, so that a busy file system makes
/// few transactions; a reader's flush cuts that short. If the disk is full or fails, nothing is dropped: what cannot be
/// committed stays staged (readers see it) and is tried again with growing pauses.
final class CommitQueue: @unchecked Sendable {
    // Sendable because every variable is guarded by `mutex`. A pthread mutex, because Synchronization's has no
    // condition to wait on. Nothing else is locked while it is held.
    typealias Calls = ArraySlice<[VersionStore.Mutation]>

    /// Rows that may wait before a commit blocks.
    static let backlogLimit = 50_000
    /// Rows of one transaction, about.
    static let batchLimit = 4_000
    /// How many of the last calls are looked at for the row that a mark goes to.
    private static let recentCalls = 8
    private static let gatheringNanoseconds = 100_000_000
    private static let firstPauseNanoseconds = 100_000_000
    private static let longestPauseNanoseconds = 10_000_000_000

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Signalled for the writer: there is work, or haste, or the end.
    private let work = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Signalled for everyone who waits for the writer.
    private let progress = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Calls that the writer has not taken.
    private var pending: [[VersionStore.Mutation]] = []
    /// Calls that the writer has taken out, to put them into transactions one batch at a time; touched by its thread
    /// alone.
    private var taking: Calls = []
    /// Rows of `pending` and of what is taken but not committed.
    private var backlog = 0
    /// Counts of calls: given, seen by readers, committed.
    private var submitted: UInt64 = 0
    private var visible: UInt64 = 0
    private var isWriterWaiting = false
    private var isHurried = false
    private var isFailing = false
    private var isStopping = false
    private var hasStopped = false
    private var thread: pthread_t?

    private let catalog: Catalog
    private let logger: Logger
    private let publish: @Sendable ([Catalog.Row]) -> Void
    /// Room for the last that is written: until then it waits in memory and in the redo log.
    private let ballast: Ballast?

    /// Guarded by `mutex`; nil where it cannot be written, which makes a kill lose what the writer has not committed.
    private let redo: RedoLog?
    /// The number of the last call taken by the writer, whose thread alone touches it.
    private var taken: UInt64

    init(
        catalog: Catalog, redo: RedoLog?, applied: UInt64, logger: Logger, ballast: Ballast? = nil,
        publish: @escaping @Sendable ([Catalog.Row]) -> Void
    ) {
        self.catalog = catalog
        self.redo = redo
        taken = applied
        (submitted, visible) = (applied, applied)
        self.logger = logger
        self.publish = publish
        self.ballast = ballast
        pthread_mutex_init(mutex, nil)
        MonotonicTime.initialize(work)
        MonotonicTime.initialize(progress)
    }

    deinit {
        pthread_cond_destroy(work)
        pthread_cond_destroy(progress)
        pthread_mutex_destroy(mutex)
        work.deallocate()
        progress.deallocate()
        mutex.deallocate()
    }

    // MARK: For everyone

    /// Starts the writer. It keeps the queue alive until ``stop()``.
    func start() {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                // Released here: pthread_create gave it the reference taken above.
                Unmanaged<CommitQueue>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            logger.critical("cannot start the catalog's writer", metadata: ["errno": "\(code)"])
            return
        }
        locked { self.thread = thread }
    }

    /// Queues one transaction. Blocks only while the backlog is full.
    func commit(_ call: [VersionStore.Mutation]) {
        guard !call.isEmpty else { return }
        let record = RedoLog.encode(call)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while backlog >= Self.backlogLimit, !isStopping, !isOnWriter { pthread_cond_wait(progress, mutex) }
        guard !isStopping else { return logger.error("a change came after the catalog was closed") }
        pending.append(call)
        backlog += call.count
        submitted += 1
        try? redo?.append(record, number: submitted)
        wakeWriter()
    }

    /// Queues flags of a version without a record of their own: they say what any opening can tell by itself. Most
    /// often the version has not been written yet, and takes them along.
    func mark(_ version: VersionID, _ flags: Version.Flags) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isStopping else { return }
        for call in pending.indices.suffix(Self.recentCalls).reversed() {
            for row in pending[call].indices {
                guard case .version(var value) = pending[call][row], value.id == version, value.kind == .current
                else { continue }
                value.flags.formUnion(flags)
                pending[call][row] = .version(value)
                return
            }
        }
        pending.append([.flags(version, flags)])
        backlog += 1
        submitted += 1
        wakeWriter()
    }

    /// Called with `mutex` held.
    private func wakeWriter() {
        guard isWriterWaiting else { return }
        isWriterWaiting = false
        pthread_cond_signal(work)
    }

    /// Waits until readers see every call that was queued before. On the writer's own thread, and while the database
    /// cannot even be staged to, returns at once.
    func flush() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let target = submitted
        guard visible < target, !isOnWriter, thread != nil else { return }
        isHurried = true
        pthread_cond_signal(work)
        while visible < target, !isFailing, !hasStopped { pthread_cond_wait(progress, mutex) }
    }

    /// Waits until everything is committed, tries once more what failed, and ends the thread.
    func stop() {
        let thread = locked { () -> pthread_t? in
            defer { self.thread = nil }
            isStopping = true
            pthread_cond_broadcast(work)
            pthread_cond_broadcast(progress)
            return self.thread
        }
        if let thread { pthread_join(thread, nil) }
        locked { redo?.end() }
    }

    /// Whether the last transaction could not be committed.
    var isStuck: Bool { locked { isUncommitted } }
    private var isUncommitted = false

    private var isOnWriter: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    // MARK: The writer's thread

    private func run() {
        if let name = try? System.open("/proc/thread-self/comm", in: FileDescriptor(rawValue: AT_FDCWD), O_WRONLY) {
            try? System.writeAll(Array("catalog".utf8), to: name)
            System.close(name)
        }
        // Signals are for the daemon's own threads.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        // Whoever saves goes first: what waits here is in the redo log.
        linux_be_batch()
        while let batch = next() { write(batch) }
        locked {
            hasStopped = true
            pthread_cond_broadcast(progress)
        }
    }

    /// The next calls to write, at most about a batch; nil at the end.
    private func next() -> Calls? {
        if taking.isEmpty {
            let taken: [[VersionStore.Mutation]]? = locked {
                while pending.isEmpty {
                    if isStopping { return nil }
                    isWriterWaiting = true
                    pthread_cond_wait(work, mutex)
                    isWriterWaiting = false
                }
                if !isHurried, !isStopping, backlog < Self.batchLimit { wait(on: work, Self.gatheringNanoseconds) }
                return takeAll()
            }
            guard let taken else { return nil }
            taking = taken[...]
        }
        return take()
    }

    /// Called with `mutex` held: no longer than it takes to change hands, because every save waits for it meanwhile.
    private func takeAll() -> [[VersionStore.Mutation]] {
        defer {
            pending = []
            isHurried = false
        }
        return pending
    }

    /// A batch of what was taken out.
    private func take() -> Calls {
        var (rows, count) = (0, 0)
        while count < taking.count, rows < Self.batchLimit {
            rows += taking[taking.startIndex + count].count
            count += 1
        }
        let batch = taking.prefix(count)
        taking = taking.dropFirst(count)
        taken += UInt64(count)
        return batch
    }

    private func write(_ batch: Calls) {
        do {
            let rows = try catalog.stage(batch + [[applied]])
            makeRoom()
            try catalog.commitStaged()
            trimRedo()
            finished(batch, rows)
        } catch {
            logger.error("the catalog cannot be written; it is tried again", metadata: ["error": "\(error)"])
            retry(batch)
        }
    }

    /// Goes into the transaction of the calls it counts.
    private var applied: VersionStore.Mutation {
        var writer = ByteWriter(capacity: 8)
        writer.fixed(taken)
        return .setting(key: RedoLog.appliedKey, value: writer.bytes)
    }

    /// What the catalog has durably need not be in the log.
    private func trimRedo() {
        guard let redo, locked({ redo.length > RedoLog.limit || redo.isBroken }) else { return }
        catalog.makeDurable()
        do throws(Errno) {
            let fresh = try redo.fresh()
            // Dropped, and so closed, without the lock.
            let former = redo.current
            let taken = taken
            let failure: Errno? = locked {
                do throws(Errno) {
                    try redo.restart(in: fresh, with: taking + pending, from: taken + 1)
                    return nil
                } catch { return error }
            }
            withExtendedLifetime(former) {}
            if let failure { throw failure }
        } catch { logger.warning("the redo log cannot be shortened: \(error)") }
    }

    /// Sees to it that whoever commits need not wait for the disk.
    private func makeRoom() {
        guard let (file, range) = locked({ redo?.roomToMake }) else { return }
        if (try? file.makeRoom(range)) != nil { locked { file.hasRoom(range) } }
    }

    private func finished(_ batch: Calls, _ rows: [Catalog.Row], seen: Int = 0) {
        locked { (isUncommitted, isFailing) = (false, false) }
        if !rows.isEmpty { publish(rows) }
        let count = batch.reduce(0) { $0 + $1.count }
        locked {
            visible += UInt64(batch.count - seen)
            backlog -= count
            pthread_cond_broadcast(progress)
        }
    }

    /// Keeps everything staged in an open transaction, in memory, and tries to commit it until that succeeds.
    private func retry(_ first: Calls) {
        var calls = Array(first)
        var (seen, pause) = (0, Self.firstPauseNanoseconds)
        locked { isUncommitted = true }
        while true {
            // The failed commit has rolled back, so everything is staged again.
            var staged = try? catalog.stage(calls[...])
            seen = show(calls.count, seen, isStaged: staged != nil)
            let deadline = MonotonicTime.now() + pause
            while let more = moreWork(until: deadline) {
                guard var rows = staged else {
                    calls += more
                    continue
                }
                // A failure here rolls back all: the next round stages it anew.
                if let added = try? catalog.stage(more) {
                    rows += added
                    staged = rows
                } else {
                    staged = nil
                }
                calls += more
                seen = show(calls.count, seen, isStaged: staged != nil)
            }
            if locked({ isStopping }), ballast?.release() == true, staged == nil {
                staged = try? catalog.stage(calls[...])
            }
            if let rows = staged, (try? catalog.commitStaged()) != nil {
                logger.notice("the catalog can be written again", metadata: ["transactions": "\(calls.count)"])
                return finished(calls[...], rows, seen: seen)
            }
            pause = min(pause * 2, Self.longestPauseNanoseconds)
            if locked({ isStopping }) {
                return logger.error("changes are lost from the catalog", metadata: ["transactions": "\(calls.count)"])
            }
        }
    }

    /// Tells the readers who wait how far they can see now, or that they cannot; gives what is now seen.
    private func show(_ staged: Int, _ seen: Int, isStaged: Bool) -> Int {
        locked {
            isFailing = !isStaged
            if isStaged { visible += UInt64(staged - seen) }
            pthread_cond_broadcast(progress)
            return isStaged ? staged : seen
        }
    }

    /// Calls that came while the disk was full; nil when it is time to try again, or to stop.
    private func moreWork(until deadline: Int) -> Calls? {
        if taking.isEmpty {
            let taken: [[VersionStore.Mutation]]? = locked {
                while pending.isEmpty {
                    let rest = deadline - MonotonicTime.now()
                    if isStopping || rest <= 0 { return nil }
                    isWriterWaiting = true
                    wait(on: work, rest)
                    isWriterWaiting = false
                }
                return takeAll()
            }
            guard let taken else { return nil }
            taking = taken[...]
        }
        return take()
    }

    private func wait(on condition: UnsafeMutablePointer<pthread_cond_t>, _ nanoseconds: Int) {
        MonotonicTime.wait(on: condition, mutex, until: MonotonicTime.now() + nanoseconds)
    }
}
