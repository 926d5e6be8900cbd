// The requests that open, create and close files, over the engine.

import CLinux
import Coordination
import Glibc
import Lineage
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Opens files, and tells the engine what programs do through the handles.
final class FileRequests: Sendable {
    let recorded: RecordedTree
    let versioned: VersionedNames
    let coordination: EngineCoordination
    let store: ContainerState
    let staleWrites: StaleWrites
    let logger: Logger
    private let open: OpenWriters
    let unseen: UnseenWriters
    let databases: EngineDatabases
    let space: EngineSpace

    var tree: LiveTree { recorded.tree }
    var serving: Serving { coordination.serving }
    var engine: Engine { recorded.engine }

    init(
        _ recorded: RecordedTree, _ versioned: VersionedNames, _ coordination: EngineCoordination,
        _ staleWrites: StaleWrites, store: ContainerState, _ unseen: UnseenWriters, _ databases: EngineDatabases,
        _ space: EngineSpace, logger: Logger
    ) {
        (self.recorded, self.versioned, self.coordination) = (recorded, versioned, coordination)
        (self.staleWrites, self.databases, self.space) = (staleWrites, databases, space)
        (self.store, self.logger, self.unseen) = (store, logger, unseen)
        open = OpenWriters(coordination.serving, recorded.engine, databases, logger)
    }

    /// Begins to look after files that stay open or mapped.
    /// - Parameter isSettled: whether no program may have files open from before.
    func start(isSettled: Bool) {
        open.start()
        unseen.mapped.start()
        if !isSettled { unseen.mapped.watches.after(0) { [weak unseen] in unseen?.lookForSurvivors() } }
    }

    /// What programs have open or mapped becomes a version.
    func end() {
        open.end()
        unseen.mapped.end()
        for file in serving.files.all where file.isWriter { release(node: file.node.id, handle: file.id) }
        unseen.settleAll()
        if !recorded.facts.isWritingRefused { databases.captures.captureAll() }
    }

    // MARK: Opening

    func openForReading(_ caller: Caller, _ node: Node, _ flags: Int32) throws(Errno) -> OpenReply {
        if tree.isLive(node) {
            try recorded.noteRead(of: node, by: try recorded.program(caller, isOpening: true))
        } else if tree.nodes.lostName(of: node) != nil, !serving.hasLookedAgain(caller) {
            // Another file may have its name, as one that was merged: the kernel looks that up again.
            throw Errno(rawValue: ESTALE)
        }
        serving.hasOpened(caller)
        return try serving.admitReader(
            of: node, flags, nil,
            openPath: { () throws(Errno) in
                try tree.names.reading { () throws(Errno) in try tree.ownFile(of: node).directory }
            },
            openForReading: { () throws(Errno) in
                try tree.names.reading { () throws(Errno) in try tree.openOwnByName(node, flags: O_RDONLY) }
            })
    }

    func openForWriting(
        _ writing: OpenForWriting, _ descriptor: SharedDescriptor, by program: RecordedTree.Program
    ) throws(Errno) -> OpenReply {
        let (node, caller, flags) = (writing.node, writing.caller, writing.flags)
        guard tree.isLive(node), let name = tree.nodes.location(node).name else { throw Errno(rawValue: ESTALE) }
        guard let entry = try recorded.entry(name.name, in: name.parent),
            entry.stat.key == (try Backing.stat(descriptor.raw)).key
        else { throw Errno(rawValue: ESTALE) }
        if try versioned.isLeftOut(entry) { return try openPlainly(caller, node, flags, descriptor, writing) }
        let at = try recorded.adopt(entry, descriptor)
        defer { recorded.files.letGo(at.file) }
        if flags & O_TRUNC != 0 { databases.captureBeforeLoss(entry) }
        if writing.mayReplace { try staleWrites.refuse(program, at: at.place) }
        let file = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: descriptor, flags: flags,
            requester: program.requester, claim: writing.claim, coordinated: writing.coordinated,
            isReplacing: flags & O_TRUNC != 0)
        let isUnseen = passes(flags, entry.stat)
        let event = Event.open(program.number, at.place, file.number, Self.mode(flags), isUnseen: isUnseen)
        try admit(file, event, [at], caller)
        if flags & O_TRUNC != 0 { try recorded.noteMade(name.name, in: name.parent, by: program) }
        // msync(2) of a mapping, and writes with O_SYNC, make the file durable without a request.
        if file.mayBeMapped || flags & O_DSYNC != 0 { store.contents.settleUnseen() }
        return serve(file, isMediated: !isUnseen)
    }

    /// Has the rules know a handle, which has its file in reach from now on, and empties the file if it is opened for
    /// that.
    func admit(
        _ file: OpenFile, _ event: Event, _ found: [FileAtPlace] = [], _ caller: Caller
    ) throws(Errno) {
        let (node, descriptor) = (file.node, file.descriptor)
        recorded.files.hold(node.file, descriptor)
        do throws(Errno) {
            try engine.perform(event, found) { () throws(Errno) in
                if file.flags & O_TRUNC != 0 {
                    try Backing.check { ftruncate(descriptor.raw, 0) }
                    store.contents.takeOverWriting(of: FileDescriptor(rawValue: descriptor.raw))
                    if caller.dropsSetID { SetIDRule.drop(on: descriptor.raw, by: caller) }
                }
                node.admit(file)
            }
        } catch {
            recorded.files.letGo(node.file)
            throw error
        }
    }

    /// Whether the kernel may write by itself, past the daemon. What the handle may overwrite is kept at its opening
    /// then, which must not take long. Appends come to the daemon, and so do writes that take set-id bits away.
    private func passes(_ flags: Int32, _ stat: FileStat?) -> Bool {
        guard serving.passthrough.isInUse, flags & O_APPEND == 0, !space.isNearlyFull else { return false }
        guard let stat else { return true }
        return !stat.hasSetID
            && (flags & O_TRUNC != 0 || stat.size <= FileLooks.hashedAtOnce || store.contents.canReflink)
    }

    /// A file of which no versions are made.
    func openPlainly(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ descriptor: SharedDescriptor,
        _ writing: OpenForWriting? = nil
    ) throws(Errno) -> OpenReply {
        let hasSetID = try Backing.stat(descriptor.raw).hasSetID
        if flags & O_TRUNC != 0 {
            try Backing.check { ftruncate(descriptor.raw, 0) }
            if caller.dropsSetID { SetIDRule.drop(on: descriptor.raw, by: caller) }
        }
        let file = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: descriptor, flags: flags,
            requester: recorded.callers.requester(caller), claim: writing?.claim, coordinated: writing?.coordinated)
        node.admit(file)
        return serve(
            file, isMediated: node.isForeign || hasSetID || flags & O_APPEND != 0 || space.isNearlyFull)
    }

    /// Where the kernel reads for programs by itself, the daemon alone reads through these descriptors, to hash or to
    /// copy a file: those reads leave no access time.
    private var quietly: Int32 { serving.passthrough.isInUse ? linux_O_NOATIME : 0 }

    /// A descriptor of the file below that can do what the flags ask and be read by us.
    func openBelow(_ node: Node, _ flags: Int32) throws(Errno) -> SharedDescriptor {
        let kept = flags & (O_SYNC | O_DSYNC) | quietly
        return try tree.names.reading { () throws(Errno) in
            do throws(Errno) { return try tree.openOwnByName(node, flags: kept | O_RDWR) } catch {
                guard error == .permissionDenied else { throw error }
                return try tree.openOwnByName(node, flags: kept | flags & O_ACCMODE)
            }
        }
    }

    func serve(_ file: OpenFile, isMediated: Bool) -> OpenReply {
        let (reply, isPassed) = serving.admitWriter(file, isMediated: isMediated) { () throws(Errno) in
            try tree.names.reading { () throws(Errno) in try tree.ownFile(of: file.node).directory }
        }
        if isPassed, file.mayBeMapped { serving.passthrough.endAttributes(of: file.node) }
        open.watch(file)
        if coordination.coordinator.isInUse, file.coordinated == nil { coordination.enroll(file) }
        return reply
    }

    static func mode(_ flags: Int32) -> AccessMode {
        if flags & O_TRUNC != 0 { return .replace }
        return flags & O_APPEND != 0 ? .append : .write
    }

    // MARK: Creating

    func create(
        _ caller: Caller, parent: UInt64, name bytes: [UInt8], mode: mode_t, flags: Int32
    ) throws(Errno) -> Creation {
        let parent = try tree.node(parent)
        let name = try tree.name(bytes, in: parent, forChange: true)
        let program = try recorded.program(caller)
        let new = NewFile(parent: parent, name: name, mode: mode, flags: flags, caller: caller, program: program)
        do throws(Errno) {
            let made = try create(new)
            serving.hasOpened(caller)
            return made
        } catch {
            guard error == .fileExists, flags & O_EXCL == 0 else { throw error }
            // First the kernel looks the name up again.
            guard serving.hasLookedAgain(caller) else { throw Errno(rawValue: ESTALE) }
        }
        guard let found = try tree.lookup(parent: parent.id, name: bytes) else { throw Errno(rawValue: ESTALE) }
        guard let reply = try open(caller, node: found.node, flags: flags & ~(O_CREAT | O_EXCL)) else {
            throw .ioError
        }
        return Creation(found: found, reply: reply)
    }

    /// A file that is about to be made.
    private struct NewFile {
        var parent: Node
        var name: FileName
        var mode: mode_t
        var flags: Int32
        var caller: Caller
        var program: RecordedTree.Program
    }

    private func create(_ new: NewFile) throws(Errno) -> Creation {
        var made: (found: Found, file: OpenFile)?
        if try versioned.isLeftOut(new.name, in: new.parent) { return try createPlainly(new) }
        try recorded.adoptDirectory(new.parent)
        let place = try recorded.freePlace(new.name, in: new.parent)
        let handle = serving.files.newHandle()
        let mode: AccessMode = new.flags & O_APPEND != 0 ? .append : .replace
        let isMadeUp = recorded.isMadeUp(new.name, in: new.parent, by: new.program.requester)
        let isUnseen = passes(new.flags, nil) && new.mode & 0o6000 == 0
        let event = { (file: FileID) in
            Event.create(
                new.program.number, place, file, HandleNumber(UInt32(truncatingIfNeeded: handle)), mode,
                isMadeUp: isMadeUp, isUnseen: isUnseen)
        }
        let plan = try engine.performMaking(event) { (_) throws(Errno) in
            let (found, file) = try make(new, handle)
            made = (found, file)
            recorded.files.hold(file.node.file, file.descriptor)
            return file.node.file
        }
        guard var made else { throw .ioError }
        recorded.publish(new.name, in: new.parent, by: new.program.requester, if: isMadeUp)
        coordination.noteReturn(by: plan, to: new.name, in: new.parent)
        try recorded.noteMade(new.name, in: new.parent, by: new.program)
        let reply = serve(made.file, isMediated: !isUnseen)
        // The kernel does not know the file yet, so it cannot be told later.
        if made.file.mayBeMapped { made.found.attributes.valid = Validity.none }
        return Creation(found: made.found, reply: reply)
    }

    /// A file without versions.
    private func createPlainly(_ new: NewFile) throws(Errno) -> Creation {
        var (found, file) = try engine.room.retrying { (_) throws(Errno) in
            try tree.names.writing { (_) throws(Errno) in try make(new, serving.files.newHandle()) }
        }
        let isMediated = new.parent.isForeign || new.mode & 0o6000 != 0 || new.flags & O_APPEND != 0
        let reply = serve(file, isMediated: isMediated || space.isNearlyFull)
        if file.mayBeMapped { found.attributes.valid = Validity.none }
        return Creation(found: found, reply: reply)
    }

    /// Makes a file and its handle. The names are held alone.
    private func make(_ new: NewFile, _ handle: UInt64) throws(Errno) -> (Found, OpenFile) {
        let directory = try tree.descriptor(of: new.parent)
        let kept = new.flags & (O_SYNC | O_DSYNC | O_NONBLOCK) | quietly
        let made = try new.caller.making { () throws(Errno) in
            try Backing.open(
                new.name.bytes, in: directory.raw, flags: kept | O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                mode: new.mode & 0o7777)
        }
        let descriptor = SharedDescriptor(made, flags: kept | O_RDWR)
        do throws(Errno) {
            let stat = try tree.adopt(new.name, in: directory, for: new.caller, mode: new.mode, file: descriptor)
            let found = tree.found(stat, as: Node.Name(parent: new.parent, name: new.name))
            let node = try tree.node(found.node)
            node.mayHaveCapability.store(false, ordering: .releasing)
            // An open that replaces it waits until it is written, as for a program that has truncated it.
            let claim = new.flags & O_APPEND != 0 || new.parent.isForeign
                ? nil : serving.arbiter.created(
                    node, new.program.requester.actor,
                    sharing: new.flags & O_ACCMODE == O_RDWR && new.flags & O_TRUNC == 0)
            let file = OpenFile(
                id: handle, node: node, descriptor: descriptor,
                flags: new.flags & ~(O_CREAT | O_EXCL | O_TRUNC) | (new.flags & O_ACCMODE == O_RDONLY ? O_RDWR : 0),
                requester: new.program.requester, claim: claim, isReplacing: new.flags & O_APPEND == 0)
            node.admit(file)
            return (found, file)
        } catch {
            // Whatever is asked again finds what it found before.
            try? Backing.unlink(new.name.bytes, in: directory.raw)
            throw error
        }
    }

    /// O_TMPFILE: a file without a name; it becomes a document when it is linked.
    func createTemporary(_ caller: Caller, parent: UInt64, mode: mode_t, flags: Int32) throws(Errno) -> Creation {
        let parent = try tree.node(parent)
        let directory = try tree.names.reading { () throws(Errno) in try tree.descriptor(of: parent) }
        // As ext4 answers in a directory that has been removed.
        if parent.id != Node.rootID, tree.nodes.location(parent).name == nil { throw .notPermitted }
        let made = try caller.making { () throws(Errno) in
            try Backing.open(
                path: ".", in: directory.raw, flags: linux_O_TMPFILE | O_RDWR | flags & O_EXCL, mode: mode & 0o7777)
        }
        let descriptor = SharedDescriptor(made)
        try tree.adoptNameless(descriptor, in: directory, for: caller)
        let stat = try Backing.stat(descriptor.raw)
        let node = tree.nodes.internNameless(
            stat.key, file: tree.fileID(stat), type: stat.type, held: descriptor)
        let file = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: descriptor,
            flags: flags & ~(O_CREAT | O_EXCL | linux_O_TMPFILE), requester: recorded.callers.requester(caller),
            claim: nil)
        node.admit(file)
        let found = Found(node: node.id, attributes: tree.attributes(stat, of: node), nameValid: Validity.none)
        return Creation(found: found, reply: serve(file, isMediated: true))
    }

    /// Whether the engine knows a handle: one of a file without a name is not, until that is linked.
    func isKnown(_ file: OpenFile) -> Bool { !file.node.isForeign && engine.scene.file(of: file.number) != nil }
}

extension OpenFile {
    /// Its number for the rules.
    var number: HandleNumber { HandleNumber(UInt32(truncatingIfNeeded: id)) }
}
