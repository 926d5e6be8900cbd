// A container whose requests are decided by the engine.

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Puts the parts of a container over the engine together, and hands each request to the one that answers it. The
/// daemon uses it in trials alone.
public final class EngineContainer: ServedContainer {
    public let state: ContainerState
    public let options: ContainerOptions
    let recorded: RecordedTree
    let browsing: EngineBrowsing
    private let serving: Serving
    private let directories: DirectoryRequests
    private let metadata: MetadataRequests
    private let names: NameRequests
    private let files: FileRequests
    private let keeper: EngineKeeper
    private let timers = Scheduler()
    /// How often what the catalog and the disk tell as well is let go.
    private static let rest: Int64 = 5_000_000_000

    /// Serves the tree of a container, whose state stays the caller's to close after ``close()``.
    public init(_ state: ContainerState, _ facts: FactStore, _ options: ContainerOptions) throws(StoreError) {
        (self.state, self.options) = (state, options)
        let survivors = Survivors()
        if !facts.identity.cleanShutdown, !options.isReadOnly { survivors.find() }
        let tree: LiveTree
        do throws(Errno) {
            tree = try LiveTree(
                root: state.root, store: state, servesOthers: options.servesOthers,
                heldDirectories: options.heldDirectories, survivors: survivors)
        } catch { throw .io(error, "the container's root") }
        let callers = Callers(boundaries: options.settings.actorBoundaries)
        let policy = Policy(options.settings)
        let past = FactHistory(facts, of: state)
        serving = Serving(
            nodes: tree.nodes, callers: callers, policy: policy, timers: timers, logger: options.logger)
        directories = DirectoryRequests(tree, passthrough: serving.passthrough, store: state)
        metadata = MetadataRequests(
            tree, callers: callers, files: serving.files, kernel: serving.passthrough.kernel)
        let inReach = FilesInReach()
        let kept = KeptObjects(
            Custodian(state, nodes: tree.nodes, logger: options.logger), facts: facts, files: inReach, policy)
        let programs = ProgramNumbers(facts, callers: callers, clock: options.clock)
        let unwatched = try Self.unwatched(facts)
        let settled = try Self.settled(tree, state, facts, kept, survivors, options)
        facts.settled()
        let recorder = StoreRecorder(facts, files: inReach)
        let quiet = QuietNames(policy)
        let engine = Engine(
            Engine.Parts(
                files: inReach, kept: kept, recorder: recorder, clock: options.clock, marks: settled.marks,
                unwatched: unwatched, kin: { programs.kin(of: $0) }, audiences: { programs.audiences(of: $0) },
                identity: { [container = state.identity.container] in DerivedIdentity.item($0, in: container) },
                quiet: { quiet.quiet($0) }),
            names: tree.names)
        recorded = RecordedTree(
            tree, facts: facts, engine: engine, files: inReach, callers: callers, programs: programs,
            ChangedBelow(
                tree: tree, facts: facts, engine: engine, files: inReach, kept: kept, logger: options.logger))
        quiet.connect(recorded)
        let versioned = VersionedNames(recorded, policy)
        let coordination = EngineCoordination(
            recorded, serving: serving, past, of: state)
        let removal = EngineRemoval(
            engine: engine, kept: kept, passthrough: serving.passthrough, use: DeletedUse(past, of: state))
        let space = EngineSpace(
            removal, past,
            Space.Surroundings(
                state: state, root: tree.root, policy: policy,
                retention: try EngineSpace.retention(facts, options.clock),
                chores: Scheduler(isPatient: true), clock: options.clock, logger: options.logger,
                isReadOnly: options.isReadOnly))
        let staleWrites = StaleWrites(recorded, policy)
        let databases = EngineDatabases(
            recorded, versioned, serving: serving, kept: kept, space.space, options)
        inReach.connect(awaitsCapture: { [weak databases] file in databases?.awaitsCapture(file) ?? false })
        names = NameRequests(recorded, versioned, coordination, staleWrites, databases, kept: kept)
        files = FileRequests(
            recorded, versioned, coordination, staleWrites, store: state,
            UnseenWriters(
                recorded, versioned, serving: serving, kept: kept, survivors: survivors, databases, options),
            databases, space, logger: options.logger)
        var told = past
        // Appends within a minute go on with a version without a handle of it.
        told.mayChange = { [weak engine] in $0.isAppended || engine?.scene.hasSaver(of: $0.number) ?? false }
        browsing = EngineBrowsing(names, removal, told, state, logger: options.logger)
        staleWrites.connect(browsing)
        recorder.connect { [weak coordination] facts in coordination?.origin(of: facts) }
        keeper = EngineKeeper(files, browsing.told, recorded, options.logger)
        inReach.connect { [weak recorded] file in recorded?.find(file) }
        callers.whenEnded { [weak programs] in programs?.ended($0) }
        if facts.identity.wasCreated, !options.isReadOnly { Beginning(facts).note(options.clock.now()) }
        metadata.connect(keeper)
        inReach.connect(isStillWritten: { [weak unseen = files.unseen] in unseen?.isStillWritten($0) ?? false })
        finish(settled)
    }

    public var facts: FactStore { recorded.facts }
    public var finder: Finder { Finder(browsing) }
    public func makeBrowser() -> Browser { Browser(of: browsing) }
    var work: EngineOperations { EngineOperations(ground: browsing.ground, requests: self) }
    public var operations: any OperatedContainer { work }

    /// The path of the control socket, which programs find by an attribute of any file.
    public var socketPath: String? {
        get { browsing.socketPath }
        set { browsing.told.socketPath = newValue }
    }

    /// Begins the work in the background.
    public func start() {
        timers.start()
        serving.start()
        names.versioned.readIgnoreFile()
        space.start()
        files.start(isSettled: options.isReadOnly || facts.identity.cleanShutdown)
        rest()
    }

    private func rest() {
        timers.after(Self.rest) { [weak self] in
            guard let self else { return }
            files.engine.forgetIdle(beyond: Engine.mostIdle)
            // What the kernel writes by itself takes room unseen.
            if !options.isReadOnly { _ = space.isNearlyFull }
            rest()
        }
    }

    /// The container saves what programs have open, and closes its facts.
    public func close() {
        timers.end()
        serving.end()
        space.end()
        files.end()
        facts.close()
    }

    var space: EngineSpace { files.space }

    /// The file of a node; nil if the kernel does not know it.
    func fileID(_ node: UInt64) -> FileID? { recorded.tree.nodes[node]?.file }

    // MARK: Requests

    public func refuseIfReadOnly() throws(Errno) {
        if options.isReadOnly || facts.isWritingRefused { throw .readOnlyFileSystem }
    }

    public func connect(_ kernel: any KernelSide) { serving.passthrough.kernel.connect(kernel) }

    public func lookup(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno) -> Found? {
        try recorded.tree.lookup(parent: parent, name: name)
    }

    public func forget(_ id: UInt64, lookups: UInt64) {
        if let node = recorded.tree.forget(id, lookups: lookups) { serving.passthrough.dropForgotten(node) }
    }

    public func makeNode(
        _ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, device: dev_t
    ) throws(Errno) -> Found {
        try names.makeNode(caller, parent: parent, name: name, mode: mode, device: device)
    }

    public func makeDirectory(_ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t) throws(Errno) -> Found {
        try names.makeDirectory(caller, parent: parent, name: name, mode: mode)
    }

    public func makeSymlink(_ caller: Caller, parent: UInt64, name: [UInt8], target: [UInt8]) throws(Errno) -> Found {
        try names.makeSymlink(caller, parent: parent, name: name, target: target)
    }

    public func link(_ caller: Caller, node: UInt64, parent: UInt64, name: [UInt8]) throws(Errno) -> Found {
        try names.link(caller, node: node, parent: parent, name: name)
    }

    public func unlink(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno) {
        try names.unlink(caller, parent: parent, name: name)
    }

    public func removeDirectory(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno) {
        try names.removeDirectory(caller, parent: parent, name: name)
    }

    public func rename(
        _ caller: Caller, parent: UInt64, name: [UInt8], newParent: UInt64, newName: [UInt8], flags: UInt32
    ) throws(Errno) {
        try names.rename(
            caller, parent: parent, name: name, newParent: newParent, newName: newName, flags: flags)
    }
}

// MARK: Attributes

extension EngineContainer {
    public func readLink(_ caller: Caller, node: UInt64) throws(Errno) -> [UInt8] { try metadata.readLink(node) }

    public func attributes(_ caller: Caller, node: UInt64, handle: UInt64?) throws(Errno) -> FileAttributes {
        try metadata.attributes(node, handle: handle)
    }

    public func setAttributes(
        _ caller: Caller, node: UInt64, handle: UInt64?, _ edit: AttributeEdit
    ) throws(Errno) -> FileAttributes {
        try metadata.setAttributes(caller, node, handle: handle, edit)
    }

    public func extendedAttribute(_ caller: Caller, node: UInt64, name: [UInt8]) throws(Errno) -> [UInt8] {
        try metadata.extendedAttribute(node, name: name)
    }

    public func extendedAttributes(_ caller: Caller, node: UInt64) throws(Errno) -> [UInt8] {
        try metadata.extendedAttributes(caller, node)
    }

    public func setExtendedAttribute(
        _ caller: Caller, node: UInt64, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) {
        try metadata.setExtendedAttribute(caller, node, name: name, value: value, flags: flags)
    }

    public func removeExtendedAttribute(_ caller: Caller, node: UInt64, name: [UInt8]) throws(Errno) {
        try metadata.removeExtendedAttribute(caller, node, name: name)
    }

    public func willWriteUnseen(_ caller: Caller, node: UInt64) { metadata.willWriteUnseen(caller, node) }

    public func statistics() throws(Errno) -> statvfs { try space.space.counts.statistics() }

    public func control(
        node: UInt64, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8] {
        try metadata.control(node, command: command, input: input, outputSize: outputSize)
    }
}

// MARK: Files and directories

extension EngineContainer {
    public func open(
        _ caller: Caller, node: UInt64, flags: Int32, waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply? {
        try files.open(caller, node: node, flags: flags, waiting: waiting)
    }

    public func create(
        _ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, flags: Int32
    ) throws(Errno) -> Creation {
        try files.create(caller, parent: parent, name: name, mode: mode, flags: flags)
    }

    public func createTemporary(
        _ caller: Caller, parent: UInt64, mode: mode_t, flags: Int32
    ) throws(Errno) -> Creation {
        try files.createTemporary(caller, parent: parent, mode: mode, flags: flags)
    }

    public func read(
        node: UInt64, handle: UInt64, into buffer: UnsafeMutableRawBufferPointer, offset: off_t
    ) throws(Errno) -> Int {
        try files.read(node: node, handle: handle, into: buffer, offset: offset)
    }

    public func write(
        _ caller: Caller, node: UInt64, handle: UInt64, _ bytes: UnsafeRawBufferPointer, offset: off_t, flags: Int32?
    ) throws(Errno) -> Int {
        try files.write(caller, handle: handle, bytes, offset: offset, flags: flags)
    }

    public func flush(_ caller: Caller, handle: UInt64) { files.flush(caller, handle: handle) }
    public func release(node: UInt64, handle: UInt64) { files.release(node: node, handle: handle) }

    public func synchronize(node: UInt64, handle: UInt64, dataOnly: Bool) throws(Errno) {
        try files.synchronize(node: node, handle: handle, dataOnly: dataOnly)
    }

    public func allocate(
        _ caller: Caller, node: UInt64, handle: UInt64, mode: Int32, offset: off_t, length: off_t
    ) throws(Errno) {
        try files.allocate(caller, handle: handle, mode: mode, offset: offset, length: length)
    }

    public func seek(node: UInt64, handle: UInt64, offset: off_t, whence: Int32) throws(Errno) -> off_t {
        try files.seek(node: node, handle: handle, offset: offset, whence: whence)
    }

    public func copyRange(
        _ caller: Caller, from source: CopyEnd, to target: CopyEnd, length: Int
    ) throws(Errno) -> Int {
        try files.copyRange(caller, from: source, to: target, length: length)
    }

    public func openDirectory(_ caller: Caller, node: UInt64) throws(Errno) -> UInt64 { try directories.open(node) }
    public func mayCacheListing(_ node: UInt64) -> Bool { directories.mayCacheListing(node) }

    public func list(
        _ caller: Caller, node: UInt64, handle: UInt64, offset: off_t, withAttributes: Bool,
        take: (ListedEntry) -> Bool
    ) throws(Errno) {
        try directories.list(handle, offset: offset, withAttributes: withAttributes, take: take)
    }

    public func releaseDirectory(node: UInt64, handle: UInt64) { directories.release(handle) }
    public func synchronizeDirectory(node: UInt64) throws(Errno) { try directories.synchronize(node) }
}
