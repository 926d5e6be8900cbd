// Versions that operations add beside those that were saved.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension Engine {
    /// A version that is added to a document. Its content is kept already.
    struct Addition {
        var content: Content
        var fingerprint: Fingerprint
        var modified: Timestamp
        var author: ActorNumber
        var beside: Beside
    }

    /// Adds a version beside the current one of a document, with the first parent of that.
    ///
    /// - Parameters:
    ///   - isParent: whether the current version goes back to it from now on.
    ///   - needsBase: whether it needs a parent: then `nil` is returned if the current version has none.
    func add(
        _ addition: Addition, to document: DocumentNumber, isParent: Bool, needsBase: Bool = false
    ) throws(Errno) -> VersionNumber? {
        let held: Set<Subject> = [.document(document)]
        subjects.take(held)
        defer { subjects.giveBack(held) }
        while true {
            let log = PlanLog(known)
            let facts = Facts(over: log)
            let current = facts.current(of: document).flatMap { facts[$0] }
            let name = log.names(of: document).first
            let parent = current?.parents.first.flatMap { facts[$0] }.flatMap { $0.isForgotten ? nil : $0.number }
            guard log.missing.isEmpty else {
                try load(log.missing)
                continue
            }
            guard var current, let name else { throw .noSuchFileOrDirectory }
            if needsBase, parent == nil { return nil }
            let first = parts.recorder.reserve(1)
            defer { parts.recorder.finish(first) }
            var version = VersionRow(
                number: VersionNumber(first), time: parts.clock.now(), row: name.number, content: addition.content,
                fingerprint: addition.fingerprint, file: addition.content.file, modified: addition.modified,
                author: addition.author)
            (version.beside, version.parents) = (addition.beside, Parents(parent))
            if addition.beside == .conflict { version.base = parent }
            var recorded = [Fact.version(version)]
            if isParent {
                current.parents = Parents(current.parents.first, version.number)
                recorded.append(.amend(current))
            }
            let told = facts.feed(of: recorded)
            known.record(recorded)
            parts.recorder.describe([.version(version)])
            parts.recorder.commit(FactTransaction(told), from: first, last: first)
            return version.number
        }
    }
}
