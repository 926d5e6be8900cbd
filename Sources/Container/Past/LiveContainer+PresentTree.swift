// What the past is compared with: names, documents and rights of today.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: PresentTree {
    var callersTree: CallersTree { CallersTree(finder: finder, requests: self) }

    func entries(
        of path: TreePath
    ) throws -> (directory: FileID, entries: [(name: FileName, isDirectory: Bool)]) {
        try callersTree.entries(of: path)
    }

    func directory(at path: TreePath, as principal: Principal) throws -> FileID {
        try callersTree.directory(at: path, as: principal)
    }

    func times(ofDirectory path: TreePath) throws -> (directory: FileID, times: DirectoryTimes.Times) {
        try callersTree.times(ofDirectory: path)
    }

    func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool { try callersTree.isFree(path, principal) }
    func isBeingWritten(_ path: TreePath) throws -> Bool { try callersTree.isBeingWritten(path) }

    /// Whether a document's content is equal to a version's, its own or its former document's: by the hashes if they
    /// are known, else by a comparison.
    func holds(_ then: Version, of former: DocumentRecord, _ document: DocumentRecord) -> Bool {
        guard let current = document.current, current.size == then.size else { return false }
        if document.isCurrent(then) { return true }
        if then.hash != nil, current.hash != nil { return false }
        guard let one = try? content(of: then, in: former), let other = try? content(of: current, in: document) else {
            return false
        }
        return one.isEqual(to: other)
    }
}
