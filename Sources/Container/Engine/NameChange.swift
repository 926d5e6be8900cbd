// One system call on names: what its plan says of it, and what the catalog gets beside its rows.

import Lineage
import VersionModel
import VersionStore

/// What the call of an event has to know before it is made, and what it says of itself afterwards.
struct NameChange {
    let draft: EventDraft
    /// The places whose removal `deleted/` has an entry for. The call adds them.
    var entries: Set<PlaceNumber> = []
    /// Whether a file goes for good: the file system has no room for its entry in the deleted area.
    var isForGood = false
    /// What the catalog gets of removals besides. The call adds them.
    var changes: [FactChange] = []

    init(_ draft: EventDraft) { self.draft = draft }

    /// The content that the call keeps by moving its file.
    var whole: WholeContent? { draft.whole }

    /// The row by which a name goes, if the deleted list may show it. Its number is the entry's.
    func removal(at place: PlaceNumber) -> NameRow? {
        for case .row(let row) in draft.plan.facts where row.place == place && row.how == .removed { return row }
        return nil
    }

    /// What rows say of symlinks, special files and directories, to which the rules have no types.
    /// - Parameter found: names of the event, and the files that they have before it.
    func details(of facts: [Fact], _ found: [FileAtPlace]) -> [RowNumber: NameDetail] {
        let others = found.filter { $0.type != .file }
        guard !others.isEmpty else { return [:] }
        var details: [RowNumber: NameDetail] = [:]
        for case .row(let row) in facts {
            let other = others.first { row.file == nil ? $0.place == row.place : $0.file == row.file }
            guard let other else { continue }
            let isEntry = row.how == .removed && entries.contains(row.place)
            details[row.number] = NameDetail(type: other.type, isEntry: isEntry)
        }
        return details
    }
}

extension Planning {
    /// Plans the events of one system call as one plan: its facts are one transaction.
    ///
    /// Where something without versions gives way to a document, or a document to it, there are two: the removal, and
    /// the arrival at a name that is free by then. The call of the last one is made.
    static func plan(all events: [Event], in scene: Scene) -> Plan {
        guard let first = events.first else { return Plan(memory: scene.memory) }
        var (plan, scene) = (Planning.plan(first, in: scene), scene)
        for event in events.dropFirst() {
            for fact in plan.facts { scene.facts.apply(fact) }
            (scene.memory, scene.nextNumber) = (plan.memory, max(scene.nextNumber, plan.facts.lastNumber + 1))
            let next = Planning.plan(event, in: scene)
            // If the call is refused, the bytes of the document are a version all the same.
            if case .removeDirectory = first { plan.refusal = next.refusal }
            plan.before += next.before
            plan.facts += next.facts
            plan.after += next.after
            (plan.point, plan.memory) = (next.point, next.memory)
        }
        return plan
    }
}
