// Changing a document from within: new content under its name as a version of its own, and new documents beside it.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// What replaces a document's content, and what it means to the document's versions.
struct Replacement {
    var staged: StagedFile
    /// The versions that the new one supersedes besides the current one.
    var parents: [VersionID] = []
    /// The version that must still be current; nil for any.
    var expected: VersionID?
    /// Further rows of the same transaction.
    var rows: (_ new: Version, _ parent: Node, _ name: FileName) -> [VersionStore.Mutation] = { _, _, _ in [] }
}

extension LiveContainer {
    /// Puts new content under a document's name: what was current is history, and the new version has it as a parent.
    func replace(_ path: TreePath, with replacement: Replacement, as principal: Principal) throws -> Version {
        let requester = requester(principal)
        if let node = try? looking(as: .container, { try $0.document(path).node }) { databases.captureAhead(node) }
        let keepsSetID = keepsSetID(replacement.parents.first, at: path, as: principal)
        return try changing(as: principal) { walk, changed, names in
            let (spot, node, stat) = try walk.document(path)
            try walk.require(.write, on: spot)
            let document = try document(of: node, stat, at: spot.place, in: spot.parent)
            changed.append(spot)
            do { try partFromJournals(names, document, spot, requester) } catch { throw spot.explained(error) }
            let version = try document.state.withLock { state in
                let current = try settledCurrent(&state, spot, node, stat)
                if let expected = replacement.expected, expected != current.id {
                    throw OperationError.savedMeanwhile(path)
                }
                let now: FileStat
                do {
                    now = try displace(names, &state, document, spot, node, by: replacement.staged, keepsSetID)
                } catch { throw spot.explained(error) }
                hear(.replaced(spot.place, fileID(now), requester))
                let parents = [current.id] + replacement.parents.filter { $0 != current.id }
                let version = newVersion(of: state.item, replacement.staged, now, parents: parents, requester)
                return recordReplacement(version, current, &state, spot, now, replacement, requester)
            }
            // A file of several names was written over, which may be other documents'.
            if let live = try? spot.open(flags: O_RDONLY) {
                shareSave(names, in: node, from: live, .replacing, by: requester, savedIn: document)
            }
            return version
        }
    }

    /// The journals of a database belong to what it holds now: they go to the
    /// deleted area before it holds something else.
    private func partFromJournals(
        _ names: borrowing NamesHeldAlone, _ document: Document, _ spot: Spot, _ requester: Requester
    ) throws {
        guard DatabaseRule.database(ofJournal: spot.name) == nil else { return }
        let file = try spot.open(flags: O_RDONLY)
        guard DatabaseRule.isDatabase(spot.name, file: file.raw) else { return }
        // A program that has it open would continue with the file that loses its name, and with the journals of the new
        // one.
        guard nodes.node(try Backing.stat(file.raw).key)?.hasWriters != true else {
            throw OperationError.databaseOpen(spot.path)
        }
        try document.state.withLock { state in
            guard let node = nodes.node(try Backing.stat(file.raw).key) else { return }
            captureBeforeLoss(&state, node, spot.name, in: spot.parent)
        }
        for journal in DatabaseRule.journals(of: spot.name) {
            guard let stat = try Backing.statIfPresent(journal.bytes, in: spot.directory.raw), stat.isRegular
            else { continue }
            let entry = Entry(
                parent: spot.parent, name: journal, directory: spot.directory, stat: stat, node: nodes.node(stat.key))
            try displace(names, entry, by: stat, requester)
        }
    }

    private func recordReplacement(
        _ version: Version, _ current: Version, _ state: inout Document.State, _ spot: Spot, _ stat: FileStat,
        _ replacement: Replacement, _ requester: Requester
    ) -> Version {
        var loser = state.current ?? current
        loser.kind = .history
        state.siblings.add(loser)
        state.current = version
        state.isRecorded = true
        state.stamp = Stamp(stat)
        (state.isKept, state.sharesContent, state.isReturning, state.appended) = (false, false, false, nil)
        state.saver = requester.actor
        observers.saved(version.id, of: state.item, by: requester.actor, now: version.saved)
        let event = change(
            .saved, in: spot.parent, spot.name, item: state.item, version: version.id, by: requester)
        record(
            spot.parent,
            [.version(loser), .version(version)] + itemRows(state, stat) + [.change(event)]
                + replacement.rows(version, spot.parent, spot.name))
        hashLater(version)
        return version
    }

    private func newVersion(
        of item: ItemID, _ staged: StagedFile, _ stat: FileStat, parents: [VersionID], _ requester: Requester
    ) -> Version {
        let hash = stat.size <= Self.hashedAtOnce ? ContentHash.sha256(of: staged.file.raw, size: stat.size) : nil
        return Version(
            id: .random(), item: item, kind: .current, content: .random(), size: stat.size, modified: stat.modified,
            saved: now, time: time.next(), device: store.identity.device, author: requester.author, parents: parents,
            hash: hash, attributes: Attributes(stat), flags: .sealed)
    }

    /// The current version, after the file's content has become a version: an unfinished edit becomes one.
    func settledCurrent(
        _ state: inout Document.State, _ spot: Spot, _ node: Node, _ stat: FileStat
    ) throws -> Version {
        if state.isUnversioned {
            throw OperationError.unversioned(spot.path)
        }
        let isBeingSaved = state.isReturning || state.differs(from: stat) && node.hasWriters
        guard !isBeingSaved else {
            throw OperationError.beingSaved(spot.path)
        }
        if state.differs(from: stat) {
            let file = try spot.open(flags: O_RDONLY)
            try save(
                &state, node, in: spot.parent, spot.name, file: file.raw,
                PendingSave(kind: .appendOrInPlace, requester: nil, isSealed: true))
        }
        guard let current = state.current else { throw OperationError(.notFound, "no version yet", path: spot.path) }
        return current
    }

    /// Exchanges the file of a name for a staged one, and keeps the old one: by rename, or in place if the file has
    /// several names or may not get its owner. Returns the attributes of the new file.
    private func displace(
        _ names: borrowing NamesHeldAlone,
        _ state: inout Document.State, _ document: Document, _ spot: Spot, _ node: Node,
        by staged: StagedFile, _ keepsSetID: Bool
    ) throws -> FileStat {
        let live = try spot.open(flags: O_RDONLY)
        let stat = try Backing.stat(live.raw)
        // What another document has in the same file stays as it is there.
        let isShared = stat.links > 1 && isSharedFile(node)
        let isAlone = stat.links == 1 || isShared && state.places == [spot.place]
        guard isAlone, (try? staged.dress(like: live.raw, keepsSetID: keepsSetID)) != nil else {
            return try overwrite(&state, spot, node, from: staged, keepsSetID)
        }
        try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(staged.file.raw) } }
        try keepDisplaced(names, &state, of: node, spot.name, in: spot.directory, stat)
        try staged.place(spot.name, in: spot.directory, replacing: true)
        if node.hasWriters, !isShared {
            orphans.add(
                Orphan(
                    document: document, parent: spot.parent, name: spot.name, stamp: state.stamp,
                    base: state.current?.id), node)
        }
        let entry = Entry(parent: spot.parent, name: spot.name, directory: spot.directory, stat: stat, node: node)
        let kept = state.isKept && !isShared ? state.current?.content : nil
        leave(names, entry, now: kept.map { .kept($0) } ?? .gone)
        return try Backing.stat(staged.file.raw)
    }

    // MARK: New documents

    /// Puts a staged file under a name that is free, as a new document whose first version names `parents`.
    func putNew(
        _ staged: StagedFile, at path: TreePath, mode: UInt32, modified: Timestamp?, parents: [VersionID],
        as principal: Principal, rows: [VersionStore.Mutation] = []
    ) throws -> Version {
        let requester = requester(principal)
        if options.servesOthers { try own(staged.file.raw, principal) }
        try Backing.check { fchmod(staged.file.raw, mode_t(mode & 0o777)) }
        if let modified { try Backing.check { futimens(staged.file.raw, [modified.timespec, modified.timespec]) } }
        return try changing(as: principal) { walk, changed, names in
            let spot = try walk.spot(path)
            guard spot.stat == nil else { throw OperationError.taken(path) }
            _ = try name(spot.name.bytes, in: spot.parent, forChange: true)
            try walk.requireChange(of: spot)
            do { try staged.place(spot.name, in: spot.directory, replacing: false) } catch {
                throw spot.explained(error)
            }
            changed.append(spot)
            return try recordNew(names, staged, spot, parents, requester, rows)
        }
    }

    /// Gives a new file to whom it is made for.
    func own(_ file: Int32, _ principal: Principal) throws(Errno) {
        let group = principal.primaryGroup ?? .max
        try Backing.check { fchown(file, principal.user, group) }
    }

    private func recordNew(
        _ names: borrowing NamesHeldAlone, _ staged: StagedFile, _ spot: Spot, _ parents: [VersionID],
        _ requester: Requester, _ rows: [VersionStore.Mutation]
    ) throws -> Version {
        let stat = try Backing.stat(staged.file.raw)
        _ = tombstones.take(at: spot.place, now: now) { _ in false }
        var state = Document.State(item: .random(), places: [spot.place])
        let version = newVersion(of: state.item, staged, stat, parents: parents, requester)
        state.current = version
        (state.isRecorded, state.isVerified) = (true, true)
        state.stamp = Stamp(stat)
        state.saver = requester.actor
        let item = itemRows(state, stat)
        try store(throwing: .ioError) { () throws(StoreError) in
            try documents.insert(names, Document(state), at: spot.place)
        }
        observers.saved(version.id, of: version.item, by: requester.actor, now: version.saved)
        let events = [ChangeEvent.created, .saved].map { event -> VersionStore.Mutation in
            .change(
                change(
                    event, in: spot.parent, spot.name, item: version.item, version: event == .saved ? version.id : nil,
                    by: requester))
        }
        record(spot.parent, [.version(version)] + item + events + rows)
        hashLater(version)
        return version
    }

    /// Stages a copy of a version.
    func stage(_ version: Version, of document: DocumentRecord, as principal: Principal) throws -> StagedFile {
        guard mayRead(version, of: document, as: principal) else { throw OperationError.denied(document.path) }
        let content = try content(of: version, in: document)
        let staged = try StagedFile(in: store.state)
        try staged.fill(from: content)
        return staged
    }
}
