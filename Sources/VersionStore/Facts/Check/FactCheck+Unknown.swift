// The check of what no fact tells of: objects and deleted entries without a row.

import Glibc
import Lineage
import SystemPackage
import VersionModel

extension FactCheck {
    // MARK: Objects

    func checkUnknownObjects() throws(StoreError) {
        let unknown: [ContentID] = try unknown(in: store.contents.shelf) { id throws(StoreError) in
            try isKnown(Content(id))
        }
        for id in unknown {
            let content = Content(id)
            guard isSettled(store.contents.place(of: id)), try !isKnown(content), !container.isKnown(content) else {
                continue
            }
            guard let labels = try? store.contents.labels(of: id), let first = labels.first else {
                reportLost(.labelUnreadable, "objects", id.hex, "no fact tells of it and its label cannot be read")
                continue
            }
            let text = "no version has this content"
            guard try isPassed(content), let home = try home(of: content.file, at: first.place) else {
                reportLost(.objectUnknown, "objects", id.hex, path: first.path, text)
                continue
            }
            try report(
                .objectUnknown, id.hex, path: first.path, text, repair: "record it again from its label"
            ) { () throws(StoreError) in try record(content, labels.filter { $0.version.content == id }, home) }
        }
    }

    /// Those that no row knows, in their order.
    private func unknown<Subject>(
        in shelf: Shelf, _ isKnown: (Identifier<Subject>) throws(StoreError) -> Bool
    ) throws(StoreError) -> [Identifier<Subject>] {
        var (found, failure): ([Identifier<Subject>], StoreError?) = ([], nil)
        do throws(Errno) {
            try shelf.forEach { (id: Identifier<Subject>) in
                guard failure == nil else { return }
                do throws(StoreError) { if try !isKnown(id) { found.append(id) } } catch { failure = error }
            }
        } catch { throw .io(error, "reading the kept contents") }
        if let failure { throw failure }
        return found.sorted()
    }

    /// Whether a row has a version in a content, also one that was given up.
    private func isKnown(_ content: Content) throws(StoreError) -> Bool {
        try facts.read { database in
            try SQLStatement(
                database, "SELECT 1 FROM version WHERE file = ? AND generation = ? LIMIT 1",
                .number(content.file.number), .number(content.generation)
            ).first { _ in true } ?? false
        }
    }

    /// Whether its file goes on in a later content, or nowhere. A version in any other content would be taken for what
    /// the file holds.
    private func isPassed(_ content: Content) throws(StoreError) -> Bool {
        let log = facts.facts()
        let last = log.lastContent(of: content.file)
        if let failure = log.failure { throw CatalogConnection.storeError(failure) }
        if let last, last.generation > content.generation { return true }
        if case .gone = container.look(for: content.file) { return !container.isOpen(content.file) }
        return false
    }

    /// Records the versions that an object says it is the content of, as history. They keep their identities.
    private func record(
        _ content: Content, _ labels: [ContentStore.Label], _ home: RowNumber
    ) throws(StoreError) {
        try record(aboutFile: content.file, count: UInt64(labels.count)) { first throws(StoreError) in
            var transaction = FactTransaction()
            for (index, label) in labels.enumerated() {
                let number = VersionNumber(first + UInt64(index))
                guard let row = try version(label, number, content, home) else { continue }
                transaction.add(.version(row))
                let said = label.version
                transaction.describe(
                    number, VersionDetail(hash: said.hash, attributes: said.attributes, alias: said.id))
            }
            return transaction
        }
    }

    /// - Returns: nil if the object does not have its bytes.
    private func version(
        _ label: ContentStore.Label, _ number: VersionNumber, _ content: Content, _ home: RowNumber
    ) throws(StoreError) -> VersionRow? {
        let said = label.version
        guard let bytes = try bytes(said, content) else { return nil }
        let author = try facts.number(of: ActorFacts(author: said.author, started: 0))
        var row = VersionRow(
            number: number, time: said.saved, row: home, content: content, fingerprint: bytes, file: content.file,
            modified: said.modified, author: author)
        row.beside = .history
        var parents: [VersionNumber] = []
        for parent in said.parents { if let known = try facts.version(parent) { parents.append(known) } }
        row.parents = Parents(parents.first, parents.dropFirst().first).filter { $0 < number }
        return row
    }

    private func bytes(_ said: Version, _ content: Content) throws(StoreError) -> Fingerprint? {
        do throws(Errno) {
            let object = try store.contents.open(said.content)
            defer { System.close(object) }
            guard UInt64(clamping: try System.status(object).st_size) >= said.size else { return nil }
            return try ContentPrefix.fingerprint(of: object, said.size, in: content, modified: said.modified)
        } catch { throw .io(error, "reading a kept content") }
    }

    // MARK: Entries

    /// The entries of the deleted list that `deleted/` has.
    func checkEntries() throws(StoreError) {
        var last = RowNumber(0)
        while true {
            let portion = try facts.read { database in
                try SQLStatement(
                    database,
                    """
                    SELECT seq FROM name WHERE file IS NULL AND seq > ? AND flags & \(FactTables.NameFlag.isEntry)
                        AND purged IS NULL ORDER BY seq LIMIT ?
                    """, .number(last.number), .integer(Int64(Self.portion))
                ).rows { RowNumber($0.number(0)) }
            }
            for removal in portion { try checkEntry(removal) }
            guard let end = portion.last else { return }
            last = end
        }
    }

    /// A directory went below the mount if no program is known to have removed it: it left nothing there, and comes
    /// back as a new one.
    private func checkEntry(_ removal: RowNumber) throws(StoreError) {
        guard let id = try facts.lists.id(ofDeletion: removal), try !isThere(id),
            let entry = try facts.lists.deletedEntry(removal), entry.detail.isEntry, try !isThere(id),
            entry.detail.type != .directory || facts.facts().row(removal)?.actor != nil
        else { return }
        let path = try history.path(of: entry.place.directory)?.appending(entry.place.name)
        try report(
            .deletionMissing, id.hex, path: path, "the deleted entry is gone", repair: "forget the deletion"
        ) { () throws(StoreError) in
            try record(aboutFile: entry.occupant.file ?? .root, count: 0) { _ in FactTransaction([.purge(removal)]) }
        }
    }

    private func isThere(_ id: DeletionID) throws(StoreError) -> Bool {
        let (directory, name) = store.deletedArea.place(of: id)
        do throws(Errno) { return try System.exists(name, in: directory) } catch {
            throw .io(error, "looking at a deleted entry")
        }
    }

    func checkUnknownEntries() throws(StoreError) {
        let area = store.deletedArea
        let isKnown = { (id: DeletionID) throws(StoreError) in try self.facts.removal(id) != nil }
        for id in try unknown(in: area.shelf, isKnown) {
            guard isSettled(area.place(of: id)), try !isKnown(id) else { continue }
            guard let label = try? area.label(of: id), label.id == id else {
                reportLost(.labelUnreadable, "deleted", id.hex, "no fact tells of it and its label cannot be read")
                continue
            }
            let text = "no deletion names this entry"
            let place = try facts.number(of: label.place)
            guard label.type != .file, label.type != .link, facts.facts().lastRow(at: place)?.file == nil else {
                reportLost(.deletionUnknown, "deleted", id.hex, path: label.path, text)
                continue
            }
            try report(
                .deletionUnknown, id.hex, path: label.path, text, repair: "record it again from its label"
            ) { () throws(StoreError) in try record(label, at: place) }
        }
    }

    /// Records that a place had the entry, and has lost it.
    private func record(_ label: Deletion, at place: PlaceNumber) throws(StoreError) {
        let actor = try facts.number(of: ActorFacts(author: label.author, started: 0))
        try record(aboutFile: label.file, count: 2) { first in
            var found = NameRow(
                number: RowNumber(first), time: label.deleted, place: place, file: label.file, how: .found, actor: nil)
            found.hasNoVersions = true
            let removal = NameRow(
                number: RowNumber(first + 1), time: label.deleted, place: place, file: nil, how: .removed, actor: actor)
            var transaction = FactTransaction([.row(found), .row(removal)])
            transaction.describe(found.number, NameDetail(type: label.type))
            transaction.describe(removal.number, NameDetail(type: label.type, isEntry: true, deletion: label.id))
            return transaction
        }
    }
}
