// What needs no plan: questions to the rules, reads, and most releases.

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

    /// Whether a file is as it was looked at last.
    func isAsLookedAt(_ file: FileID, _ stamp: Stamp) -> Bool {
        scene.recall(file)?.stamp == stamp || lookedAt.has(file, stamp)
    }

    /// A program has read a document: it has seen its current version. That is a note in memory, and needs no plan.
    /// If the name has another file by now, the program has read no version of the name's document, and none is noted.
    func noteRead(_ at: FileAtPlace, by actor: ActorNumber) throws(Errno) {
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let document = facts.occupant(of: at.place).flatMap { $0.file == at.file ? $0.document : nil }
            if let document, log.missing.isEmpty {
                let subject: Subjects = [.document(document)]
                subjects.take(subject)
                defer { subjects.giveBack(subject) }
                // An event that had it until now may have given the name another file.
                let row = facts.occupant(of: at.place)
                if log.missing.isEmpty, row?.file != at.file || row?.document != document { return }
                let current = facts.current(of: document)
                let home = current.flatMap { facts.document(of: $0) }
                if log.missing.isEmpty {
                    guard let current, let home else { return }
                    let isRead = !parts.kin([actor]).lineage(of: actor).isEmpty
                    return scene.noteRead(
                        by: actor, of: current, of: home, as: document, at: parts.clock.now(), isRead: isRead)
                }
            }
            if log.missing.isEmpty { return }
            try load(log.missing)
        }
    }

    /// The last handle of a file goes (``Event/release(_:isLater:)``). If its close has saved what the file holds, that
    /// is all that happens.
    /// - Returns: false if there is more to it.
    func isReleased(_ handle: HandleNumber) throws(Errno) -> Bool {
        guard let id = scene.file(of: handle) else { return false }
        let subject: Subjects = [.file(id)]
        subjects.take(subject)
        defer { subjects.giveBack(subject) }
        guard let (file, stamp) = scene.recall(id), !file.isChanged, file.holds != nil, known.hasName(id),
            try parts.files.status(of: id).map(Stamp.init) == stamp, scene.removeLast(handle)
        else { return false }
        lasting.set(.file(id), false)
        return true
    }
}
