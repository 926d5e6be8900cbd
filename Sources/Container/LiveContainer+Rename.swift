// Renames: moves, saves by rename over a document, exchanges (DESIGN 5.1).

import CLinux
import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// `flags` as in renameat2(2).
    public func rename(
        _ caller: Caller, parent: UInt64, name bytes: [UInt8], newParent: UInt64, newName newBytes: [UInt8],
        flags: UInt32
    ) throws(Errno) {
        let parent = try node(parent)
        let newParent = try node(newParent)
        let name = try name(bytes, in: parent, forChange: true, takesAway: flags & linux_RENAME_EXCHANGE == 0)
        let newName = try self.name(newBytes, in: newParent, forChange: true)
        let requester = requester(caller)
        if let replaced = try? documents.document(at: Place(directory: newParent.file, name: newName)) {
            learnSiblings(of: replaced, for: requester)
        }
        var saved: SavedByRename?
        try capturingAhead { isCaptured throws(Errno) in
            try names.writing { (names) throws(Errno) -> [Node] in
                let (move, target) = try self.move(name, in: parent, to: newName, in: newParent, flags)
                if !isCaptured {
                    let exchanged = flags & linux_RENAME_EXCHANGE != 0 ? [move.source] : []
                    let losing = ((target.map { [$0] } ?? []) + exchanged).compactMap {
                        capturedAhead($0, by: requester)
                    }
                    if !losing.isEmpty { return losing }
                }
                let accesses = accesses(of: move, target)
                saved = try rename(names, move, onto: target, requester)
                hear(of: move, requester)
                report(accesses, by: caller)
                noteMove(
                    (name, parent), (newName, newParent), isExchange: move.flags & linux_RENAME_EXCHANGE != 0,
                    areDocuments: move.source.stat.isRegular && target?.stat.isRegular ?? true)
                return []
            }
        }
        space.trimming.catchUp()
        noteIgnoreFile(name, in: parent)
        noteIgnoreFile(newName, in: newParent)
        if let saved { mergeIfConflicting(saved.document, saved.node, saved: saved.version, by: requester) }
    }

    private func hear(of move: Move, _ requester: Requester) {
        guard !move.source.parent.isForeign, !move.newParent.isForeign else { return }
        if move.flags & linux_RENAME_EXCHANGE != 0 {
            return hear(.exchanged(move.source.place, move.newPlace, requester))
        }
        hear(
            .renamed(
                from: move.source.place, to: move.newPlace, fileID(move.source.stat),
                isMadeUp: observers.isEphemeral(move.newName, requester), requester))
    }

    /// The accesses of a rename: to the moved item, and to the former owner of its new name.
    private func accesses(of move: Move, _ target: Entry?) -> [Access?] {
        let source = move.source
        let moving = access(.forMoving, at: source.name, in: source.parent, source.node)
        guard let target else { return [moving, taking(move.newName, in: move.newParent)] }
        guard target.stat.key != source.stat.key else { return [moving] }
        let isExchange = move.flags & linux_RENAME_EXCHANGE != 0
        // A document whose file is replaced goes on.
        let option: WritingOption = isExchange ? .forMoving : target.stat.isRegular ? .updating : .forDeleting
        return [moving, access(option, at: target.name, in: target.parent, target.node)]
    }

    private func move(
        _ name: FileName, in parent: Node, to newName: FileName, in newParent: Node, _ flags: UInt32
    ) throws(Errno) -> (move: Move, target: Entry?) {
        let from = try descriptor(of: parent)
        let to = try descriptor(of: newParent)
        let source = entry(name, parent, from, try Backing.stat(name.bytes, in: from.raw))
        let target = try Backing.statIfPresent(newName.bytes, in: to.raw).map { entry(newName, newParent, to, $0) }
        let move = Move(source: source, newParent: newParent, newName: newName, newDirectory: to, flags: flags)
        return (move, target)
    }

    private func rename(
        _ names: borrowing NamesHeldAlone, _ move: Move, onto target: Entry?, _ requester: Requester
    ) throws(Errno) -> SavedByRename? {
        let (source, newParent, flags) = (move.source, move.newParent, move.flags)
        guard !isForeign(source), !newParent.isForeign, target.map({ !isForeign($0) }) ?? true else {
            try requireSameContainer(source.parent, newParent)
            // As a mount point.
            if isNested(source) || target.map(isNested) ?? false { throw .resourceBusy }
            try movePlainly(names, move, target)
            return nil
        }
        if flags & linux_RENAME_EXCHANGE != 0 {
            guard let target else { throw .noSuchFileOrDirectory }
            try exchange(names, move, target, requester)
            return nil
        }
        guard let target else { return try moveToNew(names, move, requester) }
        if target.stat.key == source.stat.key {
            try Backing.rename(move)
            return nil
        }
        if source.stat.isRegular, target.stat.isRegular { return try moveOver(names, move, target, requester) }
        try moveOverOther(names, move, target, requester)
        return nil
    }

    /// A save that a rename made.
    struct SavedByRename {
        var document: Document
        var node: Node
        var version: VersionID?
    }

    /// One rename with all that was found out about it.
    struct Move {
        var source: Entry
        var newParent: Node
        var newName: FileName
        var newDirectory: SharedDescriptor
        var flags: UInt32

        var newPlace: Place { Place(directory: newParent.file, name: newName) }
    }

    private func entry(_ name: FileName, _ parent: Node, _ directory: SharedDescriptor, _ stat: FileStat) -> Entry {
        Entry(parent: parent, name: name, directory: directory, stat: stat, node: nodes.node(stat.key))
    }

    private func isForeign(_ entry: Entry) -> Bool {
        entry.parent.isForeign || entry.stat.key.device != rootKey.device || isNested(entry)
    }

    private func isNested(_ entry: Entry) -> Bool {
        entry.node?.isNested ?? isNested(entry.name, entry.stat, in: entry.directory)
    }

    private func movePlainly(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry?
    ) throws(Errno) {
        guard let target else {
            try Backing.rename(move)
            return moveNode(names, move)
        }
        try holding(names, target) { () throws(Errno) in try Backing.rename(move) }
        leave(names, target, now: .gone)
        moveNode(names, move)
    }

    func moveNode(_ names: borrowing NamesHeldAlone, _ move: Move) {
        guard let node = move.source.node else { return }
        nodes.moveName(
            names, move.source.name, in: move.source.parent, of: node,
            to: Node.Name(parent: move.newParent, name: move.newName))
    }

    // MARK: To a name that is free

    private func moveToNew(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ requester: Requester
    ) throws(Errno) -> SavedByRename? {
        let now = now
        let document = try moved(move)
        try refuseAwayIfStale(move.source, as: move.newName, document, requester)
        // A document that comes back to a name it had itself was only away: nothing is saved by that.
        let tombstone = move.source.stat.isRegular
            ? tombstones.take(at: move.newPlace, now: now, isOpen: isStillOpen) : nil
        let isHome = tombstone.map { $0.document === document } ?? false
        var isMoved = false
        if let tombstone, !isHome, canComeBack(tombstone), let marked = markRenamed(move) {
            if let saved = try comeBack(names, move, marked, tombstone, document, requester) { return saved }
            isMoved = true
        }
        let old = move.source.place
        if let document, !isMoved { hashBeforeLeaving(document, move) }
        do throws(Errno) {
            try preservingStamp(of: document, at: move) { () throws(Errno) in if !isMoved { try Backing.rename(move) } }
        } catch {
            if let tombstone { tombstones.leave(tombstone, at: move.newPlace) }
            throw error
        }
        moveNode(names, move)
        if move.source.stat.isDirectory {
            let rows = recordedDirectories.moved(fileID(move.source.stat), to: move.newPlace)
            record(move.newParent, rows + renamedOther(move, requester))
            return nil
        }
        guard let document else {
            record(move.newParent, renamedOther(move, requester))
            return nil
        }
        try store(throwing: .ioError) { () throws(StoreError) in
            try documents.remove(names, at: old)
            try documents.insert(names, document, at: move.newPlace)
        }
        // Before the document is unlocked: the next save is recorded behind this.
        let wasEphemeral = document.state.withLock { state in
            let (rows, wasEphemeral) = movedRows(&state, move, requester)
            record(move.newParent, rows)
            return wasEphemeral
        }
        // A program's scaffolding under the old name has nothing to do with its next one.
        if isHome {
            tombstones.forget(document)
        } else if let actor = requester.actor, !wasEphemeral {
            tombstones.leave(
                Tombstone(document: document, destination: .moved, actor: actor.ref, time: now), at: old)
        }
        expireTombstones()
        return nil
    }

    func moved(_ move: Move) throws(Errno) -> Document? {
        guard move.source.stat.isRegular else { return nil }
        let (place, parent) = (move.source.place, move.source.parent)
        if let node = move.source.node { return try document(of: node, move.source.stat, at: place, in: parent) }
        let node = intern(
            move.source.stat, as: Node.Name(parent: move.source.parent, name: move.source.name), lookups: 0)
        defer { _ = nodes.forget(node.id, lookups: 0) }
        return try document(of: node, move.source.stat, at: place, in: parent)
    }

    /// A small content whose hash is unknown yet is hashed while it is at hand: once the name is taken again, whether
    /// the same is saved under it can be told.
    private func hashBeforeLeaving(_ document: Document, _ move: Move) {
        document.state.withLock { state in
            guard let current = state.current, current.hash == nil, current.size <= Self.hashedOnLeaving,
                !state.isUnversioned, !state.contentDiffers(from: move.source.stat),
                let file = try? Backing.openQuietly(
                    move.source.name.bytes, in: move.source.directory.raw, move.source.stat.key)
            else { return }
            defer { Glibc.close(file) }
            state.current?.hash = ContentHash.sha256(of: file, size: current.size)
        }
    }

    func preservingStamp(of document: Document?, at move: Move, _ body: () throws(Errno) -> Void) throws(Errno) {
        let wasClean = document?.state.withLock { !$0.differs(from: move.source.stat) } ?? false
        try body()
        guard wasClean, let document else { return }
        // A failure after the move of the name cannot make the call fail.
        guard let stat = try? Backing.stat(move.newName.bytes, in: move.newDirectory.raw) else { return }
        // An open that had found the old name may have emptied it meanwhile: that is a change of its content.
        document.state.withLock { if !$0.contentDiffers(from: stat) { $0.stamp = Stamp(stat) } }
    }

    // MARK: Onto a document

    /// A rename over a document is a save of that document.
    @discardableResult
    func moveOver(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry, _ requester: Requester
    ) throws(Errno) -> SavedByRename? {
        if move.flags & linux_RENAME_NOREPLACE != 0 { throw .fileExists }
        let node =
            target.node ?? intern(target.stat, as: Node.Name(parent: target.parent, name: target.name), lookups: 0)
        defer { if target.node == nil { _ = nodes.forget(node.id, lookups: 0) } }
        var target = target
        target.node = node
        let document = try document(of: node, target.stat, at: target.place, in: target.parent)
        // The file that comes may have a history of its own. An edit of it that came past the daemon is
        // recorded there, before the target takes the file over.
        if let source = move.source.node, knownDocument(of: source)?.state.withLock(\.isVerified) == false {
            _ = try moved(move)
        }
        if settings.staleWrites == .refuse {
            try refuseAwayIfStale(move.source, as: move.newName, try moved(move), requester)
        }
        return try document.state.withLock { state throws(Errno) in
            try refuseIfStale(&state, target.parent, target.name, requester) { putsBack($0, move, target) }
            captureBeforeLoss(&state, node, target.name, in: target.parent)
            let isWritten = node.hasWriters
            var found = target.stat
            // A writer may have saved, and be gone, since it was looked at.
            if isWritten || state.contentDiffers(from: found) {
                found = try Backing.stat(target.name.bytes, in: target.directory.raw)
            }
            if isWritten {
                found =
                    try amendUnfinished(&state, node, target.name, in: target.directory, parent: target.parent) ?? found
            }
            let wasClean = !state.contentDiffers(from: found)
            var (isLinked, parted): (Bool, PartedNames?) = (false, nil)
            if !wasClean, !isWritten, state.isRecorded {
                let file = try Backing.openQuietly(target.name.bytes, in: target.directory.raw, target.stat.key)
                defer { Glibc.close(file) }
                try saveUnfinished(&state, node, file: file)
            }
            if target.stat.links > 1 {
                parted = try partOtherNames(names, &state, target)
            } else if wasClean || !isWritten {
                isLinked = try keepDisplaced(
                    names, &state, of: node, target.name, in: target.directory, target.stat)
            }
            // Also where the file becomes an object: that may be given up while a program has the file open.
            if !isLinked || node.openings.state.withLock({ $0.count > 0 }) { hold(names, target) }
            let marked = markRenamed(move)
            do throws(Errno) {
                try renameOver(move, marked, isLinked: isLinked)
            } catch {
                releaseHeld(names, target)
                undoParting(parted, of: &state, as: found)
                // The file stays where it is: it must not share its inode with an object.
                if isLinked, let content = state.current?.content {
                    custodian.drop(content)
                    state.isKept = false
                }
                throw error
            }
            if let parted { try settle(names, parted.parting) }
            if isWritten {
                orphans.add(
                    Orphan(
                        document: document, parent: target.parent, name: target.name,
                        stamp: wasClean ? state.stamp : nil,
                        base: state.current?.id), node)
            }
            let content = state.current?.content
            leave(names, target, now: isLinked ? content.map { .kept($0) } ?? .gone : .gone)
            // Saved where it is, it is at home there: what comes to a name it had before is something else.
            tombstones.forget(document)
            return try takeOver(names, &state, document, move, marked, requester)
        }
    }

    /// The other names of a displaced file become an item of their own (DESIGN 5.1).
    private func partOtherNames(
        _ names: borrowing NamesHeldAlone, _ state: inout Document.State, _ target: Entry
    ) throws(Errno) -> PartedNames? {
        guard let parted = try partNames(names, &state, besides: target.place) else {
            // The other names were never seen: they may change the file any time, so the content is copied.
            let file = try Backing.openQuietly(target.name.bytes, in: target.directory.raw, target.stat.key)
            defer { Glibc.close(file) }
            if let node = target.node { try keepCopy(&state, of: node, from: file) }
            return nil
        }
        state.standIn = nil
        state.isReturning = state.current != nil
        return parted
    }

    // MARK: Onto something else

    private func moveOverOther(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry, _ requester: Requester
    ) throws(Errno) {
        if move.flags & linux_RENAME_NOREPLACE != 0 { throw .fileExists }
        let document = try moved(move)
        // Two steps: a crash in between leaves both, one of them in the deleted area.
        try displace(names, target, by: move.source.stat, requester)
        _ = tombstones.take(at: move.newPlace, now: now) { _ in false }
        try preservingStamp(of: document, at: move) { () throws(Errno) in try Backing.rename(move) }
        moveNode(names, move)
        if let document {
            try store(throwing: .ioError) { () throws(StoreError) in
                try documents.remove(names, at: move.source.place)
                try documents.insert(names, document, at: move.newPlace)
            }
        }
        var rows: [VersionStore.Mutation] = []
        if move.source.stat.isDirectory {
            rows = recordedDirectories.moved(fileID(move.source.stat), to: move.newPlace)
        } else if let document {
            return document.state.withLock { record(move.newParent, movedRows(&$0, move, requester).rows) }
        }
        record(move.newParent, rows + renamedOther(move, requester))
    }
}

extension Backing {
    static func rename(_ move: LiveContainer.Move) throws(Errno) {
        try rename(
            move.source.name.bytes, in: move.source.directory.raw, to: move.newName.bytes,
            in: move.newDirectory.raw, flags: move.flags)
    }
}
