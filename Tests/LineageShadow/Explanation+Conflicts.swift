// By which rule a document has other conflicts.

import Lineage

extension Explanation {
    /// | the winner's author | |
    /// |---|---|
    /// | knows the loser's document from before it had its name | has seen it elsewhere |
    /// | has renamed its file to a name that it had removed | has removed and replaced it |
    /// | has displaced what nobody had saved | that was saved first |
    func conflict(at place: PlaceNumber, _ difference: Difference) -> ListedChange? {
        guard let document = facts.occupant(of: place)?.document else { return nil }
        if isOfSavedFirst(difference, in: document) { return .savedFirst }
        if difference.onlyThen.isEmpty, wereSettled(difference.onlyToday, in: document) { return .settledElsewhere }
        if difference.onlyThen.isEmpty {
            return returned(to: place, difference.onlyToday)
        }
        let rivals = difference.onlyThen.map { rival($0, in: document) }
        return rivals.contains(nil) ? nil : rivals.first ?? nil
    }

    /// Why only the container has these losers, of a document that came back, or of the name that a file was renamed
    /// over and back from.
    ///
    /// | the container's document | the losers |
    /// |---|---|
    /// | began when this one came back | were followed since, by programs that had seen this one before, or elsewhere |
    /// | is that of the other name, too | are its conflicts, or were followed by programs that had seen either before |
    private func returned(to place: PlaceNumber, _ losers: [String]) -> ListedChange? {
        guard let document = facts.occupant(of: place)?.document else { return nil }
        if let row = rowBack(to: place) {
            let followed = followed(in: document, since: row).filter { $0.number > row.number.number }
            if losers.allSatisfy(followed.map(shadow.text).contains) { return .cameBack }
        }
        guard let over = goneBack(to: place), let row = arrival(at: place) else { return nil }
        let others = facts.conflicts(of: over) + followed(in: document, since: row)
        return losers.allSatisfy(others.map(shadow.text).contains) ? .backFromOver : nil
    }

    /// The versions that were followed by programs with a base that the container does not have for them: from before a
    /// row, or of another document.
    private func followed(in document: DocumentNumber, since row: NameRow) -> [VersionNumber] {
        facts.versions(of: document).compactMap { winner in
            guard let former = winner.parents.first, let base = winner.base, base != former else { return nil }
            return base.number < row.number.number || wasSeen(base, elsewhereThanAs: document) ? former : nil
        }
    }

    /// Why the conflicts differ at a place whose document stays away: it is the container's here, with what the present
    /// one has been since.
    ///
    /// | only | the losers |
    /// |---|---|
    /// | the container has | were current when a program saved here that had seen an older version of the other one |
    /// | the same | are the present one's, saved over since by a program that had seen the other one, not them |
    /// | Lineage has | lost before this document came here, or to a program that had seen the other one |
    func awayFrom(_ place: PlaceNumber, _ difference: Difference) -> ListedChange? {
        guard let change = staysAway(from: place), let row = firstRow(at: place), let vacated = vacated(before: row),
            let away = facts.lastOccupant(of: place, before: vacated.number)?.document
        else { return nil }
        let planning = shadow.planning
        let winners = facts.versions(of: row.document)
        let rivals = winners.filter { winner in
            winner.number.number < row.number.number
                || winner.author.flatMap { planning.base(of: $0, in: away) } != nil
        }
        let stale = facts.listing(of: away).filter { version in
            winners.contains { planning.staleBase(of: $0.author, in: away, current: version) != nil }
        }
        let since = winners.compactMap { winner -> VersionNumber? in
            guard let former = winner.parents.first, winner.base != former, let author = winner.author else {
                return nil
            }
            return planning.base(of: author, in: away) == nil ? nil : former
        }
        return difference.onlyToday.allSatisfy((stale + since).map(shadow.text).contains)
            && difference.onlyThen.allSatisfy(rivals.compactMap(\.loser).map(shadow.text).contains) ? change : nil
    }

    /// By which rule a content is a loser.
    private func rival(_ content: String, in document: DocumentNumber) -> ListedChange? {
        for winner in facts.versions(of: document).reversed() where winner.loser.map(shadow.text) == content {
            if let base = winner.base, wasSeen(base, elsewhereThanAs: document) { return .seenElsewhere }
            guard let row = facts[winner.row], row.isContinuing, let before = vacated(before: row) else { continue }
            if before.how.isRemoval { return .removedAndReplaced }
        }
        return nil
    }

    /// Whether losers were the bases of later saves, by programs that had seen them under another name.
    private func wereSettled(_ losers: [String], in document: DocumentNumber) -> Bool {
        let settled = facts.versions(of: document).compactMap { version -> String? in
            guard let base = version.base, version.parents.second == base, wasSeen(base, elsewhereThanAs: document)
            else { return nil }
            return shadow.text(base)
        }
        return losers.allSatisfy(settled.contains)
    }

    /// Whether a version is another document's, or was seen as one.
    private func wasSeen(_ version: VersionNumber, elsewhereThanAs document: DocumentNumber) -> Bool {
        facts.document(of: version) != document
            || shadow.observations.contains { $0.version == version && $0.document != document }
    }

    /// Whether the conflicts are what was saved first, or what that has replaced.
    private func isOfSavedFirst(_ difference: Difference, in document: DocumentNumber) -> Bool {
        let first = facts.versions(of: document).filter { shadow.unfinished.contains($0.number) }
        let texts = first.map { shadow.text($0.number) }
        let losers = first.compactMap(\.loser).map(shadow.text)
        let before = first.compactMap(\.parents.first).map(shadow.text)
        return difference.onlyToday.allSatisfy { texts.contains($0) || before.contains($0) }
            && difference.onlyThen.allSatisfy { texts.contains($0) || losers.contains($0) }
    }
}
