// Histories without a name: documents that lost it to another one.

import Lineage
import VersionModel

extension Explanation {
    /// By which rule the lists differ; all of their differences must have one.
    ///
    /// | only | the history | |
    /// |---|---|---|
    /// | Lineage has it | is one of the container's, with what was not saved yet | saved first |
    /// | Lineage has it | is of a name that a file was renamed over, and then back | stays under that name |
    /// | Lineage has it | is of a file that went on with another document, or of one that did not | came back, or not |
    /// | the container has it | is shown by names | the history of a copy goes on, or it came back |
    func superseded(_ difference: Difference) -> ListedChange? {
        var today = difference.historiesToday
        var changes: [ListedChange?] = []
        for history in difference.historiesThen {
            let documents = documents(with: history)
            var change: ListedChange?
            for document in documents where change == nil { change = more(document, history, &today) }
            change = change ?? leftBehind(documents) ?? cameBack(documents) ?? overUnsaved(documents)
            // What is one document may be several today.
            today.removeAll { change != nil && $0.allSatisfy(history.contains) }
            changes.append(change)
        }
        for history in today { changes.append(shown(history)) }
        return changes.contains(nil) ? nil : changes.first ?? nil
    }

    private func documents(with history: [String]) -> [DocumentNumber] {
        facts.superseded().filter { shadow.listing($0) == history }
    }

    /// A history that is one of the container's, or is shown by its names, but for versions that it has not.
    private func more(_ document: DocumentNumber, _ history: [String], _ today: inout [[String]]) -> ListedChange? {
        let listing = facts.listing(of: document)
        let index = today.firstIndex { other in
            listing.filter { !isMore($0) || other.contains(shadow.text($0)) }.map(shadow.text) == other
        }
        if let index {
            today.remove(at: index)
        } else if let index = today.firstIndex(where: {
            $0.count == history.count + 1 && $0.without([""]) == history
        }) {
            today.remove(at: index)
            return wasPassedOver([""], in: document) ? .notAtEachClose : nil
        }
        let more = listing.filter(isMore)
        return more.isEmpty ? nil : more.contains(where: shadow.unfinished.contains) ? .savedFirst : .writtenTogether
    }

    /// A document that came back to its name, and lost that again: what it got there is a document of its own today.
    /// The container shows both parts of it, each somewhere, but for what it has not saved.
    private func cameBack(_ documents: [DocumentNumber]) -> ListedChange? {
        let shown = today.shown
        for document in documents {
            let own = facts.listing(of: document).filter { !isMore($0) && facts[$0]?.beside == .no }
            guard own.map(shadow.text).allSatisfy(shown.contains) else { continue }
            if let claim = facts.rows(of: document).lazy.compactMap({ claim(of: $0) }).first { return claim }
        }
        return nil
    }

    /// Whether the container has not made this version.
    private func isMore(_ version: VersionNumber) -> Bool {
        shadow.unfinished.contains(version) || shadow.shared.contains(version)
    }

    /// A document whose file was replaced before it was ever saved: today it is none.
    private func overUnsaved(_ documents: [DocumentNumber]) -> ListedChange? {
        let isOver = documents.contains { document in
            facts.rows(of: document).contains { row in
                row.isContinuing && row.how == .moved && vacated(before: row) == nil
                    && !facts.versions(of: document).contains { $0.number.number < row.number.number }
            }
        }
        return isOver ? .unsavedOccupant : nil
    }

    private func leftBehind(_ documents: [DocumentNumber]) -> ListedChange? {
        let places = shadow.places.indices.map { PlaceNumber(UInt32($0)) }
        if places.contains(where: { goneBack(to: $0).map(documents.contains) ?? false }) { return .backFromOver }
        for row in facts.rows.reversed() where row.file != nil {
            guard let vacated = vacated(before: row) else { continue }
            if row.isContinuing {
                let former = row.from.flatMap { facts[$0] }?.document
                if former.map(documents.contains) ?? false, isOfOneVersion(vacated) { return .cameBack }
            } else if let last = facts.lastOccupant(of: vacated.place, before: vacated.number),
                documents.contains(last.document), let reason = staysAway(vacated)
            {
                return reason
            }
        }
        return nil
    }

    /// Whether a document had one version when a rename took it from its name.
    func isOfOneVersion(_ vacated: NameRow) -> Bool {
        guard !vacated.how.isRemoval,
            let last = facts.lastOccupant(of: vacated.place, before: vacated.number)
        else { return false }
        return facts.listing(of: last.document).filter { $0.number < vacated.number.number }.count == 1
    }

    /// Why a history that the container has no name for is shown by names.
    private func shown(_ history: [String]) -> ListedChange? {
        let living = shadow.places.indices.compactMap { facts.occupant(of: PlaceNumber(UInt32($0))) }
        for row in living {
            let listing = facts.listing(of: row.document).map(shadow.text)
            guard history.allSatisfy(listing.contains) else { continue }
            if isOfNameBehindKill(history, in: row.document) { return .leftBeforeKill }
            let claims = facts.rows(of: row.document).compactMap { claim(of: $0) }
            if let claim = claims.first { return claim }
        }
        return isBehindOrigins(history) ? .isBehindOrigin : nil
    }

    /// What was decided otherwise when a name appeared.
    private func claim(of row: NameRow) -> ListedChange? {
        guard let vacated = vacated(before: row) else { return nil }
        if row.isContinuing { return isOfOneVersion(vacated) ? .cameBack : nil }
        return staysAway(vacated)
    }

    /// Whether living documents have this history behind what they began with.
    private func isBehindOrigins(_ history: [String]) -> Bool {
        let living = shadow.places.indices.compactMap { facts.occupant(of: PlaceNumber(UInt32($0))) }
        var shown = Set(living.flatMap { facts.history(of: $0.document) })
        shown.formUnion(facts.deleted().flatMap { facts.listing(of: $0.occupant.document) })
        let contents = Set(shown.compactMap(facts.fingerprint))
        return Set(facts.rows.map(\.document)).contains { document in
            let listing = facts.listing(of: document)
            return listing.map(shadow.text) == history
                && listing.allSatisfy { facts.fingerprint($0).map(contents.contains) ?? false }
        }
    }
}
