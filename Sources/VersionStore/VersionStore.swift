// A container's state: opens it, takes changes in, tells of them, closes it. Reading is in VersionStore+Reading.swift.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// Where a container's state lives and what it knows. Thread-safe.
///
/// Changes are written behind: ``commit(_:)`` queues and returns, and readers see everything committed before, because
/// they have the queue written first. What is lost with the process is the tail of an index; objects and deleted
/// entries describe themselves, and the next opening reads them.
public final class VersionStore: Sendable {
    /// How to open.
    public struct Options: Sendable {
        public var clock: any WallClock
        public var logger: Logger
        /// Changes nothing: no state is made, nothing recovered, commits are dropped.
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

    /// Which container this is, and what opening it found.
    public struct Identity: Hashable, Sendable {
        public var container: ContainerID
        public var device: VersionModel.DeviceID
        /// Grows whenever the catalog's state was lost.
        public var epoch: UInt64
        /// The host's name, at most 32 letters, digits and `-`.
        public var deviceName: String
        /// The state was made elsewhere; container and device ids are new.
        public var wasCopied: Bool
        public var wasCreated: Bool
        /// The catalog was lost and made anew from labels.
        public var rebuilt: Bool
        /// The last process that had the container open closed it.
        public var cleanShutdown: Bool
        /// Since a disorderly end nobody has looked at the live files of saves that may have been cut short.
        public var isUnsettled: Bool
    }

    public let identity: Identity
    /// The directory whose state this is, as given to `init`.
    public let root: FileDescriptor
    /// `.versionsfs`; stays open until ``close()``.
    public let state: FileDescriptor
    public let contents: ContentStore
    public let deletedArea: DeletedArea
    /// Room for records when there is none.
    public let ballast: Ballast
    /// Gives the files of this container their ``FileID``.
    public let fileIdentity: FileIdentity

    /// When the catalog last heard of anything before a disorderly end; nil if that is not known.
    let lastChange: Timestamp?
    /// When it was closed in order the last time, a little early: a file with a later `st_ctim` changed since, or was
    /// changed by us. nil if that is not known.
    public let closed: Timestamp?
    let options: Options
    let catalog: Catalog
    private let directory: StateDirectory
    private let queue: CommitQueue
    private let observers: Observers
    private let isClosed = Mutex(false)

    /// Opens the state of `root`, making it if it is missing.
    ///
    /// - Parameter root: an open descriptor of the directory, which must stay open as long as the store.
    public init(root: FileDescriptor, options: Options = Options()) throws(StoreError) {
        var opening = try StoreOpening(root: root, options: options)
        try opening.run()
        let (catalog, directory) = (opening.catalog, opening.directory)
        let observers = Observers()
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

    /// Others can tell from now on that this process only writes down the changes that it has in hand, by a lock on
    /// `staging`.
    public func noteEnding() { _ = linux_flock(directory.staging.rawValue, LOCK_SH | LOCK_NB) }

    /// Writes everything, marks an orderly end, unlocks. Nothing may be called afterwards; a second call does nothing.
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

    /// What changes in the tree from now on nobody here hears of. A file's clock runs a tick behind.
    private func noteClosing() {
        var writer = ByteWriter(capacity: 8)
        writer.fixed(SystemClock().now().advanced(byNanoseconds: -100_000_000).nanoseconds)
        try? catalog.setMeta(StoreOpening.closedKey, writer.bytes)
    }

    // MARK: Writing

    /// Records changes: one atomic transaction, in the order of the calls. Returns at once, unless so much waits that
    /// memory must be bounded (50,000 rows).
    public func commit(_ mutations: [Mutation]) {
        guard !options.readOnly else { return options.logger.error("a change of a container open for reading") }
        queue.commit(mutations)
    }

    /// Says that the current version will not be amended any more. Not in the redo log: after a kill nobody amends
    /// anything.
    public func seal(_ version: VersionID, _ flags: Version.Flags) {
        guard !options.readOnly else { return }
        queue.mark(version, flags.union(.sealed))
    }

    /// Waits until readers see everything committed before.
    public func flush() { queue.flush() }

    /// Whether the catalog cannot be written now (disk full, I/O error); changes wait in memory.
    public var isWritingStuck: Bool { queue.isStuck }

    /// Nothing more may change, because it could not be recorded: asked before each change.
    public var isWritingRefused: Bool { queue.isRefusing }

    /// Why the catalog cannot be written; nil while it can, or may soon.
    public var writingFailure: String? { queue.failure }

    // MARK: The change feed

    /// Calls `handler` with the change rows of each transaction, in order, on the writer's thread, once they are
    /// committed. The handler may read, and may commit, but must not block.
    public func observe(_ handler: @escaping @Sendable ([(sequence: UInt64, Change)]) -> Void) -> Observation {
        observers.add { rows in handler(rows.map { ($0.sequence, $0.change) }) }
    }

    // MARK: Space

    /// What the state takes on the disk.
    public var space: StateSpace {
        let (history, deleted) = (contents.shelf.space.value, deletedArea.shelf.space.value)
        return StateSpace(
            history: history.bytes, deleted: deleted.bytes, isComplete: history.isComplete && deleted.isComplete)
    }

    /// Adds up ``space`` anew.
    /// - Parameter onlyIfUnknown: where it is not complete, as after a disorderly end. If another thread is at it, the
    ///   call waits until it is done.
    public func rescanSpace(onlyIfUnknown: Bool = false) throws(StoreError) {
        do throws(Errno) {
            try contents.shelf.space.scan(contents.shelf.directory, onlyIfUnknown: onlyIfUnknown)
            try deletedArea.shelf.space.scan(deletedArea.shelf.directory, onlyIfUnknown: onlyIfUnknown)
        } catch { throw .io(error, "adding up the space") }
    }

    private func saveSpace() {
        let space = space
        var writer = ByteWriter()
        // If they are not known, those of an earlier end are no longer true either.
        if space.isComplete {
            writer.fixed(space.history)
            writer.fixed(space.deleted)
        }
        try? catalog.setMeta(StoreOpening.spaceKey, writer.bytes)
    }
}

/// Ends an observation when cancelled or released.
public final class Observation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
    /// No call begins after this returned, except one that is running.
    public func cancel() { end() }
}

/// Who listens to the change feed.
final class Observers: Sendable {
    typealias Handler = @Sendable ([Catalog.Row]) -> Void
    private struct State {
        var next = 0
        var handlers: [Int: Handler] = [:]
    }
    /// Guards the list; not held while handlers run.
    private let state = Mutex(State())

    func add(_ handler: @escaping Handler) -> Observation {
        let number = state.withLock { state in
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        return Observation { [weak self] in self?.state.withLock { _ = $0.handlers.removeValue(forKey: number) } }
    }

    func tell(_ rows: [Catalog.Row]) {
        let handlers = state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
        for handler in handlers { handler(rows) }
    }
}
