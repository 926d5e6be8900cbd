// Documents that a program asks back (facts.md 2, the row "undelete"), or wants to be gone for good.

import VersionModel

extension Planning {
    /// What was deleted gets a name again. There is no new version.
    ///
    /// | the entry | its file | |
    /// |---|---|---|
    /// | is a directory's | | a new directory is the same one |
    /// | is a document's | is open still, and no other document was saved in it | the document has it again |
    /// | is a document's | is gone | the document has a new one, with its current version |
    /// | is one name's of several | has a name | that file's document has this name, too |
    /// | is one name's of several | was the document's to the end | the document has a new one, as above |
    /// | is one name's of several | was replaced since | a new document begins with what the name held |
    /// Without `takesFormer` no document has an open file again: it has a new one, and what a program writes in the old
    /// one later lies beside that.
    mutating func undelete(
        _ actor: ActorNumber, _ number: RowNumber, _ place: PlaceNumber, _ newFile: FileID, takesFormer: Bool
    ) {
        guard let row = facts[number], let former = row.file, facts.occupant(of: place) == nil, isDeleted(number) else {
            return
        }
        var come = self.row(place, newFile, .undeleted, by: actor)
        come.from = number
        if row.hasNoVersions {
            pass(.makeDirectory(place, newFile))
            come.hasNoVersions = true
        } else if let removed = facts.departure(of: row).flatMap(facts.removedName) {
            giveBack(removed, to: &come, takesFormer)
        } else {
            comeBack(row, from: former, to: &come, takesFormer)
        }
        record(.row(come))
    }

    /// Whether a row is an entry of the deleted list, or of a document that another one was renamed over.
    private func isDeleted(_ number: RowNumber) -> Bool {
        guard let row = facts[number] else { return false }
        let departure = facts.departure(of: row)
        if departure.flatMap({ facts.deletion(by: $0) ?? facts.removedName(by: $0) }) != nil { return true }
        return !row.hasNoVersions && facts.isReplaced(row.document)
    }

    /// A document without a name.
    private mutating func comeBack(
        _ row: NameRow, from former: FileID, to come: inout NameRow, _ takesFormer: Bool
    ) {
        // A program may be writing to it still.
        if !takesFormer || !isThere(former, for: row.document) { saveUnfinished(former) }
        if takesFormer, isThere(former, for: row.document) {
            come.file = former
            pass(.name(former, come.place))
        } else {
            make(come.file, facts.current(of: row.document), at: come.place)
        }
        come.document = row.document
    }

    /// Whether a file without a name holds what a document is. One that does not, and has not changed, holds what was
    /// purged. A database lacks what its log had.
    private func isThere(_ id: FileID, for document: DocumentNumber) -> Bool {
        guard let file = memory[id], facts.countOfNames(of: id) == 0, facts.lastRow(of: id)?.document == document,
            file.holds != nil || file.isChanged, !(file.holds.flatMap { facts[$0] }?.isImage(of: id) ?? false)
        else { return false }
        return file.holds.flatMap(facts.fingerprint) == facts.current(of: document).flatMap(facts.fingerprint)
    }

    /// A name that was removed while its document had others.
    private mutating func giveBack(_ removed: Facts.Deleted, to come: inout NameRow, _ takesFormer: Bool) {
        let (row, document) = (removed.occupant, removed.occupant.document)
        let names = facts.namesOfFile(from: row)
        if let name = names.first(where: { $0.document == document }) ?? names.first {
            (come.file, come.document) = (name.file, name.document)
            return pass(come.file.map { .name($0, come.place) })
        }
        if !facts.hasName(document), let file = row.file, facts.lastRow(of: document)?.file == file {
            return comeBack(row, from: file, to: &come, takesFormer)
        }
        let held = facts.shown(in: document, until: removed.departure.number.number)
        come.origin = held?.number ?? facts.origin(of: document)
        make(come.file, come.origin, at: come.place)
    }

    /// An entry of the deleted list goes for good, and with its last entry the document, and what programs wrote under
    /// other names to rename it over that. Of the versions only those stay that another document began with.
    mutating func purge(_ number: RowNumber) {
        guard let row = facts[number], row.how.isRemoval || facts.replacement(by: row) != nil else { return }
        pass(nil)
        record(.purge(number))
        guard let document = facts.lastOccupant(of: row.place, before: number)?.document, facts.isGone(document) else {
            return
        }
        let gone = gone(with: document)
        var forgotten: [VersionNumber] = []
        for document in gone {
            for version in facts.versions(of: document) {
                let others = heirs(of: version.number)
                let isOrigin = others.contains { !gone.contains($0) && !isPurged($0, along: gone) }
                if isOrigin { continue }
                record(.forget(version.number))
                forgotten.append(version.number)
            }
        }
        drop(forgotten)
    }

    /// A document that is purged, and those that go along: a purged document whose version was kept because this one
    /// began with it, and each that was only a temporary file of these.
    private func gone(with document: DocumentNumber) -> [DocumentNumber] {
        var (gone, count) = ([document], 0)
        while count < gone.count {
            count = gone.count
            for document in gone {
                guard let before = facts.origin(of: document).flatMap({ facts.document(of: $0) }) else { continue }
                if !gone.contains(before), isPurged(before, along: gone) { gone.append(before) }
            }
            for document in gone where facts.isGone(document) {
                let files = facts.rows(of: document).compactMap { facts.documentMoved(to: $0) }
                for file in files where !gone.contains(file) && isPurged(file, along: gone) { gone.append(file) }
            }
        }
        return gone
    }

    /// Whether a document is purged, or was a temporary file of one that is: it has no name, its file was renamed over
    /// that, and it shows no more than purged documents.
    private func isPurged(_ document: DocumentNumber, along gone: [DocumentNumber]) -> Bool {
        if facts.isGone(document) { return true }
        guard !facts.hasName(document), case .movedAway(let next?) = facts.lastDeparture(of: document)?.how,
            let successor = facts[next]?.document, successor != document, facts.isGone(successor)
        else { return false }
        let purged = (gone + [successor]).filter(facts.isGone)
        let contents = purged.flatMap(facts.versions(of:)).map(\.fingerprint)
        return facts.versions(of: document).allSatisfy { contents.contains($0.fingerprint) }
    }

    /// No file holds a version that is gone: a later write to the file is a save, also of the same content.
    mutating func drop(_ forgotten: [VersionNumber]) {
        for index in memory.files.indices {
            if let held = memory.files[index].holds, forgotten.contains(held) { memory.files[index].holds = nil }
        }
    }

    /// What a user has decided about conflicts. Each loser stays in the history, and no version's parents change.
    mutating func resolve(_ document: DocumentNumber, _ losers: [VersionNumber]) {
        memory.asked?.note(document)
        pass(nil)
        settle(losers, in: document)
    }

    mutating func settle(_ losers: [VersionNumber], in document: DocumentNumber) {
        for conflict in facts.conflicts(of: document) where losers.contains(conflict) { record(.settle(conflict)) }
    }

    /// A new file with the content of a version gets a name. It has the modification time of that version, too.
    mutating func make(_ file: FileID?, _ version: VersionNumber?, at place: PlaceNumber) {
        guard let file else { return }
        // Its own saver may be going on with it, in a file that is open still.
        if let home = version.flatMap({ facts[$0] })?.content.file, home != file { saveUnfinished(home) }
        let row = version.flatMap { facts[$0] }
        perform(.make(file, row))
        memory[file] = LiveFile(
            id: file, fingerprint: row?.fingerprint ?? .empty, modified: row?.modified ?? now, isChanged: false,
            holds: version)
        pass(.name(file, place))
        // A copied version is whole: further writes of its saver are another save.
        if let version { memory.asked?.note(version) }
        for index in memory.handles.indices where version != nil && memory.handles[index].saved == version {
            memory.handles[index].saved = nil
        }
    }
}
