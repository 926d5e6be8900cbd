// Differences in which several meant changes meet, so that no rule tells which part is by which of them.

import Lineage

extension ListedChange {
    /// The changes that meet in differences which `explaining` does not take apart; nil if these may be a fault.
    ///
    /// Random orders go on to find combinations that no case has. They are judged by their contents alone: both have
    /// the same names with the same contents, each rival that only one side has is explained, and each content that
    /// one side shows is shown by the other one somewhere, but for those that `explaining` leaves out, too. The order
    /// of a history, and the document that shows it, may differ. A run bounds how often that happens.
    public static func meeting(
        in differences: [Difference], between today: Answer, and shadow: Shadow
    ) -> Set<ListedChange>? {
        let explanation = Explanation(shadow, today)
        for difference in differences {
            switch difference.subject {
            case .tree, .content: return nil
            case .conflicts:
                if explanation.rules(for: difference) == nil, !explanation.isOfNameless(difference) { return nil }
            case .history, .deleted, .superseded: continue
            }
        }
        let changes = explanation.occurring
        let isComplete = explanation.isComplete(Set(allCases)) && explanation.showsWhatNamesHold
        return changes.count > 1 && isComplete ? changes : nil
    }
}

extension Explanation {
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

    /// Whether all losers that only the container has are what a document without a name was closed with. In the
    /// container the document has a name, at which another one has come back.
    fileprivate func isOfNameless(_ difference: Difference) -> Bool {
        let closed = turns.compactMap { $0.isBack ? $0.arrived : nil }.filter { !facts.hasName($0) }
            .flatMap { facts.versions(of: $0) }.filter { $0.beside == .history }.map { shadow.text($0.number) }
        return difference.onlyThen.isEmpty && difference.onlyToday.allSatisfy(closed.contains)
    }

    /// The changes for which the facts have a reason, wherever that is.
    fileprivate var occurring: Set<ListedChange> {
        var changes = Set(turns.map(\.change))
        changes.formUnion(facts.versions.filter { !$0.isForgotten }.compactMap { notYet($0.number) })
        if facts.rows.contains(where: \.isParted) { changes.formUnion([.isBehindOrigin, .isUnsavedCopy]) }
        if !shadow.formerly.isEmpty { changes.insert(.amendsArrival) }
        if shadow.passedOver.values.contains(where: { !$0.isEmpty }) { changes.insert(.notAtEachClose) }
        return changes
    }
}
