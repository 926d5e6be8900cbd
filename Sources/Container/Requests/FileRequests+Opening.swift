// Handles of files that exist: opens, which may have to wait for others, and their ends, which make versions.

import Coordination
import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

extension FileRequests {
    /// Opens a file that exists. `flags` as in open(2), O_TRUNC included.
    /// - Returns: nil if it waits.
    func open(
        _ caller: Caller, node id: UInt64, flags: Int32, waiting: (any WaitingOpen)? = nil
    ) throws(Errno) -> OpenReply? {
        let node = try tree.node(id)
        // The kernel opens pipes and devices by itself.
        guard node.isRegular else { throw Errno(rawValue: ENXIO) }
        if flags & O_ACCMODE == O_RDONLY, flags & O_TRUNC == 0 {
            return try openForReading(caller, node, flags, waiting)
        }
        guard !node.isForeign else { return try openPlainly(caller, node, flags, try openBelow(node, flags)) }
        let program = try recorded.program(caller, isOpening: true)
        guard tree.isLive(node) else { return try openNameless(caller, node, flags, by: program) }
        let descriptor = try recorded.repeating { () throws(Errno) in try openBelow(node, flags) }
        let writing = serving.writing(node, descriptor, flags, caller, program.requester)
        let access = writing.coordinated == nil ? nil : coordination.updating(node)
        return try serving.open(writing, as: access, waiting, turn(node) { [self] () throws(Errno) in
            try openInTurn(writing, by: program)
        })
    }

    private func openInTurn(_ writing: OpenForWriting, by program: RecordedTree.Program) throws(Errno) -> OpenReply {
        var first: SharedDescriptor? = writing.descriptor
        do throws(Errno) {
            let reply = try recorded.repeating { () throws(Errno) in
                if let descriptor = first.take() { return try openForWriting(writing, descriptor, by: program) }
                return try openForWriting(writing, try openBelow(writing.node, writing.flags), by: program)
            }
            serving.hasOpened(writing.caller)
            return reply
        } catch {
            // It has lost its name while it waited.
            guard error.rawValue == ESTALE, !tree.isLive(writing.node) else { throw error }
            let reply = try openNameless(writing.caller, writing.node, writing.flags, by: program)
            serving.end(writing.claim, writing.coordinated)
            return reply
        }
    }

    private func turn(_ node: Node, _ open: @escaping @Sendable () throws(Errno) -> OpenReply) -> WaitingTurn {
        WaitingTurn(open: open, release: { [self] in release(node: node.id, handle: $0) })
    }

    private func openForReading(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply? {
        guard serving.policy.settings.plainReads == .wait, serving.coordinator.isInUse, let waiting,
            let path = tree.nodes.path(node)
        else { return try openForReading(caller, node, flags) }
        let access = Access(path: path, item: coordination.identity(of: node), kind: .reading([]))
        return try serving.openForReading(caller, access, waiting, turn(node) { [self] () throws(Errno) in
            try openForReading(caller, node, flags)
        })
    }

    // MARK: Closing

    /// close(2) of a descriptor: the moment of a save (DESIGN 5.1).
    func flush(_ caller: Caller, handle: UInt64) {
        guard let file = serving.files[handle], file.isWriter, isKnown(file),
            // A child that ends closes what it inherited; only the process that opened the handle saves with it.
            let opener = file.requester.actor?.ref, recorded.callers.actor(closing: caller.thread)?.ref == opener
        else { return }
        recorded.noteProgram(closing: file.number, of: file.requester)
        noteFilled(file)
        if databases.isCapturedLater(file) { return databases.captures.captureLater(file.node, file.requester) }
        // A mapping of its may have changed what it has saved, into a page that waits to be written already.
        let mayHaveStored = unseen.mayOutlive(file) && engine.scene.handle(file.number)?.saved != nil
        end(.close(file.number), of: file.node, doubted: mayHaveStored)
        if file.mayBeMapped { unseen.mapped.watchStores(of: file) }
    }

    private func noteFilled(_ file: OpenFile) {
        guard let author = engine.scene.handle(file.number)?.actor else { return }
        let place = tree.nodes.location(file.node).name.map { Place(directory: $0.parent.file, name: $0.name) }
        recorded.backupReads.filled(place, by: author)
    }

    /// The last close of an open handle.
    func release(node id: UInt64, handle: UInt64) {
        guard handle != OpenFileTable.sharedReader else {
            tree.nodes[id]?.openings.state.withLock { $0.closeReader() }
            return
        }
        guard let left = leave(handle) else { return }
        defer { serving.end(left.claim, left.coordinated) }
        // Only now is our own descriptor closed, which would count as a writer.
        unseen.mapped.settleMapping(of: left.node, by: left.requester)
        guard left.isKnown, !left.goesOn else { return }
        end(.release(left.number, isLater: left.isLater), of: left.node)
        recorded.files.letGo(left.node.file)
        if left.mayHaveKept { unseen.dropUnneeded(of: left.node.file) }
    }

    /// A writer's handle that is gone.
    private struct Left {
        var node: Node
        var number: HandleNumber
        var requester: Requester
        var claim: ClaimID?
        var coordinated: ClaimID?
        var isKnown: Bool
        /// Whether its database is captured later.
        var isLater: Bool
        /// Whether a mapping may go on.
        var goesOn: Bool
        /// Whether the file's content was kept when the handle was opened.
        var mayHaveKept: Bool
    }

    private func leave(_ handle: UInt64) -> Left? {
        guard let file = serving.files.remove(handle) else { return nil }
        let node = file.node
        guard file.isWriter else {
            node.openings.state.withLock { $0.closeReader() }
            return nil
        }
        unseen.noteMappable(file)
        if file.flags & O_TRUNC != 0 {
            store.contents.hasten(FileDescriptor(rawValue: file.descriptor.raw), number: node.id)
        }
        let isLater = databases.isCapturedLater(file)
        if isLater { databases.captures.captureLater(node, file.requester) }
        // A request that makes the file known from now on sees that it is not this handle's any more.
        node.release(file)
        let isKnown = isKnown(file)
        let goesOn = isKnown && unseen.goesOn(file, isLater: isLater)
        if isKnown, node.openings.state.withLock(\.maybeMapped) {
            recorded.files.holdByPath(node.file, file.descriptor)
        }
        return Left(
            node: node, number: file.number, requester: file.requester, claim: file.claim,
            coordinated: file.coordinated, isKnown: isKnown, isLater: isLater, goesOn: goesOn,
            mayHaveKept: file.state.withLock { !$0.isMediated && !$0.isReplacing })
    }

    private func end(_ event: Event, of node: Node, doubted: Bool = false) {
        defer { versioned.noteChange(of: node) }
        do throws(Errno) {
            if case .release(let handle, _) = event, try engine.isReleased(handle) { return }
            staleWrites.merge(after: try engine.perform(event, doubted: doubted ? node.file : nil))
        } catch {
            logger.error(
                "a save could not be recorded: \(error)", metadata: ["file": "\(tree.nodes.path(node) ?? .root)"])
        }
    }
}
