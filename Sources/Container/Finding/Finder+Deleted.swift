// Finding deleted things.

import VersionModel
import VersionStore

extension Finder {
    /// The entries of the deleted area at or below a path that the caller may know of, newest first; all for nil.
    public func deleted(within path: TreePath?, as principal: Principal) throws(OperationError) -> [Deletion] {
        try operation {
            if knowsAll(principal) { return try history.deletions(within: path) }
            return known(try history.deletions(within: path), to: principal)
        }
    }

    private func known(_ deletions: [Deletion], to principal: Principal) -> [Deletion] {
        var known = KnownDirectories()
        var result: [Deletion] = []
        for deletion in deletions where mayKnow(deletion, principal, &known) { result.append(deletion) }
        return result
    }

    /// The last thing that was deleted at a path.
    public func deletion(at path: TreePath, as principal: Principal) throws(OperationError) -> Deletion {
        try operation {
            guard let found = try deletions(at: path).first, mayKnow(found, principal) else {
                throw OperationError(
                    .nothingToDo, "nothing was deleted here", path: path,
                    advice: "`versionsctl deleted` lists deleted files")
            }
            return found
        }
    }

    // MARK: Where they were

    /// What was deleted at exactly this path, newest first.
    public func deletions(recordedAt path: TreePath) throws(StoreError) -> [Deletion] {
        try history.deletions(at: path)
    }

    /// What was deleted from a directory under a name, newest first.
    public func deletions(in directory: FileID, named name: FileName) throws(StoreError) -> [Deletion] {
        try history.deletions(in: directory, named: name)
    }

    /// What was deleted at a path and below it, newest first.
    public func deletions(within path: TreePath) throws(StoreError) -> [Deletion] {
        try history.deletions(within: path)
    }

    /// Where a directory is; nil if it is gone, or nothing tells of it.
    public func path(of directory: FileID) throws(StoreError) -> TreePath? { try history.path(of: directory) }

    /// Whether a current version differs from the document's file: a database with the commits of its log.
    public func isKeptBeside(_ version: Version, of document: DocumentRecord) -> Bool {
        host.isKeptBeside(version, of: document)
    }
}
