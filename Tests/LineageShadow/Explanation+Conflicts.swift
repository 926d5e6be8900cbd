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
            return cameBack(to: place) ? .cameBack : hasGoneBack(to: place) ? .backFromOver : nil
        }
        let rivals = difference.onlyThen.map { rival($0, in: document) }
        return rivals.contains(nil) ? nil : rivals.first ?? nil
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
            || shadow.memory.observations.contains { $0.version == version && $0.document != document }
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
