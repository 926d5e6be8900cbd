// What a caller may know: versions that it could read, and what happened in directories that it may list.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension Finder {
    /// Whether a caller may read a version: the file's mode, owner and access list of its time allow it, and those of
    /// the file that holds it now.
    public func mayRead(_ version: Version, of document: DocumentRecord, as principal: Principal) -> Bool {
        if principal.isRoot { return true }
        guard AccessRule.allows(.read, to: principal, on: version.attributes) else { return false }
        guard let content = try? content(of: version, in: document) else {
            // Nothing to read: only that it was there is told.
            return true
        }
        // A copy by a user's daemon belongs to that user, not to the file's owner, so its owner bits say nothing.
        guard let held = try? Attributes(of: content.raw) else { return false }
        return AccessRule.allows(.read, to: principal, on: held)
    }

    /// Whether a caller may know all names: root and the daemon's own user may.
    public func knowsAll(_ principal: Principal) -> Bool { principal.isRoot || principal.user == geteuid() }

    /// Whether a caller may know of a deletion: it could list the directory.
    public func mayKnow(_ deletion: Deletion, _ principal: Principal) -> Bool {
        var known = KnownDirectories()
        return mayKnow(deletion, principal, &known)
    }

    /// The same in a listing of many.
    public func mayKnow(_ deletion: Deletion, _ principal: Principal, _ known: inout KnownDirectories) -> Bool {
        knowsAll(principal)
            || mayList(deletion.place.directory, at: deletion.path.parent, principal, &known)
    }

    /// Whether a caller may pass through and read a directory, live or deleted.
    func mayList(
        _ directory: FileID, at path: TreePath? = nil, _ principal: Principal, _ known: inout KnownDirectories,
        depth: Int = 0
    ) -> Bool {
        if let answer = known.answers[directory] { return answer }
        let answer: Bool
        if let path = livePath(of: directory) {
            answer = mayList(path, as: principal)
        } else if depth < 256, let gone = deletedDirectory(directory, at: path, &known) {
            answer =
                AccessRule.allows([.read, .execute], to: principal, on: gone.attributes)
                && mayList(gone.place.directory, at: gone.path.parent, principal, &known, depth: depth + 1)
        } else {
            answer = false
        }
        known.answers[directory] = answer
        return answer
    }

    /// Throws unless the caller may write a document.
    func requireWrite(_ document: DocumentRecord, _ principal: Principal) throws {
        if let deletion = document.deletion {
            guard mayTake(deletion, principal) else { throw OperationError.denied(document.path) }
            return
        }
        try looking(as: principal) { walk in try walk.require(.write, on: try walk.document(document.path).spot) }
    }

    /// Whether a caller may take an entry out of the deleted area: it could have removed it from its directory.
    func mayTake(_ deletion: Deletion, _ principal: Principal) -> Bool {
        var known = KnownDirectories()
        return mayTake(deletion, principal, &known)
    }

    func mayTake(_ deletion: Deletion, _ principal: Principal, _ known: inout KnownDirectories) -> Bool {
        if principal.isRoot { return true }
        guard mayKnow(deletion, principal, &known) else { return false }
        let directory: Attributes
        if let path = livePath(of: deletion.place.directory) {
            let found = try? looking(as: principal) { walk in
                try Attributes(below: [46], in: tree.descriptor(of: walk.directory(path)))
            }
            guard let found else { return false }
            directory = found
        } else if let gone = deletedDirectory(deletion.place.directory, at: deletion.path.parent, &known) {
            directory = gone.attributes
        } else {
            return deletion.attributes.owner == principal.user
        }
        guard AccessRule.allows([.write, .execute], to: principal, on: directory) else { return false }
        let isSticky = directory.mode & UInt32(S_ISVTX) != 0 && directory.owner != principal.user
        return !isSticky || deletion.attributes.owner == principal.user
    }

    /// - Parameter path: where it may have been deleted: that is asked for first.
    private func deletedDirectory(
        _ directory: FileID, at path: TreePath?, _ known: inout KnownDirectories
    ) -> Deletion? {
        if known.deleted == nil, let path,
            let found = try? history.deletions(at: path).first(where: { $0.type == .directory && $0.file == directory })
        {
            return found
        }
        if known.deleted == nil {
            let all = ((try? history.deletions(within: nil)) ?? []).filter { $0.type == .directory }
            known.deleted = Dictionary(all.map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return known.deleted?[directory]
    }

    /// Where a recorded directory is now; nil if it is gone.
    func livePath(of directory: FileID) -> TreePath? {
        if directory == .root { return .root }
        var last: TreePath?
        // It may be moved between the two looks: then it is at another path by the next.
        while let path = try? history.path(of: directory), path != last {
            let file = try? looking(as: .container) { try $0.directory(path).file }
            if file == directory { return path }
            last = path
        }
        return nil
    }

    /// Whether the caller may list a directory and pass through it.
    public func mayList(_ directory: TreePath, as principal: Principal) -> Bool {
        (try? looking(as: principal) { walk in try walk.listable(directory) }) != nil
    }
}
