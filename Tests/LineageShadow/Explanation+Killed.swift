// What a kill has interrupted: names that were left and come back behind it, and writing that no close has saved.

import Lineage

extension Explanation {
    /// The container remembers the names that were left a moment ago, and forgets them with a kill. By the rules the
    /// facts have them: the document comes back, while the container goes on with what it had been, and the name is a
    /// new document's.
    ///
    /// | the place | the container shows | the rules show |
    /// |---|---|---|
    /// | is that of the name | what was saved since | all of it |
    /// | has the file that was there | all until then | what the file began with |
    func isOfNameBehindKill(_ place: PlaceNumber, _ difference: Difference) -> Bool {
        guard let today = difference.historiesToday.first, let document = facts.occupant(of: place)?.document else {
            return false
        }
        if let back = returnBehindKill(of: document), back.place == place {
            return today == facts.listing(of: document).filter { $0.number > back.number.number }.map(shadow.text)
        }
        guard let first = facts.firstRow(of: document), first.isParted,
            let former = first.origin.flatMap({ facts.document(of: $0) }),
            let back = returnBehindKill(of: former), back.place != place
        else { return false }
        let own = facts.versions(of: document).map(\.number).sorted().reversed()
        return today == (own + listing(of: former, before: back)).map(shadow.text)
    }

    /// Whether an entry of the container's deleted list is what a document was until it came back.
    func isOfNameBehindKill(_ entry: String, _ departure: NameRow) -> Bool {
        guard let last = facts.lastOccupant(of: departure.place, before: departure.number),
            let back = returnBehindKill(of: last.document), facts.departure(of: departure)?.number == back.number,
            let path = shadow.departures[departure.number]
        else { return false }
        return entry == Answer.deleted(path, listing(of: last.document, before: back).map(shadow.text))
    }

    /// Whether a history is what a document was until it came back.
    func isOfNameBehindKill(_ history: [String], in document: DocumentNumber) -> Bool {
        guard let back = returnBehindKill(of: document) else { return false }
        return history == listing(of: document, before: back).map(shadow.text)
    }

    /// Whether all that differs is what versions held when a rename made them, in the middle of writing. By the rules
    /// the handle went on with such a version until another one overwrote its bytes. The container would have amended
    /// it at the close, which the kill has left out.
    func isAmendedBeforeKill(_ document: DocumentNumber, _ difference: Difference) -> Bool {
        let listing = facts.listing(of: document)
        guard let today = difference.historiesToday.first, today.count == listing.count else { return false }
        return zip(today, listing).allSatisfy { text, version in
            if text == shadow.text(version) { return true }
            return shadow.kills.contains { version.number <= $0 } && shadow.amendedFirst.contains(version)
                && (shadow.formerly[version] ?? []).map(shadow.texts.text).contains(text)
        }
    }

    private func listing(of document: DocumentNumber, before row: NameRow) -> [VersionNumber] {
        facts.listing(of: document).filter { $0.number < row.number.number }
    }

    /// The row by which a document came back to a name that it had left before a kill.
    private func returnBehindKill(of document: DocumentNumber) -> NameRow? {
        facts.rows(of: document).last { row in
            guard row.isContinuing, let vacated = vacated(before: row) else { return false }
            return shadow.kills.contains { vacated.number.number <= $0 && $0 < row.number.number }
        }
    }
}
