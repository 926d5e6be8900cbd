// Bringing one version back: into its document, or to another path.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// What was brought back.
public struct RestoreOutcome: Sendable {
    /// Where it is now.
    public var path: TreePath
    /// Documents, directories and others that were written or moved; 0 if all is as it should become.
    public var entries: Int
    /// How many of them are directories; nil where that was not counted.
    public var directories: Int?
    /// Newer names that went to the deleted area.
    public var displaced = 0
    /// Entries that are still deleted.
    public var remaining = 0
    /// Why they are, and what came back otherwise than it was; for the first hundred.
    public var problems: [(path: TreePath, problem: OperationError)] = []

    /// Notes that something is not exactly what it was.
    mutating func note(_ doubt: String, _ path: TreePath) {
        guard problems.count < 100 else { return }
        problems.append((path, OperationError(.contentMissing, doubt, path: path)))
    }

    /// What ended a return to a moment, with what was done until then.
    func ended(by error: any Error) -> OperationError {
        var error = OperationError.wrap(error)
        guard entries + displaced > 0 else { return error }
        error.message += "; until then \(entries) came back, and \(displaced) newer names went to the deleted area"
        let first = error.errno == .noSpace ? "make room" : error.advice
        let further = "`versionsctl restore --at` with the same time goes on"
        error.advice = first.map { "\($0), then \(further)" } ?? further
        error.path = error.path ?? path
        return error
    }
}

extension LiveContainer {
    /// Makes a version current again: a save of the document by the caller, what was current is history. With `target`
    /// the version is copied to a path that is free instead. A deleted document is brought back first.
    public func restore(
        _ version: Version, of document: DocumentRecord, to target: TreePath? = nil, as principal: Principal
    ) throws(OperationError) -> RestoreOutcome {
        try operation {
            if let target {
                let staged = try stage(version, of: document, as: principal)
                _ = try putNew(
                    staged, at: target, mode: version.attributes.mode, modified: version.modified,
                    parents: [version.id], as: principal)
                return RestoreOutcome(path: target, entries: 1)
            }
            var document = document
            var undeleted = 0
            if let deletion = document.deletion {
                let back = try undelete(deletion, as: principal)
                document = try self.document(at: back.path, as: principal)
                undeleted = back.entries
            }
            if document.isCurrent(version), try holdsItsCurrent(document, principal) {
                return RestoreOutcome(path: document.path, entries: undeleted)
            }
            let staged = try stage(version, of: document, as: principal)
            _ = try replace(
                document.path, with: Replacement(staged: staged, parents: [version.id], expected: document.current?.id),
                as: principal)
            return RestoreOutcome(path: document.path, entries: 1)
        }
    }

    /// Whether the file has nothing that its current version does not have. The caller must be allowed to write it.
    private func holdsItsCurrent(_ document: DocumentRecord, _ principal: Principal) throws -> Bool {
        try looking(as: principal) { walk in
            let (spot, node, stat) = try walk.document(document.path)
            try walk.require(.write, on: spot)
            return try self.document(of: node, stat, at: spot.place, in: spot.parent).state.withLock { state in
                state.current?.id == document.current?.id && !state.isReturning && !state.differs(from: stat)
            }
        }
    }
}
