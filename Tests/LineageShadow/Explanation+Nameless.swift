// Documents without a name: entries of the deleted list, and documents that lost their name to another one.

import Lineage

extension Explanation {
    // MARK: The deleted list

    func deleted(_ difference: Difference) -> [ListedChange]? {
        var missed = difference.onlyToday.map { entry in today.deletions.first { $0.description == entry } }
        var rules: [[ListedChange]?] = []
        for entry in difference.onlyThen {
            let departures = departures(of: entry)
            var found: [ListedChange]?
            for (departure, document) in departures where found == nil {
                for index in missed.indices where found == nil {
                    guard let other = missed[index], other.path == shadow.departures[departure.number] else { continue }
                    found = align(other.history, with: document) ?? alignBefore(other.history, with: document)
                    if found != nil { missed.remove(at: index) }
                }
            }
            rules.append(found ?? departures.lazy.compactMap(added).first.map { [$0] })
        }
        rules += missed.map { $0.flatMap(missing) }
        return rules.contains { $0 == nil } ? nil : rules.flatMap { $0 ?? [] }
    }

    /// The same as long as the document had not come back: the container has another one since.
    private func alignBefore(_ history: [String], with document: DocumentNumber) -> [ListedChange]? {
        turns.lazy.filter { $0.isBack && $0.document == document }.compactMap { turn in
            align(history, with: document, before: turn.row).map { [turn.change] + $0 }
        }.first
    }

    /// The rows by which the name of an entry of the rules went, newest first, and its document.
    private func departures(of entry: String) -> [(NameRow, DocumentNumber)] {
        facts.rows.reversed().compactMap { row in
            guard row.how.isRemoval, let path = shadow.departures[row.number],
                let document = facts.lastOccupant(of: row.place, before: row.number)?.document,
                Answer.Deletion(path: path, history: shadow.listing(document)).description == entry
            else { return nil }
            return (row, document)
        }
    }

    /// Why only the rules have an entry.
    ///
    /// | the document | the container |
    /// |---|---|
    /// | is a copy that had no save when its name went | has brought it back, or hides it |
    /// | stays away from this name, which is another one's | has brought it back |
    /// | stays away from its former name | has brought it back there; this name was a copy's, removed by its mover |
    private func added(_ departure: NameRow, _ document: DocumentNumber) -> ListedChange? {
        if facts.isUnsavedCopy(document, before: departure) { return .isUnsavedCopy }
        return turns.first { !$0.isBack && $0.document == document }?.change
    }

    /// Why only the container has an entry.
    private func missing(_ entry: Answer.Deletion) -> [ListedChange]? {
        for turn in turns where turn.isBack {
            guard let vacated = turn.vacated, vacated.how.isRemoval, shadow.departures[vacated.number] == entry.path,
                let rules = align(entry.history, with: turn.document, before: turn.row)
            else { continue }
            return [turn.change] + rules
        }
        for departure in facts.rows where departure.how == .hidden {
            guard shadow.departures[departure.number] == entry.path,
                let last = facts.lastOccupant(of: departure.place, before: departure.number),
                facts.isUnsavedCopy(last.document, before: departure),
                let rules = align(entry.history, with: last.document)
            else { continue }
            return [.removedByMover] + rules
        }
        return nil
    }

    // MARK: Documents that lost their name to another one

    func superseded(_ difference: Difference) -> [ListedChange]? {
        var today = difference.historiesToday
        var rules: [[ListedChange]?] = []
        for history in difference.historiesThen {
            let documents = facts.superseded().filter { shadow.listing($0) == history }
            var found: [ListedChange]?
            for document in documents where found == nil {
                for index in today.indices where found == nil {
                    found = align(today[index], with: document)
                    if found != nil { today.remove(at: index) }
                }
            }
            found = found ?? documents.lazy.compactMap(shownByNames).first
            // One document of the rules may be several in the container.
            today.removeAll { found != nil && $0.allSatisfy(history.contains) }
            rules.append(found)
        }
        rules += today.map(shownByRules)
        return rules.contains { $0 == nil } ? nil : rules.flatMap { $0 ?? [] }
    }

    /// Why the container shows elsewhere what a document without a name is, but for versions that it has not.
    private func shownByNames(_ document: DocumentNumber) -> [ListedChange]? {
        let listing = facts.listing(of: document)
        let shown = today.shown
        let others = listing.filter { !shown.contains(shadow.text($0)) }.map(onlyThen)
        guard !others.contains(nil) else { return nil }
        if !others.isEmpty { return others.compactMap(\.self) }
        return turns.first { $0.document == document || $0.arrived == document }.map { [$0.change] }
    }

    /// Why the rules show by names what the container has no name for.
    private func shownByRules(_ history: [String]) -> [ListedChange]? {
        for turn in turns {
            for document in [turn.document, turn.arrived, turn.row.document].compactMap(\.self) {
                let rules = history.map { text in
                    shadow.listing(document).contains(text) ? [] : onlyToday(text, in: document)?.rules
                }
                if !rules.contains(nil) { return [turn.change] + rules.flatMap { $0 ?? [] } }
            }
        }
        return isBehindOrigins(history) ? [.isBehindOrigin] : nil
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
