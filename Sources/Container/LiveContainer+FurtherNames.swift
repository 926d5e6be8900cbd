// Files of several names: a name that goes while the file stays is noted in the deleted area, and can be given back.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// One of several names goes: the document lives on under the others. A note of the name stays in the deleted area
    /// unless it is no work to keep, or the name was only passing: link(2) and unlink(2) by one process are a rename.
    func unlinkName(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ document: Document, isWork: Bool, _ requester: Requester
    ) throws(Errno) {
        let isPassing = document.state.withLock { state in
            // The last of its own is not, though the file has names of other documents.
            guard let linked = state.linked, let actor = requester.actor, hasOthers(state, entry) else { return false }
            return linked.actor == actor.ref && now.since(linked.time) <= Tombstones.lifetimeNanoseconds
        }
        var note: Deletion?
        if isWork, !isPassing {
            var deletion = try deletion(of: entry, document, requester)
            deletion.type = .link
            deletion.size = 0
            do throws(Errno) {
                try space.retryingWhenFull(isRecord: true) { () throws(Errno) in try custodian.note(deletion) }
                note = deletion
            } catch {
                // The file stays, under its other names: on a full file system only the note goes missing.
                guard error.isFull else { throw error }
            }
        }
        if isWork, let node = entry.node, !document.state.withLock({ hasOthers($0, entry) }),
            let file = try? Backing.openQuietly(entry.name.bytes, in: entry.directory.raw, entry.stat.key)
        {
            defer { Glibc.close(file) }
            keepForItself(names, document, of: node, in: file, entry.stat)
        }
        do throws(Errno) {
            try holding(names, entry) { () throws(Errno) in
                try Backing.unlink(entry.name.bytes, in: entry.directory.raw)
            }
        } catch {
            if let note { custodian.drop(note.id) }
            throw error
        }
        leave(names, entry, now: .gone)
        try store(throwing: .ioError) { () throws(StoreError) in try documents.remove(names, at: entry.place) }
        // Before the document is unlocked: the next save under another name is recorded behind this.
        document.state.withLock { state in
            // A name that the file was renamed to was told, though it is a backup's; a name that its program has made
            // up was not.
            let isTold = !state.isUnversioned && state.maker.map { !$0.hasMade } ?? false
            // A backup's name goes, and the file has others: its names now were not made to be thrown away.
            if !isWork, !state.isUnannounced { state.maker = nil }
            let rows = lostName(&state, entry, isRecorded: note != nil)
            // Without a note, the version tells what it held.
            let version = note == nil && isWork && state.isRecorded ? state.current?.id : nil
            let item = isWork ? note?.item : document.item
            let gone = change(.deleted, in: entry.parent, entry.name, item: item, version: version, by: requester)
            // A name that a program made up for itself was never told.
            let events: [VersionStore.Mutation] = isWork || isTold ? [.change(gone)] : []
            record(entry.parent, rows + (note.map { [.deletion($0)] } ?? []) + events)
        }
        if let note { leaveTombstone(of: document, note, entry, requester) }
    }

    /// The last name of a document went, and its file is another document's, too: it comes back to its name as one
    /// whose file is in the deleted area does (DESIGN 5.1).
    private func leaveTombstone(
        of document: Document, _ note: Deletion, _ entry: Entry, _ requester: Requester
    ) {
        // The note holds no bytes: only a content that is kept elsewhere comes back.
        guard let actor = requester.actor, document.state.withLock({ $0.places.isEmpty && $0.isKept }) else { return }
        tombstones.leave(
            Tombstone(document: document, destination: .deleted(note.id), actor: actor.ref, time: now),
            at: entry.place)
        expireTombstones()
    }

    /// Whether the document has names beside an entry's. Its file may have some that are other documents'.
    private func hasOthers(_ state: Document.State, _ entry: Entry) -> Bool {
        state.places.contains { $0 != entry.place }
    }

    private func lostName(
        _ state: inout Document.State, _ entry: Entry, isRecorded: Bool
    ) -> [VersionStore.Mutation] {
        state.places.removeAll { $0 == entry.place }
        if state.stamp == Stamp(entry.stat), let node = entry.node, let stat = try? statLocked(node) {
            state.stamp = Stamp(stat)
        }
        var rows: [VersionStore.Mutation] = []
        if isRecorded { state.hasDeletedName = true }
        // The name finds its file again through the catalog.
        if isRecorded, !state.isRecorded, !state.isUnversioned, !state.places.isEmpty, let current = state.current {
            state.isRecorded = true
            rows.append(.version(current))
        }
        return rows + itemRows(state, entry.stat)
    }

    /// Puts an entry of the deleted area under a free name; a noted name becomes a name of its file again.
    ///
    /// - Returns: the entry as it was last: a noted name whose file was in the deleted area too is the file itself now.
    /// - Throws: ENOENT if the entry or its file is not there any more.
    func takeOut(
        _ names: borrowing NamesHeldAlone, _ id: DeletionID, to name: FileName, in directory: SharedDescriptor
    ) throws(Errno) -> Deletion {
        let found = try store(throwing: .ioError) { () throws(StoreError) in try store.deletion(id) }
        guard var deletion = found else { throw .noSuchFileOrDirectory }
        if deletion.type == .link {
            if let (_, live) = try liveName(of: deletion) {
                try Backing.link(live.path, in: live.directory.raw, to: name.bytes, in: directory.raw)
                custodian.drop(id)
                return deletion
            }
            guard let holder = try deletedFile(of: deletion) else {
                return try copyOut(deletion, to: name, in: directory)
            }
            deletion = try exchangeRoles(names, deletion, holder)
        }
        try custodian.moveOut(names, id, to: name, in: directory)
        return deletion
    }

    /// The file of a noted name has been replaced since, or is another document's: what it held then comes back as a
    /// file of its own.
    private func copyOut(
        _ deletion: Deletion, to name: FileName, in directory: SharedDescriptor
    ) throws(Errno) -> Deletion {
        guard let version = try version(of: deletion), let object = try? store.contents.open(version.content) else {
            throw .noSuchFileOrDirectory
        }
        let content = OpenContent(descriptor: SharedDescriptor(object.rawValue), size: version.size)
        let staged = try StagedFile(in: store.state)
        try staged.fill(from: content)
        try staged.dress(like: content.raw)
        try Backing.check { futimens(staged.file.raw, [version.modified.timespec, version.modified.timespec]) }
        try staged.place(name, in: directory, replacing: false)
        custodian.drop(deletion.id)
        var copy = deletion
        copy.type = .file
        // Its document goes on with that, unless it lives on elsewhere.
        let item = try store(throwing: .ioError) { () throws(StoreError) in try store.item(version.item) }
        let isWithoutName = item.map { $0.places.isEmpty && $0.current == version.id } ?? false
        if !isWithoutName || version.kind != .current { copy.item = nil }
        return copy
    }

    /// The document of an entry of the deleted area, if another of its names went last, a moment ago. It is back now.
    func documentWithoutName(of deletion: Deletion) -> Document? {
        guard let id = deletion.item, let document = tombstones.document(of: id) else { return nil }
        tombstones.forget(document)
        return document
    }

    /// The version that was in the file of a noted name when the name went.
    private func version(of deletion: Deletion) throws(Errno) -> Version? {
        guard let item = deletion.item else { return nil }
        return try store(throwing: .ioError) { () throws(StoreError) in
            try store.versions(of: item).filter { $0.saved <= deletion.deleted }.max { $0.time < $1.time }
        }
    }

    /// The noted name gets the file, and the other one is noted instead; the first as it is then.
    private func exchangeRoles(
        _ names: borrowing NamesHeldAlone, _ name: Deletion, _ holder: Deletion
    ) throws(Errno) -> Deletion {
        var (file, note) = (name, holder)
        (file.type, file.size) = (.file, holder.size)
        (note.type, note.size) = (.link, 0)
        // A tombstone says that its entry is the file.
        _ = tombstones.take(of: holder, now: now)
        try custodian.hand(names, holder.id, to: file)
        try custodian.note(note)
        store.commit([.deletion(file), .deletion(note)])
        return file
    }

    /// The document of a name that was given back has it again.
    /// - Parameter record: commits its rows, with the document locked: the next save is recorded behind them.
    func joinName(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion, _ place: Place, _ node: Node, _ stat: FileStat,
        _ record: ([VersionStore.Mutation]) -> Void
    ) throws(Errno) {
        try store(throwing: .ioError) { () throws(StoreError) in
            // Other names of the file may be other documents'.
            let own = (try? liveName(of: deletion)).map { [$0.place] } ?? []
            let others = nodes.names(node).map { Place(directory: $0.parent.file, name: $0.name) }
            var known: Document?
            for other in own + others where known == nil && other != place {
                known = try documents.document(at: other)
            }
            guard let document = known else { return record([]) }
            try documents.insert(names, document, at: place)
            document.state.withLock { state in
                if !state.places.contains(place) { state.places.append(place) }
                // A further name changes the file's ctime, and nothing of its content.
                if let current = state.current, current.size == stat.size, current.modified == stat.modified {
                    state.stamp = Stamp(stat)
                }
                record(itemRows(state, stat))
            }
        }
    }

    /// A name under which the file of a noted name lives. Called with the name lock held.
    private func liveName(of deletion: Deletion) throws(Errno) -> (place: Place, location: Location)? {
        guard let id = deletion.item else { return nil }
        let content = try version(of: deletion)?.content
        return try store(throwing: .ioError) { () throws(StoreError) in
            // Names that were parted from it by a save of one of them are items of their own.
            let parted = try content.map { (content) throws(StoreError) in try store.versions(sharing: content) } ?? []
            for item in [id] + parted.map(\.item) {
                // The first that is there will do: a file may have thousands of names.
                for place in try store.item(item)?.places ?? [] {
                    if let location = try location(of: place, holding: deletion.file) { return (place, location) }
                }
            }
            return nil
        }
    }

    /// Where a name is, if it has that file.
    private func location(of place: Place, holding file: FileID) throws(StoreError) -> Location? {
        guard let above = try store.path(of: place.directory), let directory = try? directory(beneath: above),
            let stat = try? Backing.stat(place.name.bytes, in: directory.raw), fileID(stat) == file
        else { return nil }
        return Location(directory: directory, path: place.name.bytes)
    }

    /// The entry of the deleted area that is the file of a noted name.
    private func deletedFile(of deletion: Deletion) throws(Errno) -> Deletion? {
        guard let id = deletion.item else { return nil }
        return try store(throwing: .ioError) { () throws(StoreError) in
            try store.deletions(of: id).first { $0.type == .file && $0.file == deletion.file }
        }
    }

    /// Where the file of an entry of the deleted area is: elsewhere for a noted name.
    func place(of id: DeletionID) -> Location {
        let own = ownPlace(of: id)
        guard let deletion = note(id, at: own) else { return own }
        if let live = try? names.reading({ () throws(Errno) in try liveName(of: deletion) }) { return live.location }
        guard let holder = try? deletedFile(of: deletion) else { return own }
        let other = store.deletedArea.place(of: holder.id)
        return Location(directory: SharedDescriptor(borrowing: other.directory.rawValue), path: Array(other.name.utf8))
    }

    /// The version that a noted name had, if its file is under no name of a document and in no other entry: nothing
    /// else has the name's content then.
    func versionOfNote(_ id: DeletionID) -> Version? {
        guard let deletion = note(id, at: ownPlace(of: id)),
            (try? names.reading({ () throws(Errno) in try liveName(of: deletion) })) == nil,
            (try? deletedFile(of: deletion)) == nil
        else { return nil }
        return try? version(of: deletion)
    }

    private func ownPlace(of id: DeletionID) -> Location {
        let entry = store.deletedArea.place(of: id)
        return Location(
            directory: SharedDescriptor(borrowing: entry.directory.rawValue), path: Array(entry.name.utf8))
    }

    /// The record of an entry that is the note of a name.
    private func note(_ id: DeletionID, at own: Location) -> Deletion? {
        // Notes are empty: the catalog is not asked for others.
        guard let stat = try? Backing.stat(own.path, in: own.directory.raw), stat.isRegular, stat.size == 0,
            let deletion = try? store.deletion(id), deletion.type == .link
        else { return nil }
        return deletion
    }
}
