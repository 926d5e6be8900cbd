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
    /// Documents, directories and others that were written or moved.
    public var entries: Int
    /// Newer names that went to the deleted area.
    public var displaced = 0
    /// Entries that are still deleted.
    public var remaining = 0
    /// Why they are, for the first hundred.
    public var problems: [(path: TreePath, problem: OperationError)] = []
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
            if let deletion = document.deletion {
                let back = try undelete(deletion, as: principal)
                document = try self.document(at: back.path, as: principal)
            }
            guard version.id != document.current?.id else {
                try looking(as: principal) { walk in try walk.require(.write, on: try walk.document(document.path).spot) }
                return RestoreOutcome(path: document.path, entries: 1)
            }
            let staged = try stage(version, of: document, as: principal)
            _ = try replace(
                document.path, with: Replacement(staged: staged, parents: [version.id], expected: document.current?.id),
                as: principal)
            return RestoreOutcome(path: document.path, entries: 1)
        }
    }
}
