// Write-behind: calls wait in order until the writer thread puts many of them into one transaction.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// A catalog that transactions are written to.
protocol CommitTarget: Sendable {
    associatedtype Call: RedoCall
    /// What listeners hear of the calls, once they are committed.
    associatedtype Told: Sendable

    /// Applies calls in an open transaction, without a commit: readers see them. After an error nothing staged is left.
    /// - Parameter applied: the number of the last call, which is recorded with them.
    func stage(_ calls: ArraySlice<Call>, applied: UInt64) throws -> [Told]
    /// Commits the staged calls. After an error nothing staged is left.
    func commitStaged() throws
    /// Commits the staged calls, or stages them again before a reader looks: it has seen them.
    ///
    /// - Parameter calls: all that are staged.
    /// - Returns: nil after the commit; else its failure, and what is told of the calls if they could be staged.
    func commitOrStage(_ calls: ArraySlice<Call>, applied: UInt64) -> (failure: any Error, told: [Told]?)?
    /// Writes the database's log into the database, which synchronizes both.
    func makeDurable()
    /// Called between transactions, with the number of rows of the last one.
    func settleLog(_ rows: Int)
}

/// The queue and its thread. A commit costs one append. The thread gathers for 100 ms, so that a busy file system needs
/// few transactions; a reader's flush ends that early. If the disk is full or fails, no call is dropped: uncommitted
/// calls stay staged (readers see them), and the commit is repeated with growing pauses.
final class CommitQueue<Target: CommitTarget>: @unchecked Sendable {
    // Sendable because `mutex` guards every variable. A pthread mutex, because Synchronization's has no condition
    // variable. No other lock is taken under it.
    typealias Call = Target.Call
    typealias Calls = ArraySlice<Call>

    /// The number of waiting rows at which a commit blocks.
    static var backlogLimit: Int { 50_000 }
    /// The approximate number of rows of one transaction.
    static var batchLimit: Int { 4_000 }
    /// SQLITE_FULL
    static var fullCode: Int32 { 13 }
    private static var gatheringNanoseconds: Int { 100_000_000 }
    static var firstPauseNanoseconds: Int { 100_000_000 }
    static var longestPauseNanoseconds: Int { 10_000_000_000 }
    /// The time after which changes are refused, if the catalog fails for another reason than a full disk.
    static var patienceNanoseconds: Int { 2_000_000_000 }

    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Signaled for the writer: there is work, or a hurry, or the end.
    let work = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Signaled for all threads that wait for the writer.
    let progress = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Calls that the writer has not taken.
    var pending: [Call] = []
    /// Calls that the writer has taken and puts into transactions one batch at a time; used by its thread alone.
    var taking: Calls = []
    /// The rows of `pending` and of taken, uncommitted calls.
    var backlog = 0
    /// Counts of calls: submitted, visible to readers, committed.
    fileprivate var submitted: UInt64 = 0
    var visible: UInt64 = 0
    var isWriterWaiting = false
    private var isHurried = false
    var isFailing = false
    var isStopping = false
    private var hasStopped = false
    private var thread: pthread_t?

    let catalog: Target
    let logger: Logger
    private let publish: @Sendable ([Target.Told]) -> Void
    /// Room for the last rows: until then they wait in memory and in the redo log.
    let ballast: Ballast?

    /// Guarded by `mutex`; nil if it cannot be written. Without it a kill loses the uncommitted calls.
    private let redo: RedoFile<Call>?
    /// The number of the last call that the writer has taken; used by its thread alone.
    var taken: UInt64

    init(
        catalog: Target, redo: RedoFile<Call>?, applied: UInt64, logger: Logger, ballast: Ballast? = nil,
        publish: @escaping @Sendable ([Target.Told]) -> Void
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

    // MARK: For all threads

    /// Starts the writer. It keeps the queue alive until ``stop()``.
    func start() {
        let context = Unmanaged.passRetained(ThreadBody { self.run() })
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                // Released here: pthread_create gave it the reference taken above.
                Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
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
    func commit(_ call: Call) {
        guard call.countOfRows > 0 else { return }
        let record = RedoFile<Call>.encode(call)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // While the catalog cannot be written, this wait would hold locks: ``isRefusing`` prevents that.
        while backlog >= Self.backlogLimit, !isStopping, !isUncommitted, !isOnWriter {
            pthread_cond_wait(progress, mutex)
        }
        guard !isStopping else { return logger.error("a change came after the catalog was closed") }
        pending.append(call)
        backlog += call.countOfRows
        submitted += 1
        try? redo?.append(record, number: submitted)
        wakeWriter()
    }

    /// Called with `mutex` held.
    fileprivate func wakeWriter() {
        guard isWriterWaiting else { return }
        isWriterWaiting = false
        pthread_cond_signal(work)
    }

    /// Waits until readers see every call queued before. Returns at once on the writer's own thread, and while the
    /// database cannot even stage.
    ///
    /// - Returns: whether readers see every call.
    @discardableResult
    func flush() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let target = submitted
        if visible >= target { return true }
        guard !isOnWriter, thread != nil else { return false }
        isHurried = true
        pthread_cond_signal(work)
        while visible < target, !isFailing, !hasStopped { pthread_cond_wait(progress, mutex) }
        return visible >= target
    }

    /// Waits until all calls are committed, repeats failed ones once, and ends the thread.
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
    var isUncommitted = false

    /// Whether no more changes can be recorded, so that they must be refused before they are made. Rows of running
    /// changes are still accepted.
    var isRefusing: Bool { refuses.load(ordering: .relaxed) }
    let refuses = Atomic<Bool>(false)

    /// The reason of the refusal; nil while changes are accepted.
    var failure: String? { locked { reason } }
    var reason: String?

    private var isOnWriter: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    func locked<Result>(_ body: () -> Result) -> Result {
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
        // Saving threads have precedence: the waiting calls are in the redo log.
        linux_be_batch()
        while let batch = next() { write(batch) }
        locked {
            hasStopped = true
            pthread_cond_broadcast(progress)
        }
    }

    /// The next calls to write, about one batch; nil at the end.
    private func next() -> Calls? {
        if taking.isEmpty {
            let taken: [Call]? = locked {
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

    /// Called with `mutex` held, very briefly, because every save waits for it meanwhile.
    func takeAll() -> [Call] {
        defer {
            pending = []
            isHurried = false
        }
        return pending
    }

    /// A batch of the taken calls.
    func take() -> Calls {
        var (rows, count) = (0, 0)
        while count < taking.count, rows < Self.batchLimit {
            rows += taking[taking.startIndex + count].countOfRows
            count += 1
        }
        let batch = taking.prefix(count)
        taking = taking.dropFirst(count)
        taken += UInt64(count)
        return batch
    }

    private func write(_ batch: Calls) {
        do { return try put(batch) } catch {
            logger.error("the catalog cannot be written; it is tried again", metadata: ["error": "\(error)"])
            retry(batch, error)
        }
    }

    private func put(_ batch: Calls) throws {
        let told = try catalog.stage(batch, applied: taken)
        makeRoom()
        try catalog.commitStaged()
        trimRedo()
        catalog.settleLog(batch.reduce(0) { $0 + $1.countOfRows })
        finished(batch, told)
    }

    /// Drops calls from the log that the catalog has durably.
    private func trimRedo() {
        guard let redo, locked({ redo.length > RedoFile<Call>.limit || redo.isBroken }) else { return }
        catalog.makeDurable()
        do throws(Errno) {
            let fresh = try redo.fresh()
            // Released, and so closed, without the lock.
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

    /// Allocates room in advance, so that commits need not wait for the disk.
    private func makeRoom() {
        guard let (file, range) = locked({ redo?.roomToMake }) else { return }
        if (try? file.makeRoom(range)) != nil { locked { file.hasRoom(range) } }
    }

    func finished(_ batch: Calls, _ told: [Target.Told], seen: Int = 0) {
        locked { (isUncommitted, isFailing, reason) = (false, false, nil) }
        refuses.store(false, ordering: .relaxed)
        if !told.isEmpty { publish(told) }
        let count = batch.reduce(0) { $0 + $1.countOfRows }
        locked {
            visible += UInt64(batch.count - seen)
            backlog -= count
            pthread_cond_broadcast(progress)
        }
    }

    func wait(on condition: UnsafeMutablePointer<pthread_cond_t>, _ nanoseconds: Int) {
        MonotonicTime.wait(on: condition, mutex, until: MonotonicTime.now() + nanoseconds)
    }
}

extension CommitQueue where Target == Catalog {
    /// The number of last calls that are searched for the row of a mark.
    private static var recentCalls: Int { 8 }

    /// Queues flags of a version without a record of their own: every opening can find them out again. Usually the
    /// version is not written yet, and takes them along.
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
}

/// What a thread does: a function for C cannot be of a generic type.
private final class ThreadBody {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}
