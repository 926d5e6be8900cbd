// Opening files: what is observed, what is kept before a writer may change
// it, and how the kernel is to serve the handle.

import CLinux
import Coordination
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// How the kernel is to serve an open file; the mount translates it.
public struct OpenReply: Sendable {
    public var handle: UInt64
    /// Not 0: reads and writes go to this registration, except where `isMediated`.
    public var backing: Int32 = 0
    /// Reads and writes come to us although the file is registered.
    public var isMediated = false
    /// The kernel's pages of the file are still good.
    public var keepsCache = false
    /// close(2) need not tell us.
    public var needsNoFlush = false
}

/// The answer to a creation.
public struct Creation: Sendable {
    public var found: Found
    public var reply: OpenReply
}

extension LiveContainer {
    /// Opens a file that exists. `flags` as in open(2), O_TRUNC included.
    /// - Parameter waiting: answers later if the open has to wait for others that
    ///   replace the file; without one it never waits.
    /// - Returns: nil if it waits.
    public func open(
        _ caller: Caller, node id: UInt64, flags: Int32, waiting: (any WaitingOpen)? = nil
    ) throws(Errno) -> OpenReply? {
        let node = try node(id)
        // The kernel opens pipes and devices by itself: a pipe would hold up a worker until its other end is opened.
        guard node.isRegular else { throw Errno(rawValue: ENXIO) }
        guard isLive(node) else { return try openDisplaced(caller, node, flags, waiting) }
        if flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 {
            return try openForWriting(caller, node, flags, waiting)
        }
        do throws(Errno) {
            guard policy.settings.plainReads == .wait, coordinator.isInUse, let waiting else {
                return try openForReading(caller, node, flags)
            }
            return try readCoordinated(caller, node, flags, waiting)
        } catch {
            guard isGone(error, node) else { throw error }
            return try openPlain(caller, node, flags)
        }
    }

    /// Whether an open failed because another save took the name meanwhile: the
    /// caller opens what it looked up, as POSIX has it.
    private func isGone(_ error: Errno, _ node: Node) -> Bool {
        (error == .noSuchFileOrDirectory || error.rawValue == ESTALE) && !isLive(node)
    }

    func openForReading(_ caller: Caller, _ node: Node, _ flags: Int32) throws(Errno) -> OpenReply {
        if let actor = callers.actor(thread: caller.thread) {
            let (item, places, version) = try observed(node)
            let counts = version.map { observers.read($0, of: item, at: places, by: actor, now: now) } ?? true
            readShared(node, besides: item, by: actor)
            if counts { hear(.read(places, actor)) }
        }
        serving.hasOpened(caller)
        return try serve(reader: node, flags)
    }

    /// The version that a reader sees. A file that was never touched gets no document by that, because a program that
    /// reads a big tree would fill the memory: its identities derive from its attributes until it is changed.
    private func observed(_ node: Node) throws(Errno) -> (ItemID, [Place], VersionID?) {
        let known = knownDocument(of: node)
        if known == nil, let (name, seen) = nodes.onlyName(node), !node.openings.state.withLock(\.maybeMapped) {
            let item = DerivedIdentity.item(node.file, in: store.identity.container)
            return (item, [name.place], VersionID(derivedFrom: item, size: seen.size, modified: seen.modified))
        }
        let document: Document
        if let known, known.wasVerified.load(ordering: .acquiring) {
            document = known
        } else {
            document = try self.document(of: node, try stat(node))
        }
        return document.state.withLock { ($0.item, $0.places, $0.current?.id) }
    }

    private func openForWriting(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply? {
        let requester = requester(caller, isOpening: true)
        let (descriptor, document): (SharedDescriptor, Document)
        do throws(Errno) {
            descriptor = try openBelow(node, flags)
            if let verified = verifiedDocument(of: node) {
                document = verified
            } else {
                document = try self.document(of: node, try Backing.stat(descriptor.raw))
            }
        } catch {
            guard isGone(error, node) else { throw error }
            return try openDisplaced(caller, node, flags, waiting)
        }
        let writing = serving.writing(node, descriptor, flags, caller, requester)
        let path = writing.coordinated == nil ? nil : nodes.path(node)
        let access = path.map { Access(path: $0, item: document.item, kind: .writing(.updating)) }
        return try open(writing, of: document, as: access, waiting)
    }

    /// Goes on with an open for writing once it is its turn: with the file that it has found, if that has lost its name
    /// while it waited. Others may have waited for the same file, so it keeps its claim.
    func goOn(_ writing: OpenForWriting, _ document: Document) throws(Errno) -> OpenReply {
        do throws(Errno) {
            if !writing.isDisplaced { return try begin(writing, document) }
            try reachDisplaced(writing.node)
            return try openPlain(writing.caller, writing.node, writing.flags, writing.claim, isAdmitted: true)
        } catch {
            guard isGone(error, writing.node) else { throw error }
            return try openPlain(
                writing.caller, writing.node, writing.flags, writing.claim, coordinated: writing.coordinated)
        }
    }

    private func begin(_ writing: OpenForWriting, _ document: Document) throws(Errno) -> OpenReply {
        let (node, descriptor, flags) = (writing.node, writing.descriptor, writing.flags)
        let file = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: descriptor, flags: flags,
            requester: writing.requester, claim: writing.claim, coordinated: writing.coordinated,
            isReplacing: flags & O_TRUNC != 0)
        if flags & O_TRUNC != 0 { databases.captureAhead(node) }
        let isMediated = try document.state.withLock { state throws(Errno) in
            let isMediated = try prepare(&state, writing, document)
            node.admit(file)
            if let place = nodes.location(node).name?.place {
                hear(.opened(place, node.file, handle: file.id, flags: flags, writing.requester))
            }
            return isMediated
        }
        serving.hasOpened(writing.caller)
        // msync(2) of a mapping, and writes with O_SYNC, make the file durable without asking us.
        if flags & O_ACCMODE == O_RDWR || flags & O_DSYNC != 0 { store.contents.settleUnseen() }
        let reply = serve(writer: file, isMediated: isMediated || space.trimming.isNearlyFull)
        // The name may have gone meanwhile, and the last of the others have settled the file.
        if !isLive(node) { adoptWriter(of: node, hasChanged: true) }
        return reply
    }

    /// Keeps what the writer may overwrite, and truncates if it asked for that.
    /// - Returns: whether its writes must come to us, because what they overwrite is not kept yet.
    private func prepare(
        _ state: inout Document.State, _ writing: OpenForWriting, _ document: Document
    ) throws(Errno) -> Bool {
        let stat = try Backing.stat(writing.descriptor.raw)
        let (name, whereabouts) = nodes.location(writing.node)
        guard case .live = whereabouts, knownDocument(of: writing.node) === document else {
            // While it waited, another file took the name: the kernel looks it up again.
            throw Errno(rawValue: ESTALE)
        }
        if let name, state.isUnversioned {
            try beginHistory(&state, writing.node, name, file: writing.descriptor.raw, stat)
        }
        if let name, writing.mayReplace {
            try refuseIfStale(&state, name.parent, name.name, writing.requester)
        }
        if writing.flags & O_TRUNC != 0 {
            if let name {
                // As good as created: it may be the backup of what was just read.
                noteCreated(name.name, in: name.parent.file, by: writing.requester)
            }
            if let name { captureBeforeLoss(&state, writing.node, name.name, in: name.parent) }
            try truncate(&state, writing.node, writing.descriptor, to: 0, stat: stat, by: writing.requester)
            store.contents.takeOverWriting(of: FileDescriptor(rawValue: writing.descriptor.raw))
            if writing.caller.dropsSetID { SetIDRule.drop(on: writing.descriptor.raw, by: writing.caller) }
        } else if writing.flags & O_ACCMODE == O_RDWR, stat.size <= Self.copiedAtOnce || store.contents.canReflink {
            // A mapping may write unseen: keep the content before anyone can make one. Nothing orders such writes, and
            // what they overwrite may have been synchronized: the copy is durable first,
            // which costs nothing where it is a reflink.
            if !state.contentDiffers(from: stat) {
                do throws(Errno) {
                    try keepCopy(&state, of: writing.node, from: writing.descriptor.raw, isDurable: true)
                } catch {
                    guard error.isFull else { throw error }
                    // A mere open needs no room: the content is kept before the first byte is overwritten.
                    return true
                }
            }
        } else {
            return true
        }
        // The kernel leaves it to us to take set-id bits away, and does not say so of writes that it passes through.
        return stat.hasSetID
    }

    /// Truncates the file below after keeping what is current.
    func truncate(
        _ state: inout Document.State, _ node: Node, _ descriptor: SharedDescriptor, to size: off_t,
        stat known: FileStat? = nil, by requester: Requester? = nil
    ) throws(Errno) {
        let stat: FileStat
        if let known { stat = known } else { stat = try Backing.stat(descriptor.raw) }
        if state.contentDiffers(from: stat) || state.isAppendedTo && state.differs(from: stat), stat.size > 0 {
            try saveUnfinished(&state, node, file: descriptor.raw)
        }
        do throws(Errno) { try keepCopy(&state, of: node, from: descriptor.raw) } catch {
            try discardForTruncation(&state, of: node, by: requester, error)
        }
        try Backing.check { ftruncate(descriptor.raw, size) }
        state.isAppendedTo = false
    }

    /// A program is still writing the content that is about to go, or a mapping has changed it unseen: it becomes a
    /// version as it is.
    func saveUnfinished(_ state: inout Document.State, _ node: Node, file: Int32) throws(Errno) {
        guard let name = nodes.location(node).name else { return }
        let other = node.writers.first
        if other == nil, !state.isAppendedTo { noteOverwritten(&state) }
        try save(
            &state, node, in: name.parent, name.name, file: file,
            PendingSave(
                kind: state.isAppendedTo ? .appendOrInPlace : .replacing, isAppend: state.isAppendedTo,
                requester: other?.requester, amends: other?.state.withLock(\.saved)))
    }

    /// A program has changed the file unseen: the current version's content is what was kept of it, or lost.
    private func noteOverwritten(_ state: inout Document.State) {
        guard let current = state.current, !state.isKept, !state.isReturning else { return }
        state.current = withoutFile(current)
        state.isKept = true
    }

    /// Where the kernel reads by itself, what is read through our own descriptors is read by us, to hash or to copy it,
    /// and leaves no access time.
    var quietly: Int32 { serving.passthrough.isInUse ? linux_O_NOATIME : 0 }

    /// A descriptor of the file below that can do what the flags ask and be read by us.
    private func openBelow(_ node: Node, _ flags: Int32) throws(Errno) -> SharedDescriptor {
        let kept = flags & (O_SYNC | O_DSYNC) | quietly
        return try names.reading { () throws(Errno) in
            do throws(Errno) {
                return try openOwnByName(node, flags: kept | O_RDWR)
            } catch {
                guard error == .permissionDenied else { throw error }
                return try openOwnByName(node, flags: kept | flags & O_ACCMODE)
            }
        }
    }

    /// Decides how the kernel serves a handle. All handles of a file open at one time must agree (fs/fuse/iomode.c).
    func serve(
        reader node: Node, _ flags: Int32, descriptor: SharedDescriptor? = nil
    ) throws(Errno) -> OpenReply {
        try serving.admitReader(
            of: node, flags, descriptor, openPath: { () throws(Errno) in try openOwnPath(node) },
            openForReading: { () throws(Errno) in
                try names.reading { () throws(Errno) in try openOwnByName(node, flags: O_RDONLY) }
            })
    }

    /// The same for one who was admitted among the file's writers.
    func serve(writer file: OpenFile, isMediated: Bool) -> OpenReply {
        let (reply, isPassed) = serving.admitWriter(file, isMediated: isMediated) { () throws(Errno) in
            try openOwnPath(file.node)
        }
        hear(.served(handle: file.id, isUnseen: isPassed && !reply.isMediated))
        if isPassed, file.mayBeMapped { serving.passthrough.endAttributes(of: file.node) }
        if coordinator.isInUse, file.coordinated == nil { enroll(file) }
        watchWhileOpen(file)
        return reply
    }

    private func openOwnPath(_ node: Node) throws(Errno) -> SharedDescriptor {
        try names.reading { () throws(Errno) in try ownFile(of: node).directory }
    }
}
