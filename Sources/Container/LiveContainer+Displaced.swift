// Opens for writing of files whose name another file has taken between the kernel's look-up and its open.

import CLinux
import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Opens a file that has lost its name: a program that would empty it waits for its writers, as under a name.
    func openDisplaced(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply? {
        let isWriter = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        guard isWriter, !node.isForeign else { return try openPlain(caller, node, flags) }
        try admitDisplaced(caller, node)
        guard let document = documentSaved(through: node) else {
            return try openPlain(caller, node, flags, isAdmitted: true)
        }
        let descriptor = try names.reading { () throws(Errno) in
            let place = try location(of: node)
            return SharedDescriptor(
                try Backing.open(place.path, in: place.directory.raw, flags: linux_O_PATH | O_NOFOLLOW))
        }
        let writing = serving.writing(
            node, descriptor, flags, caller, requester(caller, isOpening: true), isDisplaced: true)
        return try open(writing, of: document, as: nil, waiting)
    }

    /// Opens what has no versions: on another file system, or displaced and reached through an old node.
    func openPlain(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ claim: ClaimID? = nil,
        coordinated: ClaimID? = nil, isAdmitted: Bool = false
    ) throws(Errno) -> OpenReply {
        let isWriter = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        if isWriter, !node.isForeign, !isAdmitted { try admitDisplaced(caller, node) }
        // Not before it is among the file's writers: the last of the others would take the empty file for its own save.
        let truncatesLater = flags & O_TRUNC != 0 && flags & O_ACCMODE != O_RDONLY && !node.isForeign
        let descriptor = try names.reading { () throws(Errno) in
            let left = O_CREAT | O_EXCL | O_NOCTTY | O_NOFOLLOW | O_APPEND | (truncatesLater ? O_TRUNC : 0)
            let kept = flags & ~left
            do throws(Errno) {
                return try withOwn(node) { file throws(Errno) in
                    if isWriter, !node.isForeign, kept & O_ACCMODE == O_WRONLY {
                        // The written content is read when the file is closed.
                        let both = kept & ~O_ACCMODE | O_RDWR
                        do throws(Errno) {
                            return SharedDescriptor(try Backing.open([], in: file, flags: both))
                        } catch { guard error == .permissionDenied else { throw error } }
                    }
                    return SharedDescriptor(try Backing.open([], in: file, flags: kept))
                }
            } catch {
                // The kept content has been given up since: the kernel looks the name up again.
                guard error == .noSuchFileOrDirectory, case .kept = nodes.location(node).whereabouts
                else { throw error }
                throw Errno(rawValue: ESTALE)
            }
        }
        if caller.dropsSetID, isWriter, !truncatesLater { SetIDRule.drop(on: descriptor.raw, by: caller) }
        guard isWriter else { return try serve(reader: node, flags, descriptor: descriptor) }
        let file = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: descriptor, flags: flags,
            requester: requester(caller, isOpening: true), claim: claim, coordinated: coordinated,
            isReplacing: flags & O_TRUNC != 0)
        node.admit(file)
        // The last of the other writers may just have been released, and a deleted file does not change any more.
        if case .deleted = nodes.location(node).whereabouts, orphans.document(of: node) == nil {
            node.release(file)
            throw Errno(rawValue: ESTALE)
        }
        if truncatesLater {
            do throws(Errno) {
                // The deleted content is still in the file.
                try willChange(file, appends: false)
                try Backing.check { ftruncate(descriptor.raw, 0) }
                if caller.dropsSetID { SetIDRule.drop(on: descriptor.raw, by: caller) }
            } catch {
                node.release(file)
                throw error
            }
        }
        var isDeleted = false
        if case .deleted = nodes.location(node).whereabouts { isDeleted = true }
        let hasSetID = (try? Backing.stat(descriptor.raw).hasSetID) ?? true
        let reply = serve(writer: file, isMediated: isDeleted || hasSetID)
        // Now that it counts among the file's writers: what it writes belongs to the document that has the name.
        if !node.isForeign { adoptWriter(of: node, hasChanged: flags & O_TRUNC != 0) }
        return reply
    }

    /// A writer comes to a file that has lost its name. Once it is sent back to find the file which has the name now;
    /// if that is gone again, it gets the file that it has found, as POSIX has it, and what it saves there is a save
    /// that closes on a file whose name another one has taken (DESIGN 5.1).
    ///
    /// - Throws: ESTALE, for the kernel to look the name up again.
    func admitDisplaced(_ caller: Caller, _ node: Node) throws(Errno) {
        // It was not a moment ago; what it has under its name is not to be truncated here.
        if isLive(node) { throw Errno(rawValue: ESTALE) }
        // One without a name from the start belongs to nothing yet.
        guard nodes.lostName(of: node) != nil else { return }
        guard serving.hasLookedAgain(caller) else { throw Errno(rawValue: ESTALE) }
        try reachDisplaced(node)
    }

    /// Makes a file without a name one that may be written to.
    func reachDisplaced(_ node: Node) throws(Errno) {
        if isLive(node) { throw Errno(rawValue: ESTALE) }
        if orphans.document(of: node) != nil { return }
        try names.writing { (names) throws(Errno) in
            switch nodes.location(node).whereabouts {
            case .live, .gone: break
            // A deleted content does not change.
            case .deleted: throw Errno(rawValue: ESTALE)
            case .kept(let content): try takeBack(names, node, content)
            }
        }
    }

    /// Has what is written to a file that lost its name settled when it is closed.
    func adoptWriter(of node: Node, hasChanged: Bool) {
        guard let last = nodes.lostName(of: node) else { return }
        names.writing { (_) throws(Never) in
            guard case .gone = nodes.location(node).whereabouts, let document = documentSaved(through: node)
            else { return }
            let stamp = hasChanged ? nil : (try? statLocked(node)).map { Stamp($0) }
            orphans.addIfAbsent(node) {
                Orphan(document: document, parent: last.parent, name: last.name, stamp: stamp, base: nil)
            }
        }
    }

    /// The document that has the saves into a file without a name.
    private func documentSaved(through node: Node) -> Document? {
        if let known = orphans.document(of: node) { return known }
        guard let last = nodes.lostName(of: node) else { return nil }
        if let document = try? documents.document(at: last.place) { return document }
        guard let vanished = nodes.lostDocument(of: node) else { return nil }
        // A backup that went was another document's file before: the open had found it under that document's name.
        let origin = vanished.state.withLock { $0.isParted ? $0.current?.parents.first : nil }
        guard let origin, let version = try? store.version(origin), let item = try? store.item(version.item),
            let place = item.places.first, let document = try? documents.document(at: place)
        else { return vanished }
        return document
    }

    /// Copies a content whose object is the file itself, so that the file may be written to.
    private func takeBack(
        _ names: borrowing NamesHeldAlone, _ node: Node, _ content: ContentID
    ) throws(Errno) {
        let place = store.contents.place(of: content)
        let path = Array(place.name.utf8)
        let held = SharedDescriptor(
            try Backing.open(path, in: place.directory.rawValue, flags: linux_O_PATH | O_NOFOLLOW))
        let file = SharedDescriptor(try Backing.open(path, in: place.directory.rawValue, flags: O_RDONLY | O_NOFOLLOW))
        let size = try Backing.stat(file.raw).size
        guard store.contents.canReflink || size <= settings.maxFile else { throw Errno(rawValue: ESTALE) }
        let labels = try store.contents.labels(of: content)
        guard let first = labels.first else { throw Errno(rawValue: ESTALE) }
        try space.retryingWhenFull(wanted: store.contents.canReflink ? 0 : size) { () throws(Errno) in
            try custodian.keep(
                copying: file.raw, as: content, first, also: Array(labels.dropFirst()), isDurable: true)
        }
        nodes.detach(node, held)
    }
}
