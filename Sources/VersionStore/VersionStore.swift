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
    public typealias Options = ContainerState.Options

    /// The container's identity, and the findings of its opening.
    @dynamicMemberLookup
    public struct Identity: Hashable, Sendable {
        var state: ContainerState.Identity
        public var wasCreated: Bool
        /// Whether the catalog was lost and rebuilt from labels.
        public var rebuilt: Bool
        /// Whether the last process closed the container in order.
        public var cleanShutdown: Bool
        /// Whether the live files of interrupted saves have not been checked since a disorderly end.
        public var isUnsettled: Bool

        init(
            _ state: ContainerState.Identity, wasCreated: Bool, rebuilt: Bool, cleanShutdown: Bool, isUnsettled: Bool
        ) {
            (self.state, self.wasCreated, self.rebuilt) = (state, wasCreated, rebuilt)
            (self.cleanShutdown, self.isUnsettled) = (cleanShutdown, isUnsettled)
        }

        public subscript<Value>(dynamicMember path: KeyPath<ContainerState.Identity, Value>) -> Value {
            state[keyPath: path]
        }
    }

    public let identity: Identity
    /// What the container has beside its catalog.
    public let base: ContainerState
    public var root: FileDescriptor { base.root }
    public var state: FileDescriptor { base.directory }
    public var contents: ContentStore { base.contents }
    public var deletedArea: DeletedArea { base.deletedArea }
    public var ballast: Ballast { base.ballast }
    public var fileIdentity: FileIdentity { base.fileIdentity }

    /// The time of the catalog's last change before a disorderly end; nil if it is unknown.
    let lastChange: Timestamp?
    /// The time of the last orderly close, a little early: a file with a later `st_ctim` has changed since, or the
    /// daemon itself changed it. nil if it is unknown.
    public let closed: Timestamp?
    var options: Options { base.options }
    let catalog: Catalog
    private let queue: CommitQueue<Catalog>
    private let observers: Observers<Catalog.Row>
    private let isClosed = Mutex(false)

    /// Opens the state of `root`, and makes it if it is missing.
    ///
    /// - Parameter root: an open descriptor of the directory, which must stay open as long as the store.
    public convenience init(root: FileDescriptor, options: Options = Options()) throws(StoreError) {
        var opening = try StoreOpening(root: root, options: options)
        do throws(StoreError) { try opening.run() } catch {
            opening.base.close()
            throw error
        }
        self.init(opening)
    }

    /// Opens the catalog of format 1 in a state that is open already, and stays so if it cannot be opened.
    public convenience init(over state: ContainerState) throws(StoreError) {
        var opening = try StoreOpening(over: state)
        try opening.run()
        self.init(opening)
    }

    private init(_ opening: StoreOpening) {
        let observers = Observers<Catalog.Row>()
        (base, catalog) = (opening.base, opening.catalog)
        self.observers = observers
        identity = opening.identity
        lastChange = opening.lastChange
        closed = opening.closed
        let redo = base.options.readOnly ? nil : try? RedoLog(in: base.directory)
        queue = CommitQueue(
            catalog: catalog, redo: redo, applied: opening.applied, logger: base.options.logger, ballast: base.ballast
        ) { observers.tell($0) }
        if !base.options.readOnly { queue.start() }
    }

    deinit { close() }

    public func noteEnding() { base.noteEnding() }
    public func noteDetached() { base.noteDetached() }

    /// Writes everything, marks an orderly end, and unlocks. No call may follow; a second call has no effect.
    public func close() {
        let isFirst = closeCatalog()
        if isFirst { base.close() }
    }

    /// Closes the catalog for good; the state stays open, for another catalog.
    ///
    /// - Returns: false if it was closed already.
    @discardableResult
    public func closeCatalog() -> Bool {
        let isFirst = isClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        guard isFirst else { return false }
        queue.stop()
        if !options.readOnly {
            try? catalog.setMeta(StoreOpening.spaceKey, base.savedSpace)
            try? synchronizeRecent()
            noteClosing()
            if !queue.isStuck { try? catalog.setMeta(StoreOpening.cleanKey, [1]) }
        }
        catalog.close()
        return true
    }

    /// Records the time: later changes of the tree are not seen.
    private func noteClosing() {
        var writer = ByteWriter(capacity: 8)
        writer.fixed(base.watchedUntil.nanoseconds)
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

    public var space: StateSpace { base.space }
    public func rescanSpace(onlyIfUnknown: Bool = false) throws(StoreError) {
        try base.rescanSpace(onlyIfUnknown: onlyIfUnknown)
    }
}
