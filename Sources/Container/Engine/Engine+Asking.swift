// What needs no plan: questions to the rules, and a read that tells nothing new.

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

    /// Notes that a program reads once more what it has read last. Most opens for reading are that.
    /// - Parameters:
    ///   - at: what has the name by the facts.
    ///   - stamp: how it is now.
    /// - Returns: false if it is another read, or the file is not as it was looked at last.
    func isReadAgain(_ at: FileAtPlace, _ stamp: Stamp, by actor: ActorNumber) -> Bool {
        guard scene.recall(at.file)?.stamp == stamp, let document = known.documents(of: [at.file]).first else {
            return false
        }
        let subject: Set<Subject> = [.document(document)]
        subjects.take(subject)
        defer { subjects.giveBack(subject) }
        let log = PlanLog(known)
        let facts = Facts(over: log)
        guard facts.occupant(of: at.place)?.document == document, let current = facts.current(of: document),
            log.missing.isEmpty
        else { return false }
        return scene.renewRead(by: actor, of: current, in: document, at: parts.clock.now())
    }
}
