// What users will see change.

import Lineage
import VersionModel

/// A difference that is meant: a row of facts.md 8, or a rule of its other sections that this table does not name.
public enum ListedChange: String, CaseIterable, Sendable {
    case renamedOver = "8: mv a b over b, a had a history: a's older versions are in the deleted list"
    case cameBack = "8: mv a b, create a, a had one version: a shows what it held, too"
    case backFromOver = "8: mv x z over z, mv z x: z's old content stays under z"
    case exchangedByThree = "8: three renames exchange two documents: each keeps its name's"
    case seenElsewhere = "8: B saved f, a dance moved it to g, another saves g, then B saves g: a conflict"
    case removedAndReplaced = "8: rm f, mv tmp f from stale content: a conflict"
    case appendedByEach = "8: appends of several programs within a minute: one version for each"

    case settledElsewhere = "3: who has seen a loser under another name settles it by a save, as under its own"
    case savedWithoutName = "3: what a file without a name is closed with is a version, also if it is empty"
    case amendsArrival = "3: a handle in the middle of writing goes on with the version that a rename has made"
    case endsWithParting = "3: a save is no longer amended once its document goes on with another file"
    case notAtEachClose = "3: a close saves what its own handle has written"
    case settledUnseen = "2: a document that may have been saved at its present name, unseen, does not come back"
    case unsavedOccupant = "2: a rename over a file that nobody has saved is a save of that document, too"
    case savedFirst = "4: what is not saved yet becomes a version before a call that takes it away"
    case writtenTogether = "4: writers in place that share a file: a version at each close"
    case hasOtherName = "2: a document with a name elsewhere does not come back"
    case hasReturned = "2: a document that was undeleted since, or has gone back along its way, does not come back"
    case oneOfSeveral = "2: a removed name of several, made anew when the others are gone, is its document's"
    case isUnsavedCopy = "2: a parted copy without a save of its own does not come back"
    case removedByMover = "5: a parted copy that its mover removes is hidden"

    case leftBeforeKill = "6: a name that was left before a kill, and is made anew behind it, is its document's still"
    case settledEmpty = "6: an empty file that is found after a kill has a version, also if nobody has saved it"

    case isBehindOrigin = "9: the history of a copy goes on through what it began with"

    /// The section of facts.md that has it.
    public var section: Int { rawValue.first?.wholeNumberValue ?? 0 }

    /// The changes by which both sides differ; nil if any difference is by none.
    ///
    /// - Parameter today: what the container says. All that it shows must be shown by the rules, too, but for contents
    ///   that make no version by them, and all that they show by it, but for versions that only they make.
    public static func explaining(
        _ differences: [Difference], between today: Answer, and shadow: Shadow
    ) -> Set<ListedChange>? {
        let explanation = Explanation(shadow, today)
        var changes: Set<ListedChange> = []
        for difference in differences {
            guard let rules = explanation.rules(for: difference) else { return nil }
            changes.formUnion(rules)
        }
        return explanation.isComplete(changes) && !changes.isEmpty ? changes : nil
    }

    /// Whether a content is no version by the rules that is one today.
    var leavesOut: Bool {
        switch self {
        case .notAtEachClose, .amendsArrival, .endsWithParting: true
        default: false
        }
    }
}
