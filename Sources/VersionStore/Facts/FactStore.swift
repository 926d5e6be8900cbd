// The state of a container in schema 2: takes facts, writes them behind, and answers questions about them.

import CLinux
import Lineage
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The facts of a container, durable and in order. Thread-safe.
///
/// Facts are written behind: ``commit(_:from:last:)`` queues and returns. Readers see everything committed before,
/// because they let the queue be written first. A kill loses nothing that was committed; a power cut loses the last
/// transactions, each as a whole.
public final class FactStore: Sendable {
    /// The options of an opening.
    public struct Options: Sendable {
        public var clock: any WallClock
        public var logger: Logger
        /// Whether the store changes nothing: it makes and recovers nothing, and drops commits.
        public var readOnly: Bool
        /// What the start times of processes count in: an identity of the machine's boot; nil for the present one.
        public var boot: [UInt8]?

        public init(
            clock: any WallClock = SystemClock(), logger: Logger = Logger(label: "versionsfs.store"),
            readOnly: Bool = false, boot: [UInt8]? = nil
        ) {
            (self.clock, self.logger, self.readOnly, self.boot) = (clock, logger, readOnly, boot)
        }
    }

    /// What was found at the opening.
    public struct Identity: Hashable, Sendable {
        /// What the identities of facts derive from, beside their numbers. A new catalog has a new one.
        public var epoch: ContainerID
        public var wasCreated: Bool
        /// Whether the catalog was missing, or damaged and is set aside: this one has what labels tell.
        public var wasLost: Bool
        /// Whether the last process closed the catalog in order.
        public var cleanShutdown: Bool
        /// Whether the facts were made from labels, or the container has other ids, and nothing has compared them with
        /// the tree since.
        public var isRebuilt: Bool
    }

    public let identity: Identity
    let ids: FactIDs
    /// Facts up to this number may have identities that do not derive from their numbers.
    let lastFormer: UInt64
    let options: Options
    let catalog: FactCatalog
    let queue: CommitQueue<FactCatalog>
    private let observers: FeedObservers
    /// Innermost; held for a look.
    let numbers: Mutex<FactNumbers>
    let subjects: SubjectNumbers
    private let isClosed = Mutex(false)
    /// nil in tests that have a catalog alone.
    private let state: ContainerState?
    /// Whether the disk was compared with the facts since a disorderly end. Until then no end is an orderly one.
    private let isSettled = Atomic(false)
    /// The time of the last commit, in nanoseconds; `min`: there was none.
    private let lastCommit = Atomic<Int64>(.min)

    /// Opens a container's catalog, and makes it if it is missing.
    ///
    /// - Parameter state: must stay open as long as the store.
    public convenience init(of state: ContainerState) throws(StoreError) {
        let options = Options(
            clock: state.options.clock, logger: state.options.logger, readOnly: state.options.readOnly)
        try self.init(in: state.directory, options: options, of: state)
        if identity.wasCreated { state.restoreEmptySpace() }
        guard identity.cleanShutdown, !state.identity.wasCopied else { return }
        let saved: [UInt8]?
        do { saved = try catalog.meta(FactOpening.spaceKey) } catch { throw CatalogConnection.storeError(error) }
        if let saved { state.restoreSpace(saved) }
    }

    /// Opens the catalog in the directory of a container's state, which the caller has locked.
    public convenience init(in directory: FileDescriptor, options: Options = Options()) throws(StoreError) {
        try self.init(in: directory, options: options, of: nil)
    }

    private init(in directory: FileDescriptor, options: Options, of state: ContainerState?) throws(StoreError) {
        let opening = try FactOpening(directory, options, of: state)
        self.options = options
        self.state = state
        identity = opening.identity
        ids = FactIDs(epoch: opening.identity.epoch)
        (catalog, lastFormer) = (opening.catalog, opening.lastFormer)
        numbers = Mutex(FactNumbers(next: opening.next))
        let (subjects, observers) = (opening.subjects, FeedObservers())
        (self.subjects, self.observers) = (subjects, observers)
        let redo = options.readOnly ? nil : try? RedoFile<FactTransaction>(in: directory)
        queue = CommitQueue(
            catalog: opening.catalog, redo: redo, applied: opening.applied, logger: options.logger,
            ballast: state?.ballast
        ) { transactions in
            subjects.noteWritten(transactions)
            observers.tell(transactions)
        }
        if !options.readOnly { queue.start() }
    }

    deinit { close() }

    /// Writes everything, marks an orderly end, and closes the catalog. No call may follow; a second call has no
    /// effect.
    public func close() {
        let isFirst = isClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        guard isFirst else { return }
        queue.stop()
        if !options.readOnly, !queue.isStuck { noteEnd() }
        catalog.connection.close()
    }

    /// The container has brought the facts to what the disk shows: this opening may end in order.
    public func settled() {
        if identity.isRebuilt, !options.readOnly {
            do {
                flush()
                try catalog.setMeta(FactOpening.rebuiltKey, nil)
            } catch { options.logger.error("the end of a rebuild could not be noted: \(error)") }
        }
        isSettled.store(true, ordering: .sequentiallyConsistent)
        if !options.readOnly { state?.emptyStaging() }
    }

    /// Without the last note, the next opening looks for more; so a failure needs no more than that.
    private func noteEnd() {
        do {
            try catalog.setMeta(FactOpening.nextKey, FactCatalog.bytes(of: numbers.withLock(\.next)))
            if let state {
                guard isSettled.load(ordering: .sequentiallyConsistent) else {
                    if identity.cleanShutdown { try catalog.setMeta(FactOpening.cleanKey, [1]) }
                    return
                }
                try synchronizeRecent(state)
                try catalog.setMeta(FactOpening.spaceKey, state.savedSpace)
                var writer = ByteWriter(capacity: 8)
                writer.fixed(state.watchedUntil.nanoseconds)
                try catalog.setMeta(FactOpening.watchedKey, writer.bytes)
            }
            try catalog.setMeta(FactOpening.cleanKey, [1])
        } catch { options.logger.error("the orderly end could not be noted: \(error)") }
    }

    /// What was saved last may be in memory alone: a power cut would leave a seemingly orderly end.
    private func synchronizeRecent(_ state: ContainerState) throws(Errno) {
        let last = lastCommit.load(ordering: .sequentiallyConsistent)
        let now = options.clock.now()
        guard last != .min, now.since(Timestamp(nanoseconds: last)) < ContainerState.dirtyNanoseconds else { return }
        try System.call { linux_synchronize_all(state.directory.rawValue) }
    }

    // MARK: Numbers

    /// Sets numbers aside for the facts of one transaction. Until ``finish(_:)``, readers of the feed stop before them.
    ///
    /// - Returns: the first.
    public func reserve(_ count: UInt64) -> UInt64 { numbers.withLock { $0.reserve(count) } }

    /// Ends what ``reserve(_:)`` began, after the commit, or without one.
    public func finish(_ first: UInt64) {
        let (former, now) = numbers.withLock { numbers in
            let former = numbers.smallestReserved
            numbers.finish(first)
            return (former, numbers.smallestReserved)
        }
        if now > former { observers.passed(former) }
    }

    /// Leaves out the numbers up to this one: something has been found that has it, as a label of a kept content.
    /// Numbers that are too large for an identity are ignored.
    public func skipNumbers(through last: UInt64) { numbers.withLock { $0.skip(through: last) } }

    // MARK: Writing

    /// Records facts: one atomic transaction, in the order of the calls. Returns at once, unless too much waits in
    /// memory (50,000 rows).
    ///
    /// - Parameters:
    ///   - first: the first of the numbers that were set aside for the facts. Facts with smaller numbers count as
    ///     published late. Without it none does.
    ///   - last: the last of those numbers that anything has, also what stays in memory: later ones are given again.
    ///     nil if it is not known.
    public func commit(_ transaction: FactTransaction, from first: UInt64? = nil, last: UInt64? = nil) {
        guard !transaction.isEmpty else { return }
        guard !options.readOnly else { return options.logger.error("a change of a catalog open for reading") }
        var transaction = transaction
        subjects.add(to: &transaction)
        lastCommit.store(options.clock.now().nanoseconds, ordering: .sequentiallyConsistent)
        let isTold = transaction.hasEvents(first: first ?? 0)
        var extra: UInt64?
        numbers.withLock { numbers in
            if let first, let last { numbers.noteUsed(first: first, last: last) }
            guard isTold else { return }
            transaction.eventNumber = first.flatMap { numbers.eventNumber(first: $0, last: last) }
            guard transaction.eventNumber == nil else { return }
            extra = numbers.reserve(0)
            transaction.eventNumber = extra
        }
        transaction.telling = FactTables.Telling(
            first: first ?? 0, last: transaction.eventNumber ?? transaction.lastNumber)
        queue.commit(transaction)
        subjects.noteQueued(transaction)
        if let extra { finish(extra) }
    }

    /// Waits until readers see everything committed before.
    public func flush() { queue.flush() }

    /// Makes everything committed before durable.
    ///
    /// - Returns: whether it is. It is not while the catalog cannot be written.
    @discardableResult
    public func synchronize() -> Bool {
        // Other threads' transactions may just be staged. Each flush waits for them.
        for _ in 0..<100 {
            guard queue.flush(), !queue.isStuck else { return false }
            if catalog.isMadeDurable() { return true }
        }
        return false
    }

    /// Whether the catalog cannot be written now (disk full, I/O error); transactions wait in memory.
    public var isWritingStuck: Bool { queue.isStuck }

    /// Whether no further change is allowed, because it could not be recorded: checked before each change.
    public var isWritingRefused: Bool { queue.isRefusing }

    /// The reason why the catalog cannot be written; nil while it can, or may soon.
    public var writingFailure: String? { queue.failure }

    /// Calls `handler` with the transactions, in the order of their commits, on the writer's thread, when they are in
    /// the catalog. The handler may commit, but must not block. Its questions get no answer: what waits behind these
    /// transactions would be missing.
    public func observe(_ handler: @escaping @Sendable ([FactTransaction]) -> Void) -> Observation {
        observers.facts.add(handler)
    }

    /// Calls `handler` when ``feed(after:limit:)`` may tell more, on any thread, which may hold locks. The handler must
    /// return at once.
    public func observeFeed(_ handler: @escaping @Sendable () -> Void) -> Observation { observers.add(handler) }
}
