// Plans over a part of what is remembered, as the engine makes them: they are those over the whole.

import Lineage
import VersionModel

extension World {
    /// A plan, and the part of what is remembered that it was made over.
    struct Partial {
        var part: Remembered.Part
        var plan: Plan
    }

    /// The part that an event needs, found by planning it again as long as the plan asks for more.
    mutating func partialPlan(_ event: Event, like plan: Plan, _ move: Move) throws(Violation) -> Partial {
        let remembered = remembered ?? Remembered(memory, facts)
        self.remembered = remembered
        let asked = Asked(event.handle.flatMap { memory[$0]?.file }.map { [$0] } ?? [])
        asked.begin(at: nextNumber)
        while true {
            let count = asked.count
            let part = remembered.part(about: asked, in: facts)
            var scene = scene
            scene.memory = part.memory
            scene.kin = Kin(kin.relations.filter { asked.actors.contains($0.actor) })
            scene.quiet = Quiet(quiet.filter { asked.places.contains($0) })
            let partial = Planning.plan(event, in: scene)
            if asked.count > count { continue }
            guard partial.before == plan.before, partial.point == plan.point, partial.facts == plan.facts,
                partial.after == plan.after, partial.refusal?.facts == plan.refusal?.facts,
                partial.refusal?.after == plan.refusal?.after
            else { throw Violation(problems: ["the plan over a part is another one"], moment: "\(move)", world: self) }
            return Partial(part: part, plan: partial)
        }
    }

    /// Takes over what is remembered after the partial plan; then all is as after the whole one.
    mutating func remember(
        _ part: Remembered.Part, _ memory: Memory, _ recorded: [Fact], _ move: Move
    ) throws(Violation) {
        remembered?.apply(Remembered.change(part, to: memory, recorded, in: facts))
        var expected = self.memory
        expected.files.sort { $0.id < $1.id }
        expected.handles.sort { $0.number < $1.number }
        guard remembered?.whole == expected else {
            throw Violation(problems: ["what is remembered by keys differs"], moment: "\(move)", world: self)
        }
    }
}

extension Remembered {
    init(_ memory: Memory, _ facts: Facts) {
        self.init()
        apply(Self.change(part(about: Asked(), in: facts), to: memory, [], in: facts))
    }
}
