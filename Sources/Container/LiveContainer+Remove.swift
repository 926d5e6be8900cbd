// Deletion: an unlinked file moves to the deleted area, unless it is no work to keep (DESIGN 3.2, 5.1).

import CLinux
import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    public func unlink(_ caller: Caller, parent: UInt64, name bytes: [UInt8]) throws(Errno) {
        let parent = try node(parent)
        let name = try name(bytes, in: parent, forChange: true, takesAway: true)
        do throws(Errno) {
            try unlink(caller, name, in: parent, unprotected: nil)
        } catch {
            // Where even the record of a deletion has no room, an unprotected file goes for good.
            let item = error.isFull ? unprotectedItem(at: Place(directory: parent.file, name: name)) : nil
            guard let item else { throw error }
            try unlink(caller, name, in: parent, unprotected: item)
        }
        noteIgnoreFile(name, in: parent)
    }

    private func unlink(
        _ caller: Caller, _ name: FileName, in parent: Node, unprotected: ItemID?
    ) throws(Errno) {
        learn(caller)
        try capturingAhead { isCaptured throws(Errno) in
            try names.writing { (names) throws(Errno) -> [Node] in
                let directory = try descriptor(of: parent)
                let stat = try Backing.stat(name.bytes, in: directory.raw)
                guard !stat.isDirectory else { throw .isDirectory }
                let entry = Entry(
                    parent: parent, name: name, directory: directory, stat: stat, node: nodes.node(stat.key),
                    unprotected: unprotected)
                // A name that a program made up for itself was never told.
                let isUnheard = coordinator.isInUse && observers.isEphemeral(name, requester(caller))
                let access = isUnheard ? nil : access(.forDeleting, at: name, in: parent, entry.node)
                if parent.isForeign || stat.key.device != rootKey.device {
                    try holding(names, entry) { () throws(Errno) in try Backing.unlink(name.bytes, in: directory.raw) }
                    leave(names, entry, now: .gone)
                } else if stat.isRegular {
                    let requester = requester(caller)
                    if !isCaptured, let database = capturedAhead(entry, by: requester) { return [database] }
                    try unlinkDocument(names, entry, requester)
                    hear(.unlinked(entry.place, requester))
                } else {
                    try unlinkOther(names, entry, requester(caller))
                }
                report([access], by: caller)
                return []
            }
        }
    }

    /// Symlinks go to the deleted area too, but for those that a program uses as locks (`.#f`).
    private func unlinkOther(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ requester: Requester
    ) throws(Errno) {
        guard isNobodysWork(entry, requester) else {
            if entry.stat.links > 1 { return try unlinkOneName(names, entry, requester) }
            return try moveToDeleted(names, entry, nil, requester)
        }
        try holding(names, entry) { () throws(Errno) in
            try Backing.unlink(entry.name.bytes, in: entry.directory.raw)
        }
        leave(names, entry, now: .gone)
        record(entry.parent, vanished(entry, requester))
    }

    /// A name that a program made up for itself was never told; others that leave no trace here were.
    private func vanished(_ entry: Entry, _ requester: Requester) -> [VersionStore.Mutation] {
        if observers.isEphemeral(entry.name, requester) { return [] }
        return [.change(change(.deleted, in: entry.parent, entry.name, by: requester))]
    }

    public func removeDirectory(_ caller: Caller, parent: UInt64, name bytes: [UInt8]) throws(Errno) {
        let parent = try node(parent)
        let name = try name(bytes, in: parent, forChange: true, takesAway: true)
        learn(caller)
        try names.writing { (names) throws(Errno) in
            let directory = try descriptor(of: parent)
            let stat = try Backing.stat(name.bytes, in: directory.raw)
            guard stat.isDirectory else { throw .notDirectory }
            let entry = Entry(parent: parent, name: name, directory: directory, stat: stat, node: nodes.node(stat.key))
            if entry.node?.isNested ?? isNested(name, stat, in: directory) { throw .resourceBusy }
            guard !parent.isForeign, stat.key.device == rootKey.device else {
                try holding(names, entry) { () throws(Errno) in
                    try Backing.unlink(name.bytes, in: directory.raw, flags: AT_REMOVEDIR)
                }
                return leave(names, entry, now: .gone)
            }
            let inner = SharedDescriptor(
                try Backing.open(name.bytes, in: directory.raw, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
            guard try Backing.isEmpty(inner.raw) else { throw Backing.refusal(ofFull: inner.raw, in: directory.raw) }
            let access = access(.forDeleting, at: name, in: parent, entry.node)
            let requester = requester(caller)
            if isNobodysWork(entry, requester) {
                try Backing.unlink(name.bytes, in: directory.raw, flags: AT_REMOVEDIR)
                leave(names, entry, now: .gone)
                record(parent, vanished(entry, requester))
            } else {
                try moveToDeleted(names, entry, nil, requester)
            }
            if let node = entry.node { tree.directories.drop(node.id) }
            hear(.directoryRemoved(entry.place, requester))
            report([access], by: caller)
        }
    }

    typealias Entry = LeavingName

    private func unlinkDocument(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ requester: Requester
    ) throws(Errno) {
        let node = entry.node ?? intern(entry.stat, as: Node.Name(parent: entry.parent, name: entry.name), lookups: 0)
        defer { if entry.node == nil { _ = nodes.forget(node.id, lookups: 0) } }
        var entry = entry
        entry.node = node
        let document = try document(of: node, entry.stat, at: entry.place, in: entry.parent)
        try document.state.withLock { state throws(Errno) in try refuseUnlinkIfRefused(state, requester) }
        guard entry.stat.links == 1 else {
            let isWork = !vanishes(entry, document, requester)
            return try unlinkName(names, entry, document, isWork: isWork, requester)
        }
        captureBeforeLoss(ofJournal: entry, by: requester)
        document.state.withLock { state in
            captureBeforeLoss(&state, node, entry.name, in: entry.parent)
        }
        observers.unlinked(entry.place, item: document.item, by: requester)
        if vanishes(entry, document, requester) {
            try document.state.withLock { state throws(Errno) in
                guard state.sharesContent else { return }
                // An older version of another item is in this file and nowhere else.
                try keepDisplaced(
                    names, &state, of: node, entry.name, in: entry.directory, entry.stat, isForgotten: true)
            }
            try holding(names, entry) { () throws(Errno) in
                try Backing.unlink(entry.name.bytes, in: entry.directory.raw)
            }
            leave(names, entry, now: .gone)
            let isTold = document.state.withLock(\.isNameTold) && !isIgnored(entry.name, in: entry.parent)
            try forget(names, document, at: entry.place)
            // Another program has saved over it, or it had another name: then its name was told.
            guard isTold else { return }
            let event = change(.deleted, in: entry.parent, entry.name, item: document.item, by: requester)
            return record(entry.parent, [.change(event)])
        }
        try moveToDeleted(names, entry, document, requester)
    }

    /// Whether an unlinked document is no work to keep: ephemeral in its maker's hands, ignored, or git's own.
    private func vanishes(_ entry: Entry, _ document: Document, _ requester: Requester) -> Bool {
        // A document that was only renamed to a backup's name is work to keep all the same.
        let (maker, isRecorded) = document.state.withLock { ($0.removableBy, $0.isRecorded) }
        let isMakers = maker.map { requester.isProgram && observers.isMaker($0, requester, now: now) } ?? false
        if let maker, isMakers, !isWrittenByOthers(entry, maker) { return true }
        // Its content from before it was ignored stays a version.
        return isIgnored(entry.name, in: entry.parent) && !isRecorded
            || databases.isJournal(entry.name, in: entry.parent, of: requester)
            || isRepositorys(entry.parent, requester)
    }

    /// Whether another program is about to save into a file that its maker throws away.
    private func isWrittenByOthers(_ entry: Entry, _ maker: Document.Maker) -> Bool {
        entry.node?.writers.contains { $0.requester.actor.map { !maker.actor.isKin(of: $0) } ?? true } ?? false
    }

    /// The same for what is no document: a symlink that a program uses as a lock (`.#f`), a directory that it saves in.
    private func isNobodysWork(_ entry: Entry, _ requester: Requester) -> Bool {
        observers.isEphemeral(entry.name, requester) || isIgnored(entry.name, in: entry.parent)
            || isRepositorys(entry.parent, requester)
    }

    /// Git has no more use for its removals inside `.git`.
    private func isRepositorys(_ parent: Node, _ requester: Requester) -> Bool {
        requester.author.program.utf8.starts(with: "git".utf8) && isRepositoryInternal(parent)
    }

    /// Drops a document without a trace.
    func forget(_ names: borrowing NamesHeldAlone, _ document: Document, at place: Place) throws(Errno) {
        try store(throwing: .ioError) { () throws(StoreError) in try documents.remove(names, at: place) }
        document.state.withLock { state in
            state.places.removeAll { $0 == place }
            guard state.places.isEmpty else { return }
            if state.isRecorded {
                forget(state)
            } else if state.isKept, let current = state.current {
                custodian.drop(current.content)
            }
        }
    }

    /// Removes an item's rows and the contents that only it had.
    func forget(_ state: Document.State) {
        guard state.current != nil else { return }
        let contents = ownContents(of: state)
        store.commit([.forgetItem(state.item)])
        remove(contents, of: state)
    }

    private func mayShare(_ state: Document.State) -> Bool {
        state.sharesContent || state.hasParted || state.current?.parents.isEmpty == false
    }

    /// What may go with an item, while it has its rows.
    func ownContents(of state: Document.State) -> Set<ContentID> {
        guard let current = state.current else { return [] }
        if mayShare(state) { return Set((try? store.versions(of: state.item).map(\.content)) ?? []) }
        return state.isKept ? [current.content] : []
    }

    /// Removes those of an item's contents that no other item has, once its rows are removed.
    func remove(_ contents: Set<ContentID>, of state: Document.State) {
        for content in contents {
            if mayShare(state), (try? store.versions(sharing: content).isEmpty) != true { continue }
            custodian.drop(content)
        }
    }

    /// Moves what another name is about to take the place of to the deleted area; directories must be empty.
    func displace(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, by source: FileStat, _ requester: Requester
    ) throws(Errno) {
        switch (source.isDirectory, entry.stat.isDirectory) {
        case (true, false): throw .notDirectory
        case (false, true): throw .isDirectory
        case (true, true):
            let inner = SharedDescriptor(
                try Backing.open(entry.name.bytes, in: entry.directory.raw, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
            guard try Backing.isEmpty(inner.raw) else {
                throw Backing.refusal(ofFull: inner.raw, in: entry.directory.raw)
            }
            try moveToDeleted(names, entry, nil, requester)
            if let node = entry.node { tree.directories.drop(node.id) }
        case (false, false):
            guard entry.stat.isRegular else { return try unlinkOther(names, entry, requester) }
            try unlinkDocument(names, entry, requester)
        }
    }

    /// Moves what a name stands for to the deleted area.
    private func moveToDeleted(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ document: Document?, _ requester: Requester
    ) throws(Errno) {
        let deletion = try deletion(of: entry, document, requester)
        if let node = entry.node, node.openings.state.withLock({ $0.count > 0 }) { hold(names, entry) }
        do throws(Errno) {
            try space.retryingWhenFull(isRecord: true) { () throws(Errno) in
                try custodian.moveIn(names, entry.name, of: entry.directory, deletion)
            }
        } catch {
            do throws(Errno) { return try removeForGood(names, entry, document, requester, error) } catch {
                releaseHeld(names, entry)
                throw error
            }
        }
        leave(names, entry, now: .deleted(deletion.id))
        var rows: [VersionStore.Mutation] = []
        if let document {
            try store(throwing: .ioError) { () throws(StoreError) in try documents.remove(names, at: entry.place) }
            rows = document.state.withLock { state in
                state.places.removeAll { $0 == entry.place }
                let unsaved = saveReturned(&state, entry, deletion)
                // It is brought back to a time at which it was there, and to no other.
                state.created = state.created ?? state.beginning
                let created = announcement(&state, in: entry.parent, entry.name, by: requester)
                    + publication(&state, in: entry.parent, entry.name, entry.stat, by: requester)
                if let node = entry.node, node.hasWriters {
                    orphans.add(
                        Orphan(
                            document: document, parent: entry.parent, name: entry.name,
                            stamp: state.stamp, base: state.current?.id), node)
                }
                return created + unsaved + itemRows(state, entry.stat)
            }
            if let actor = requester.actor {
                tombstones.leave(
                    Tombstone(document: document, destination: .deleted(deletion.id), actor: actor.ref, time: now),
                    at: entry.place)
                expireTombstones()
            }
        }
        let event = change(.deleted, in: entry.parent, entry.name, item: deletion.item, by: requester)
        record(entry.parent, rows + [.deletion(deletion), .change(event)])
    }

    func deletion(of entry: Entry, _ document: Document?, _ requester: Requester) throws(Errno) -> Deletion {
        let id = DeletionID.neighboring()
        let parentTimes = try Backing.stat(entry.directory.raw)
        let group = requester.actor.map { deletionGroups.group(of: id, by: $0.ref, now: now) } ?? id
        return Deletion(
            id: id, place: entry.place, path: path(of: entry.name, in: entry.parent), type: entry.stat.entryType,
            file: fileID(entry.stat), item: document?.item, size: entry.stat.size, deleted: now,
            author: requester.author, group: group, parentAccessed: parentTimes.accessed,
            parentModified: parentTimes.modified, attributes: Attributes(entry.stat))
    }

    /// Runs what takes a name away. Its file stays in reach of programs that have it open; if the name stays after all,
    /// nothing is held that would keep the file's room later.
    func holding<Result>(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        hold(names, entry)
        do throws(Errno) { return try body() } catch {
            releaseHeld(names, entry)
            throw error
        }
    }

    /// Closes the descriptor that was held for a name, because the name stays after all.
    func releaseHeld(_ names: borrowing NamesHeldAlone, _ entry: Entry) {
        if let node = entry.node { nodes.hold(node, nil) }
    }

    /// Before a name goes for good: its file stays in reach of programs that have it open.
    func hold(_ names: borrowing NamesHeldAlone, _ entry: Entry) {
        guard let node = entry.node, nodes.isLastName(of: node) else { return }
        let flags = linux_O_PATH | O_NOFOLLOW
        guard let file = try? Backing.open(entry.name.bytes, in: entry.directory.raw, flags: flags) else { return }
        nodes.hold(node, SharedDescriptor(file))
    }

    /// The node of a name that is gone loses it.
    func leave(_ names: borrowing NamesHeldAlone, _ entry: Entry, now whereabouts: Node.Whereabouts) {
        guard let node = entry.node else { return }
        let document = node.isRegular ? documents.documentInMemory(at: entry.place) : nil
        nodes.removeName(names, entry.name, in: entry.parent, of: node, now: whereabouts, document)
        if case .gone = whereabouts { serving.passthrough.drop(node) }
    }
}
