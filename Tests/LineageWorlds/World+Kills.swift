// What a crash leaves, after each step of each plan, and what settling makes of it.

import Lineage
import VersionModel

extension World {
    /// Each prefix of a plan, settled: nothing that was acknowledged is lost, and a place whose document the event
    /// leaves alone shows it still.
    func checkKills(_ plan: Plan, _ event: Event, _ writing: Writing?, _ move: Move) throws(Violation) {
        var world = self
        let time = now
        let hasFacts = !plan.facts.isEmpty
        let last = plan.before.count + (plan.point == nil ? 0 : 1) + (hasFacts ? 1 : 0) + plan.after.count
        let documents = keptDocuments(plan, event)
        var count = 0
        func check(_ step: @autoclosure () -> String) throws(Violation) {
            count += 1
            guard count < last else { return }
            try world.checkSettled(documents, "after \(step()), step \(count) of \(last) of \(move)")
        }
        for step in plan.before {
            world.disk.perform(step, at: time)
            try check("\(step)")
        }
        if let point = plan.point {
            world.disk.perform(point, writing: writing, at: time)
            try check("\(point)")
        }
        if hasFacts {
            world.commit(plan.facts)
            try check("the transaction")
        }
        for step in plan.after {
            world.disk.perform(step, at: time)
            try check("\(step)")
        }
    }

    /// The call of a plan is refused: what was done before it leaves nothing that does not hold.
    func checkRefusal(_ plan: Plan, _ rules: Rules, _ move: Move) throws(Violation) {
        guard let refusal = plan.refusal, !plan.before.isEmpty || !refusal.facts.isEmpty else { return }
        var world = self
        world.refuse(plan, refusal)
        world.look()
        let problems = world.problems(rules)
        guard problems.isEmpty else { throw Violation(problems: problems, moment: "\(move) is refused", world: world) }
        try world.checkKill("a kill after \(move) was refused")
    }

    /// A kill between two moves, while handles are open: each place shows the document that it showed. Unpublished
    /// facts are in memory, so the published ones are settled alone, too.
    func checkKill(_ moment: @autoclosure () -> String) throws(Violation) {
        let documents = disk.names.compactMap { name in
            facts.occupant(of: name.place).flatMap { row in
                row.hasNoVersions ? nil : KeptDocument(place: name.place, document: row.document)
            }
        }
        try checkSettled(documents, moment())
        // The worlds of a kind are many: a third of them is enough for that, and enumerations have a time limit.
        let isChosen = facts.lastNumber.isMultiple(of: 3)
        if isChosen, hasUnpublishedName { try checkPublished(documents, moment()) }
    }

    private func checkPublished(_ documents: [KeptDocument], _ moment: @autoclosure () -> String) throws(Violation) {
        var world = self
        // A found file begins with its maker's former content: nothing says that more was appended.
        (world.facts, world.isAfterPowerCut) = (facts.published, true)
        let unpublished = disk.names.map(\.place).filter { facts.occupant(of: $0)?.maker != nil }
        // A document that has left such a place comes back there: nothing says that it did not when the name was made.
        let left = unpublished.compactMap { world.facts.lastOccupant(of: $0)?.document }
        let kept = documents.filter { !unpublished.contains($0.place) && !left.contains($0.document) }
        try world.checkSettled(kept, "\(moment()), of published facts alone")
    }

    /// The power goes, and the facts of the last events with it.
    func checkPowerCuts(_ moment: @autoclosure () -> String) throws(Violation) {
        guard past.count == 4 else { return }
        for lost in 1...3 {
            var world = self
            world.facts = past[3 - lost]
            world.isAfterPowerCut = true
            try world.checkSettled([], "the power goes \(moment()), and the facts of \(lost) events")
        }
    }

    /// Settles, and checks what that gives.
    func checkSettled(_ documents: [KeptDocument], _ moment: @autoclosure () -> String) throws(Violation) {
        let settled = settled()
        var problems = settled.problems(afterCrash: true)
        let again = Settling.settle(settled.sceneAfterCrash, settled.found, crashed: settled.now)
        if !again.facts.isEmpty { problems.append("the next mount settles more: \(again.facts)") }
        for kept in documents {
            guard let document = settled.facts.occupant(of: kept.place)?.document, document != kept.document else {
                continue
            }
            problems.append("\(kept.place) showed document \(kept.document), and shows \(document) after a crash")
        }
        guard problems.isEmpty else { throw Violation(problems: problems, moment: moment(), world: settled) }
    }

    /// The same, and what that gives: after a power cut that has taken facts along, or after a mount.
    func checkingSettled(afterPowerCut: Bool) throws(Violation) -> World {
        var world = self
        world.isAfterPowerCut = afterPowerCut
        try world.checkSettled([], afterPowerCut ? "the power goes" : "a mount")
        return world.settled()
    }

    /// The world after a crash and the next mount.
    func settled() -> World {
        var world = self
        world.positions = []
        let crashed = now
        world.seconds += 5
        let plan = Settling.settle(world.sceneAfterCrash, found, crashed: crashed)
        world.commit(plan.facts)
        for step in plan.before + plan.after { world.disk.perform(step, at: world.now) }
        world.memory = plan.memory
        world.remembered = nil
        return world
    }

    /// What is known when nothing is remembered.
    private var sceneAfterCrash: Scene { Scene(facts: facts, memory: Memory(), now: now, nextNumber: nextNumber) }

    struct KeptDocument {
        var place: PlaceNumber
        var document: DocumentNumber
    }

    /// Places that show the same document before and after an event, whatever file they get.
    private func keptDocuments(_ plan: Plan, _ event: Event) -> [KeptDocument] {
        switch event {
        // In a world what comes back is a new file, which carries no label.
        case .undelete, .restore, .put, .merge: return []
        default: break
        }
        return disk.names.compactMap { name in
            guard let row = facts.occupant(of: name.place), !row.hasNoVersions else { return nil }
            var document: DocumentNumber? = row.document
            for fact in plan.facts {
                if case .row(let row) = fact, row.place == name.place {
                    document = row.file == nil ? nil : row.document
                }
            }
            return document == row.document ? KeptDocument(place: name.place, document: row.document) : nil
        }
    }
}
