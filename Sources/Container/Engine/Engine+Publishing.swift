// Names that are published although no event is about them, and the labels of conflicts.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// Kept contents say which versions are conflicts from now on, and which are none any more.
    func labelConflicts(_ facts: [Fact]) {
        for fact in facts {
            switch fact {
            case .version(let version), .amend(let version):
                let log = PlanLog(known)
                guard let loser = version.loser, !log.isSettled(loser), let row = log.version(loser) else { continue }
                parts.kept.label(row, isConflict: true)
            case .settle(let number):
                if let row = PlanLog(known).version(number) { parts.kept.label(row, isConflict: false) }
            case .row, .forget, .publish, .purge: continue
            }
        }
    }

    /// Everyone sees the document of a name from now on. Its program has made it in a directory that it had made up,
    /// and has given that a real name.
    func publish(_ name: NameRow) throws(Errno) {
        let held = Subjects(files: name.file.map { [$0] } ?? [], documents: [name.document])
        subjects.take(held)
        defer { subjects.giveBack(held) }
        while true {
            let log = PlanLog(known)
            let rows = log.unpublishedRows(of: name.document).map { Fact.publish($0.number) }
            if rows.isEmpty { return }
            let told = Facts(over: log).feed(of: rows)
            guard log.missing.isEmpty else {
                try load(log.missing)
                continue
            }
            let first = parts.recorder.reserve(1)
            defer { parts.recorder.finish(first) }
            known.record(rows)
            defer { markNames(rows) }
            return parts.recorder.commit(FactTransaction(told), from: first, last: 0)
        }
    }
}
