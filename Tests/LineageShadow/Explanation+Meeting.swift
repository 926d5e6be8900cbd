// Differences in which several meant changes meet, so that no rule tells which part is by which of them.

import Lineage

extension ListedChange {
    /// The changes that meet in differences which `explaining` does not take apart; nil if these may be a fault.
    ///
    /// Random orders go on to find combinations that no case has. Such an order is judged by less: both have the same
    /// names with the same contents, and each content that one side shows is shown by the other one somewhere, but for
    /// those that `explaining` leaves out, too. Where a meant change concerns the name's document, the order of its
    /// history may differ, and the document that shows it. So may its rivals, which both sides show in its history.
    /// Entries of the deleted list may have other contents, at the same paths. A run bounds how often that happens.
    public static func meeting(
        in differences: [Difference], between today: Answer, and shadow: Shadow
    ) -> Set<ListedChange>? {
        let explanation = Explanation(shadow, today)
        var changes: Set<ListedChange> = []
        for difference in differences {
            if let rules = explanation.rules(for: difference) {
                changes.formUnion(rules)
                continue
            }
            switch difference.subject {
            case .tree, .content: return nil
            case .conflicts: if !explanation.hasInHistory(difference) { return nil }
            case .deleted: if explanation.deletedPaths != shadow.answer.deletions.map(\.path).sorted() { return nil }
            case .history, .superseded: break
            }
            let concerned = difference.name.isEmpty ? explanation.all : explanation.changes(at: difference.name)
            if concerned.isEmpty { return nil }
            changes.formUnion(concerned)
        }
        return explanation.isComplete(Set(allCases)) && explanation.showsWhatNamesHold ? changes : nil
    }
}

extension Explanation {
    fileprivate var deletedPaths: [String] { today.deletions.map(\.path).sorted() }

    /// Whether each rival that only one side has is in the history of the name on both, or of the document that has
    /// turned there.
    fileprivate func hasInHistory(_ difference: Difference) -> Bool {
        guard let document = occupant(of: difference.name) else { return false }
        let related = turns.filter { documents(of: $0).contains(document) }
        let then = ([document] + related.flatMap(documents)).flatMap { facts.history(of: $0) }.map(shadow.text)
        let names = related.compactMap { shadow.path(of: $0.row.place) }
        let histories = ([difference.name] + names).flatMap { today.names[$0]?.history ?? [] }
        return (difference.onlyToday + difference.onlyThen).allSatisfy { then.contains($0) && histories.contains($0) }
    }

    private func documents(of turn: Turn) -> [DocumentNumber] {
        [turn.document, turn.row.document] + (turn.arrived.map { [$0] } ?? [])
    }

    /// The changes for which the document of a name has a reason.
    fileprivate func changes(at name: String) -> Set<ListedChange> {
        occupant(of: name).map { changes(of: $0) } ?? []
    }

    private func changes(of document: DocumentNumber) -> Set<ListedChange> {
        var changes = Set(turns.filter { documents(of: $0).contains(document) }.map(\.change))
        for version in facts.history(of: document) {
            if let rule = notYet(version) { changes.insert(rule) }
            if shadow.unfinished.contains(version) { changes.insert(.savedFirst) }
            if !(shadow.formerly[version] ?? []).isEmpty { changes.insert(.amendsArrival) }
        }
        // Each opening with O_TRUNC passes over the empty file.
        let passedOver = (shadow.passedOver[document] ?? [:]).keys
        if passedOver.contains(where: { !$0.isEmpty }) { changes.insert(.notAtEachClose) }
        if facts.firstRow(of: document)?.isParted ?? false { changes.insert(.isBehindOrigin) }
        return changes
    }

    /// The changes for which any document has a reason.
    fileprivate var all: Set<ListedChange> {
        Set(Set(facts.rows.map(\.document)).flatMap { changes(of: $0) })
    }

    /// Whether the container shows the current version of each document that has a name and, after a kill, what that
    /// has left unfinished: it is set aside.
    fileprivate var showsWhatNamesHold: Bool {
        let documents = Set(facts.rows.map(\.document)).filter { facts.hasName($0) }
        let held = documents.compactMap { facts.current(of: $0) }.filter { onlyThen($0) != .settledEmpty }
        let unfinished = facts.versions.map(\.number).filter { version in
            shadow.kills.contains { version.number <= $0 } && onlyThen(version) == .savedFirst
                && !shadow.amendedFirst.contains(version)
        }
        return today.shown.isSuperset(of: (held + unfinished).map(shadow.text))
    }
}
