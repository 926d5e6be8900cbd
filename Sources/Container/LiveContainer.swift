// A container in use: the live tree with its documents, versions and deletions. Everything that the mount, the control
// socket and the background work do to a container goes through here.

import CLinux
import Coordination
import Glibc
import Logging
import SystemPackage
import Synchronization
import VersionModel
import VersionStore

/// File semantics without a kernel: what each request does to the tree below and to the history kept of it. The file is
/// only the frame; each family of operations is an extension in a file of its own.
///
/// Locks, in the order they may be taken: the names of the tree, a document's state, the node table, then the small
/// tables (descriptors, open files, openings, tombstones, observations), under which nothing else is locked.
public final class LiveContainer: Sendable {
    public typealias Options = ContainerOptions

    /// How long observations may wait to be worked in.
    private static let notesNanoseconds: Int64 = 200_000_000
    private static let clockKey = "clock"
    /// The number of the root's node.
    public static let rootNode = Node.rootID

    public let store: VersionStore
    public let options: Options
    let tree: LiveTree
    let documents: DocumentIndex
    let tombstones = Tombstones()
    let orphans = Orphans()
    let survivors = Survivors()
    let pendingHashes = PendingHashes()
    let callers: Callers
    let observers: Observers
    let time: ContainerClock
    let recordedDirectories: RecordedDirectories
    let deletionGroups = DeletionGroups()
    let policy: Policy
    /// For what is due soon and quickly done.
    let timers = Scheduler()
    /// For what may take long: hashing, thinning.
    let chores = Scheduler(isPatient: true)
    let serving: Serving
    let directoryRequests: DirectoryRequests
    let metadata: MetadataRequests
    let custodian: Custodian
    let purgeables: CatalogPurgeables
    let space: Space
    let databases: Databases
    let past: Past
    let mappedFiles: MappedFiles
    /// Whether the end of tombstones is scheduled.
    let expiring = RankedMutex(false)
    /// Opened for writing, and not looked at since.
    let newlyOpened = RankedMutex<[UInt64]>([])
    /// The documents that callers are resolving now.
    let resolving = RankedMutex<Set<ItemID>>([])
    private let socket = RankedMutex<String?>(nil)

    /// Serves the tree below `root`, which stays the caller's to close after ``close()``.
    public init(root: FileDescriptor, store: VersionStore, options: Options) throws(StoreError) {
        self.store = store
        self.options = options
        do throws(Errno) {
            tree = try LiveTree(
                root: root, store: store.base, servesOthers: options.servesOthers,
                heldDirectories: options.heldDirectories, survivors: survivors)
        } catch { throw .io(error, "the container's root") }
        let nodes = tree.nodes
        documents = DocumentIndex(
            store: store, nodes: nodes, names: tree.names, recorded: try store.recordedDirectories())
        time = ContainerClock(wall: options.clock, last: try store.setting(Self.clockKey))
        callers = Callers(boundaries: options.settings.actorBoundaries)
        observers = Observers(callers)
        recordedDirectories = RecordedDirectories(try store.directories())
        policy = Policy(options.settings)
        serving = Serving(
            nodes: nodes, callers: callers, policy: policy, timers: timers, logger: options.logger)
        directoryRequests = DirectoryRequests(tree, passthrough: serving.passthrough, store: store.base)
        custodian = Custodian(store.base, former: store, nodes: nodes, logger: options.logger)
        let around = Space.Surroundings(
            state: store.base, root: tree.root, policy: policy, retention: Self.retention(store, options.clock),
            chores: chores, clock: options.clock, logger: options.logger, isReadOnly: options.isReadOnly)
        let removal = VersionRemoval(
            store: store, custodian: custodian, documents: documents, clock: options.clock)
        purgeables = CatalogPurgeables(
            versions: removal,
            deleted: DeletedRemoval(
                store: store, custodian: custodian, versions: removal, nodes: nodes, tombstones: tombstones,
                passthrough: serving.passthrough, clock: options.clock),
            names: tree.names, observers: observers, pendingHashes: pendingHashes)
        space = Space(around, of: purgeables)
        metadata = MetadataRequests(
            tree, callers: callers, files: serving.files, kernel: serving.passthrough.kernel)
        databases = Databases(
            images: DatabaseImages(state: store.base, policy: policy, space: space), tree: tree, serving: serving,
            chores: chores, clock: options.clock, logger: options.logger)
        past = Past(store: store, documents: documents, clock: options.clock)
        mappedFiles = MappedFiles(
            nodes: nodes, serving: serving,
            patience: options.unansweredSeconds * 1_000_000_000, logger: options.logger)
        survivors.whenLookedUp { [weak self] node in self?.noteSurvivor(node) }
        metadata.connect(self)
        databases.connect(self)
        mappedFiles.connect(self)
        if store.identity.wasCreated, !options.isReadOnly { past.noteAdoption() }
        guard store.identity.isUnsettled else { return }
        survivors.find()
        try CrashRecovery(self).run()
        finishReturn()
    }

    /// Begins the background work.
    public func start() {
        timers.start()
        serving.start()
        mappedFiles.start()
        chores.start()
        if store.identity.isUnsettled { chores.after(0) { [weak self] in self?.lookForSurvivors() } }
        observers.books.whenNoted { [weak self] in
            self?.chores.after(Self.notesNanoseconds) { [weak self] in self?.observers.books.workIn() }
        }
        documents.whenCrowded { [weak self] in
            self?.chores.after(0) { [weak self] in self?.removeUnusedDocuments() }
        }
        if !options.isReadOnly { space.upkeep.begin() }
        if let name = Self.ignoreFileName { noteIgnoreFile(name, in: nodes.root) }
    }

    /// Ends the container's use: what is open is sealed, and the store closed.
    public func close() {
        timers.end()
        serving.end()
        mappedFiles.end()
        pendingHashes.end()
        chores.end()
        for file in serving.files.all where file.isWriter { seal(file) }
        if !options.isReadOnly { databases.captureAll() }
        mappedFiles.settleAll()
        if !options.isReadOnly { store.commit([.setting(key: Self.clockKey, value: time.bytes)]) }
        store.close()
    }

    /// Tells the container of the mount that serves it.
    public func connect(_ kernel: any KernelSide) { serving.passthrough.kernel.connect(kernel) }

    /// Where the control socket is, once there is one.
    public var socketPath: String? {
        get { socket.withLock { $0 } }
        set { socket.withLock { $0 = newValue } }
    }

    /// Claims and presenters of clients.
    public var coordinator: Coordinator { serving.coordinator }

    var now: Timestamp { options.clock.now() }
    var logger: Logger { options.logger }
}
