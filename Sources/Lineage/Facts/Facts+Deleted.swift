// Documents and directories without a name (facts.md 5, "Deleted list").

import VersionModel

extension Facts {
    /// An entry of the deleted list: the row by which the name went, and the row by which it had been there.
    public struct Deleted: Hashable, Sendable {
        public var departure: NameRow
        public var occupant: NameRow
    }

    /// The removals that undelete takes back: of directories, and of documents without a name whose last name was
    /// removed, and not only because its maker wanted it no more. Oldest first.
    public func deleted() -> [Deleted] {
        rows.compactMap { row in
            guard row.how.isRemoval, let occupant = lastOccupant(of: row.place, before: row.number),
                !isPurged(row, of: occupant.document)
            else { return nil }
            let isDeleted =
                occupant.isDirectory ? isGone(directory: occupant) : isLastDeparture(row, of: occupant.document)
            return isDeleted ? Deleted(departure: row, occupant: occupant) : nil
        }
    }

    /// Names that were removed while their document had others, and that undelete gives back: the entries `link` of the
    /// deleted list, oldest first.
    ///
    /// | the name | |
    /// |---|---|
    /// | went because a link(2) and its unlink(2) were a rename | is none (`hidden`) |
    /// | is the last that went of a document without a name | is the document's own entry (``deleted()``) |
    /// | was given back, or its document has come back to it | is one no more |
    /// | was purged | is one no more |
    public func removedNames() -> [Deleted] {
        let entries = deleted()
        return rows.compactMap { row in
            guard row.how == .removed, let occupant = lastOccupant(of: row.place, before: row.number),
                !occupant.isDirectory, !isPurged(row, of: occupant.document),
                hadAnotherName(occupant, until: row), !hasReturned(occupant, since: row),
                !entries.contains(where: { $0.departure.number == row.number })
            else { return nil }
            return Deleted(departure: row, occupant: occupant)
        }
    }

    /// Whether the entry of a removal is gone for good. A document without a name is an entry again once a program has
    /// saved into it since, by the removal of its last name. No save gives another removed name back.
    func isPurged(_ removal: NameRow, of document: DocumentNumber) -> Bool {
        guard let purged = purged.first(where: { $0.removal == removal.number }) else { return false }
        if hasName(document) || lastDeparture(of: document)?.number != removal.number { return true }
        return !versions(of: document).contains { $0.number.number > purged.last }
    }

    /// Whether a document is gone for good: it has no name, its last one was removed, and no entry has it any more.
    func isGone(_ document: DocumentNumber) -> Bool {
        guard !hasName(document), let departure = lastDeparture(of: document), isPurged(departure, of: document) else {
            return false
        }
        return !removedNames().contains { $0.occupant.document == document }
    }

    /// Whether a document had another name at any time while it had this one.
    private func hadAnotherName(_ occupant: NameRow, until row: NameRow) -> Bool {
        rows(of: occupant.document).contains { other in
            guard other.place != occupant.place, other.number < row.number else { return false }
            return departure(of: other).map { $0.number > occupant.number } ?? true
        }
    }

    /// Whether a name that was removed is there again: by undelete, wherever, or because its document came back.
    private func hasReturned(_ occupant: NameRow, since row: NameRow) -> Bool {
        rows.contains { other in
            let isBack = other.file != nil && other.document == occupant.document && other.place == occupant.place
            return other.number > row.number && isBack || other.how == .undeleted && other.from == occupant.number
        }
    }

    private func isGone(directory occupant: NameRow) -> Bool {
        if rows.contains(where: { $0.from == occupant.number }) { return false }
        let next = rows.first { $0.number > occupant.number && $0.place == occupant.place && $0.file != nil }
        return next?.file != occupant.file || next == nil
    }

    private func isLastDeparture(_ row: NameRow, of document: DocumentNumber) -> Bool {
        guard !hasName(document), lastDeparture(of: document)?.number == row.number else { return false }
        return row.how != .hidden || hasVersion(document)
    }

    /// Documents that lost their name to another one, renamed over them: those that hold what neither a living document
    /// shows nor a deleted one, in the order of their numbers.
    ///
    /// What a program wrote under another name before it renamed that over the document is such a document, too, and
    /// shows nothing more. Of several that hold the same, the one with the most versions stands for all.
    public func superseded() -> [DocumentNumber] {
        var documents: [DocumentNumber] = []
        for row in rows
        where row.file != nil && !row.isDirectory && row.maker == nil && !documents.contains(row.document) {
            documents.append(row.document)
        }
        let deleted = deleted().map(\.occupant.document)
        var shown: Set<Fingerprint> = []
        for document in documents where hasName(document) {
            shown.formUnion(history(of: document).compactMap(fingerprint))
        }
        for document in deleted { shown.formUnion(listing(of: document).compactMap(fingerprint)) }
        let others = documents.filter { !hasName($0) && !deleted.contains($0) }
            .map { (document: $0, contents: listing(of: $0).compactMap(fingerprint)) }
            .sorted { ($1.contents.count, $0.document) < ($0.contents.count, $1.document) }
        let superseded = others.filter { other in
            let isNew = !shown.isSuperset(of: other.contents)
            shown.formUnion(other.contents)
            return isNew
        }
        return superseded.map(\.document).sorted()
    }
}
