// Versions that go for good, and the contents that no version has then.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// Versions of a document go.
    /// - Returns: those that went. What the document shows stays, and so does a version that another document began
    ///   with.
    func forget(_ numbers: [VersionNumber], of document: DocumentNumber) throws(Errno) -> [VersionRow] {
        let held: Set<Subject> = [.document(document)]
        subjects.take(held)
        defer { subjects.giveBack(held) }
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let current = facts.current(of: document)
            let going = numbers.compactMap { facts[$0] }.filter { version in
                !version.isForgotten && version.number != current && log.documents(from: version.number).isEmpty
            }
            let forgotten = going.map { Fact.forget($0.number) }
            let told = facts.feed(of: forgotten)
            guard log.missing.isEmpty else {
                try load(log.missing)
                continue
            }
            if going.isEmpty { return [] }
            let first = parts.recorder.reserve(1)
            defer { parts.recorder.finish(first) }
            known.record(forgotten)
            parts.recorder.describe(forgotten)
            parts.recorder.commit(FactTransaction(told), from: first, last: 0)
            return going
        }
    }

    /// Has the versions that are left of contents judged, while no event gives them further ones.
    func release(
        _ contents: Set<Content>, _ body: (Content, _ left: [VersionRow]) throws(Errno) -> Void
    ) throws(Errno) {
        for content in contents {
            let held: Set<Subject> = [.file(content.file)]
            subjects.take(held)
            defer { subjects.giveBack(held) }
            while true {
                let log = PlanLog(known)
                let left = Facts(over: log).versions(in: content)
                guard !log.missing.isEmpty else {
                    try body(content, left)
                    break
                }
                try load(log.missing)
            }
        }
    }
}
