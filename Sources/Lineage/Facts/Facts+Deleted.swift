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
    public func deleted() -> [Deleted] { rows.compactMap(deletion) }

    /// The entry of a removal; nil if it has none. A name without versions leaves none where its removal is hidden.
    public func deletion(by departure: NameRow) -> Deleted? {
        guard departure.how.isRemoval, let occupant = lastOccupant(of: departure.place, before: departure.number),
            !isPurged(departure, of: occupant.document)
        else { return nil }
        let isDeleted =
            occupant.hasNoVersions
            ? departure.how == .removed && isGone(directory: occupant)
            : isLastDeparture(departure, of: occupant.document)
        return isDeleted ? Deleted(departure: departure, occupant: occupant) : nil
    }

    /// Names that were removed while their document had others, and that undelete gives back: the entries `link` of the
    /// deleted list, oldest first.
    public func removedNames() -> [Deleted] { rows.compactMap(removedName) }

    /// The entry of one removed name of several.
    ///
    /// | the name | |
    /// |---|---|
    /// | went because a link(2) and its unlink(2) were a rename | is none (`hidden`) |
    /// | is the last that went of a document without a name | is the document's own entry (``deletion(by:)``) |
    /// | was given back, or its document has come back to it | is one no more |
    /// | was purged | is one no more |
    public func removedName(by departure: NameRow) -> Deleted? {
        guard departure.how == .removed, let occupant = lastOccupant(of: departure.place, before: departure.number),
            !occupant.hasNoVersions, !isPurged(departure, of: occupant.document),
            hadAnotherName(occupant, until: departure), !hasReturned(occupant, since: departure),
            deletion(by: departure) == nil
        else { return nil }
        return Deleted(departure: departure, occupant: occupant)
    }

    /// Whether the entry of a removal is gone for good. A document without a name is an entry again once a program has
    /// saved into it since, by the removal of its last name. No save gives another removed name back.
    func isPurged(_ removal: NameRow, of document: DocumentNumber) -> Bool {
        let purge = purged.first { $0.removal == removal.number } ?? log.flatMap { $0.log.purge(of: removal.number) }
        guard let purge else { return false }
        if hasName(document) || lastDeparture(of: document)?.number != removal.number { return true }
        return newestVersion(of: document).map { $0.number.number <= purge.last } ?? true
    }

    /// Whether a document is gone for good: it has no name, its last one was removed, and no entry has it any more.
    public func isGone(_ document: DocumentNumber) -> Bool {
        guard !hasName(document), let departure = lastDeparture(of: document), isPurged(departure, of: document) else {
            return false
        }
        return !rows(of: document).contains { self.departure(of: $0).flatMap(removedName) != nil }
    }

    /// Whether a document lost its last name to a file that was renamed over it, or away, and has versions.
    public func isReplaced(_ document: DocumentNumber) -> Bool {
        guard !hasName(document), hasVersion(document) else { return false }
        return lastDeparture(of: document).map { !$0.how.isRemoval } ?? false
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
        rows(of: occupant.document, after: row.number).contains { $0.place == occupant.place }
            || successors(of: occupant.number).contains { $0.how == .undeleted }
    }

    private func isGone(directory occupant: NameRow) -> Bool {
        if !successors(of: occupant.number).isEmpty { return false }
        var next = departure(of: occupant)
        while let row = next, row.file == nil { next = departure(of: row) }
        return next.map { $0.file != occupant.file } ?? true
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
        where row.file != nil && !row.hasNoVersions && row.maker == nil && !documents.contains(row.document) {
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
