// Questions to the rules, which no event asks.

import Lineage
import SystemPackage
import VersionModel

extension Engine {
    /// What the rules say, over all that the question asks about. No file is looked at, and nothing is taken alone: by
    /// the time of an event the answer may be another.
    func answer<Answer>(_ question: (Planning, Facts) -> Answer) throws(Errno) -> Answer {
        let asked = Asked()
        while true {
            let (log, count) = (PlanLog(known), asked.count)
            let facts = Facts(over: log)
            var scene = Scene(
                facts: facts, memory: Memory(), now: parts.clock.now(), nextNumber: known.lastNumber + 1,
                kin: parts.kin(asked.actors), quiet: Quiet(parts.quiet(asked.places)))
            scene.memory = self.scene.part(about: asked, in: facts).part.memory
            let answer = question(Planning(scene), facts)
            if !log.missing.isEmpty { try load(log.missing) } else if asked.count == count { return answer }
        }
    }
}
