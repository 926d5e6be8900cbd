// A container's state: opens it, takes changes, reports them, closes it. Queries are in VersionStore+Reading.swift.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The state of a container. Thread-safe.
///
/// Changes are written behind: ``commit(_:)`` queues and returns. Readers see everything committed before, because they
/// let the queue be written first. The end of a process loses at most the end of an index; objects and deleted entries
/// describe themselves, and the next opening reads them.
public final class VersionStore: Sendable {
    /// The options of an opening.
    public struct Options: Sendable {
        public var clock: any WallClock
        public var logger: Logger
        /// Whether the store changes nothing: it makes no state, recovers nothing, and drops commits.
        public var readOnly: Bool

        public init(
            clock: any WallClock = SystemClock(), logger: Logger = Logger(label: "versionsfs.store"),
            readOnly: Bool = false
        ) {
            self.clock = clock
            self.logger = logger
            self.readOnly = readOnly
        }
    }

    /// The container's identity, and the findings of its opening.
    public struct Identity: Hashable, Sendable {
        public var container: ContainerID
        public var device: VersionModel.DeviceID
        /// Grows with each loss of the catalog.
        public var epoch: UInt64
        /// The host's name, at most 32 letters, digits and `-`.
        public var deviceName: String
        /// Whether the state was made elsewhere; container and device ids are then new.
        public var wasCopied: Bool
        public var wasCreated: Bool
        /// Whether the catalog was lost and rebuilt from labels.
        public var rebuilt: Bool
        /// Whether the last process closed the container in order.
        public var cleanShutdown: Bool
        /// Whether the live files of interrupted saves have not been checked since a disorderly end.
        public var isUnsettled: Bool
    }

    public let identity: Identity
    /// The directory of the state, as given to `init`.
    public let root: FileDescriptor
    /// `.versionsfs`; stays open until ``close()``.
    public let state: FileDescriptor
    public let contents: ContentStore
    public let deletedArea: DeletedArea
    /// Reserved space for records on a full disk.
    public let ballast: Ballast
    /// Gives the files of this container their ``FileID``.
    public let fileIdentity: FileIdentity

    /// The time of the catalog's last change before a disorderly end; nil if it is unknown.
    let lastChange: Timestamp?
    /// The time of the last orderly close, a little early: a file with a later `st_ctim` has changed since, or the
    /// daemon itself changed it. nil if it is unknown.
    public let closed: Timestamp?
    let options: Options
    let catalog: Catalog
    private let directory: StateDirectory
    private let queue: CommitQueue<Catalog>
    private let observers: Observers<Catalog.Row>
    private let isClosed = Mutex(false)
    /// When the mount has left its place, in nanoseconds; `max`: it has not, as far as is known.
    private let detached = Atomic<Int64>(.max)

    /// Opens the state of `root`, and makes it if it is missing.
    ///
    /// - Parameter root: an open descriptor of the directory, which must stay open as long as the store.
    public init(root: FileDescriptor, options: Options = Options()) throws(StoreError) {
        var opening = try StoreOpening(root: root, options: options)
        try opening.run()
        let (catalog, directory) = (opening.catalog, opening.directory)
        let observers = Observers<Catalog.Row>()
        self.root = root
        self.options = options
        self.catalog = catalog
        self.directory = directory
        self.observers = observers
        identity = opening.identity
        lastChange = opening.lastChange
        closed = opening.closed
        state = directory.state
        fileIdentity = opening.fileIdentity
        contents = opening.contents
        deletedArea = opening.deletedArea
        let ballast = Ballast(in: directory.state, readOnly: options.readOnly)
        self.ballast = ballast
        let redo = options.readOnly ? nil : try? RedoLog(in: directory.state)
        queue = CommitQueue(
            catalog: catalog, redo: redo, applied: opening.applied, logger: options.logger, ballast: ballast
        ) { observers.tell($0) }
        if !options.readOnly { queue.start() }
    }

    deinit { close() }

    /// Marks, by a lock on `staging`, that this process only writes its last changes, for other processes.
    public func noteEnding() { _ = linux_flock(directory.staging.rawValue, LOCK_SH | LOCK_NB) }

    /// Says that the container's facts are in another catalog from now on: after a crash this one, which lacks them,
    /// must put nothing in order.
    public func leaveToFacts() throws(StoreError) {
        queue.flush()
        noteClosing()
        do {
            try catalog.setMeta(StoreOpening.unsettledKey, [0])
            try catalog.setMeta(StoreOpening.cleanKey, [1])
        } catch { throw CatalogConnection.storeError(error) }
    }

    /// Writes everything, marks an orderly end, and unlocks. No call may follow; a second call has no effect.
    public func close() {
        let isFirst = isClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        guard isFirst else { return }
        queue.stop()
        contents.close()
        if !options.readOnly {
            saveSpace()
            try? synchronizeRecent()
            noteClosing()
            if !queue.isStuck { try? catalog.setMeta(StoreOpening.cleanKey, [1]) }
        }
        catalog.close()
        directory.close()
    }

    /// Tells that the mount has left its place: from now on the tree below may change unseen, while programs that are
    /// still in the mount keep it at work.
    public func noteDetached() {
        detached.compareExchange(
            expected: .max, desired: SystemClock().now().nanoseconds, ordering: .sequentiallyConsistent)
    }

    /// Records the time: later changes of the tree are not seen. A file's clock runs a tick behind.
    private func noteClosing() {
        var writer = ByteWriter(capacity: 8)
        let time = min(SystemClock().now().nanoseconds, detached.load(ordering: .sequentiallyConsistent))
        writer.fixed(Timestamp(nanoseconds: time).advanced(byNanoseconds: -100_000_000).nanoseconds)
        try? catalog.setMeta(StoreOpening.closedKey, writer.bytes)
    }

    // MARK: Writing

    /// Records changes: one atomic transaction, in the order of the calls. Returns at once, unless too much waits in
    /// memory (50,000 rows).
    public func commit(_ mutations: [Mutation]) {
        guard !options.readOnly else { return options.logger.error("a change of a container open for reading") }
        queue.commit(mutations)
    }

    /// Marks the current version as complete. Not in the redo log, because after a kill no process amends a version.
    public func seal(_ version: VersionID, _ flags: Version.Flags) {
        guard !options.readOnly else { return }
        queue.mark(version, flags.union(.sealed))
    }

    /// Waits until readers see everything committed before.
    public func flush() { queue.flush() }

    /// Whether the catalog cannot be written now (disk full, I/O error); changes wait in memory.
    public var isWritingStuck: Bool { queue.isStuck }

    /// Whether no further change is allowed, because it could not be recorded: checked before each change.
    public var isWritingRefused: Bool { queue.isRefusing }

    /// The reason why the catalog cannot be written; nil while it can, or may soon.
    public var writingFailure: String? { queue.failure }

    // MARK: The change feed

    /// Calls `handler` with the change rows of each transaction, in order, on the writer's thread, after the commit.
    /// The handler may read and commit, but must not block.
    public func observe(_ handler: @escaping @Sendable ([(sequence: UInt64, Change)]) -> Void) -> Observation {
        observers.add { rows in handler(rows.map { ($0.sequence, $0.change) }) }
    }

    // MARK: Space

    /// The state's disk usage.
    public var space: StateSpace {
        let (history, deleted) = (contents.shelf.space.value, deletedArea.shelf.space.value)
        return StateSpace(
            history: history.bytes, deleted: deleted.bytes, isComplete: history.isComplete && deleted.isComplete)
    }

    /// Computes ``space`` again.
    /// - Parameter onlyIfUnknown: whether to do it only for incomplete numbers, as after a disorderly end. The call
    ///   waits for another thread's scan.
    public func rescanSpace(onlyIfUnknown: Bool = false) throws(StoreError) {
        do throws(Errno) {
            try contents.shelf.space.scan(contents.shelf.directory, onlyIfUnknown: onlyIfUnknown)
            try deletedArea.shelf.space.scan(deletedArea.shelf.directory, onlyIfUnknown: onlyIfUnknown)
        } catch { throw .io(error, "adding up the space") }
    }

    private func saveSpace() {
        let space = space
        var writer = ByteWriter()
        // With unknown numbers, those of an earlier end are no longer true either.
        if space.isComplete {
            writer.fixed(space.history)
            writer.fixed(space.deleted)
        }
        try? catalog.setMeta(StoreOpening.spaceKey, writer.bytes)
    }
}
