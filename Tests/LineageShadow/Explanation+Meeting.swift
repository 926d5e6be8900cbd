// Differences in which several meant changes meet, so that no rule tells which part is by which of them.

import Lineage

extension ListedChange {
    /// The changes that meet in differences which `explaining` does not take apart; nil if these may be a fault.
    ///
    /// Random orders go on to find combinations that no case has. They are judged by their contents alone: both have
    /// the same names with the same contents, and each content that one side shows is shown by the other one somewhere,
    /// but for those that `explaining` leaves out, too. A rival that only one side has is a version of both, of a
    /// document that a meant change concerns. The order of a history, and the document that shows it, may differ. A run
    /// bounds how often that happens.
    public static func meeting(
        in differences: [Difference], between today: Answer, and shadow: Shadow
    ) -> Set<ListedChange>? {
        let explanation = Explanation(shadow, today)
        for difference in differences {
            switch difference.subject {
            case .tree, .content: return nil
            case .conflicts: if !explanation.mayBeMeant(difference) { return nil }
            case .history, .deleted, .superseded: continue
            }
        }
        let changes = explanation.occurring
        let isComplete = explanation.isComplete(Set(allCases)) && explanation.showsWhatNamesHold
        return changes.count > 1 && isComplete ? changes : nil
    }
}

extension Explanation {
    /// Whether rivals that only one side has are versions of both, and a meant change concerns their document.
    fileprivate func mayBeMeant(_ difference: Difference) -> Bool {
        guard let document = shadow.place(difference.name).flatMap({ facts.occupant(of: $0)?.document }) else {
            return false
        }
        let isTurned = turns.contains { [$0.document, $0.row.document, $0.arrived].contains(document) }
        let isConcerned = isTurned || facts.versions(of: document).contains {
            notYet($0.number) != nil || shadow.unfinished.contains($0.number)
        }
        let losers = difference.onlyToday + difference.onlyThen
        return isConcerned && losers.allSatisfy { today.shown.contains($0) && shadow.shown.contains($0) }
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
