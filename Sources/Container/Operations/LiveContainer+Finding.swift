// Finding what an operation is about: a document by its path or an id, and its versions as the caller may know them.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A document with its versions, as an operation sees it.
public struct DocumentRecord: Hashable, Sendable {
    /// Relative to the container's root; for a deleted document the path that it had.
    public var path: TreePath
    public var item: ItemID
    /// Newest first, the current one included.
    public var versions: [Version]
    /// The document is in the deleted area.
    public var deletion: Deletion?

    public init(path: TreePath, item: ItemID, versions: [Version], deletion: Deletion? = nil) {
        self.path = path
        self.item = item
        self.versions = versions
        self.deletion = deletion
    }

    /// The version in the file; nil before the first save.
    public var current: Version? { versions.first { $0.kind == .current } }
    /// Unresolved, newest first.
    public var conflicts: [Version] { versions.filter { $0.kind == .conflict } }
}

extension LiveContainer {
    /// The document at a path, live or, failing that, the last one deleted there. The caller must be able to reach it;
    /// which versions it may read is told by ``mayRead(_:of:as:)``.
    public func document(at path: TreePath, as principal: Principal) throws(OperationError) -> DocumentRecord {
        try operation {
            do {
                return try liveDocument(at: path, as: principal)
            } catch let error as OperationError where error.kind == .notFound {
                let deleted = try deletions(at: path).first { $0.item != nil && $0.type == .file }
                guard let deleted, let item = deleted.item, mayKnow(deleted, principal) else { throw error }
                return try record(of: item, path: path, deleted)
            }
        }
    }

    /// What was deleted at a path, newest first: under the path that it had, or from the directory that is there now
    /// and had another name then.
    func deletions(at path: TreePath) throws -> [Deletion] {
        var found = try store.deletions(at: path)
        if let name = path.name, let parent = path.parent,
            let directory = try? looking(as: .container, { try $0.directory(parent).file })
        {
            let known = Set(found.map(\.id))
            found += try store.deletions(in: directory, named: name).filter { !known.contains($0.id) }
        }
        return found.sorted { $1.deleted < $0.deleted }
    }

    private func liveDocument(at path: TreePath, as principal: Principal) throws -> DocumentRecord {
        let state = try looking(as: principal) { walk in
            let (spot, node, stat) = try walk.document(path)
            let document = try document(of: node, stat, at: spot.place, in: spot.parent)
            return document.state.withLock { ($0.item, $0.current) }
        }
        var versions = try store.versions(of: state.0)
        // An unchanged document has no record; its one version is the file.
        if versions.isEmpty, let current = state.1 { versions = [current] }
        return DocumentRecord(path: path, item: state.0, versions: versions)
    }

    /// The document with this identity.
    public func document(_ item: ItemID, as principal: Principal) throws(OperationError) -> DocumentRecord {
        try operation {
            if let row = try store.item(item), let path = try store.path(of: row) {
                let found = try liveDocument(at: path, as: principal)
                if found.item == item { return found }
            }
            if let deleted = try store.deletions(of: item).first(where: { $0.type == .file }) {
                guard mayKnow(deleted, principal) else { throw OperationError(.notFound, "no item \(item.short)") }
                return try record(of: item, path: deleted.path, deleted)
            }
            guard let nameless = try nameless(item, principal) else {
                throw OperationError(.notFound, "no item \(item.short)")
            }
            return nameless
        }
    }

    /// A document whose file was renamed over another keeps its history without a name: under the path it had last.
    private func nameless(_ item: ItemID, _ principal: Principal) throws -> DocumentRecord? {
        guard knowsAll(principal), let row = try store.item(item), row.places.isEmpty else { return nil }
        let versions = try store.versions(of: item)
        let labels = versions.lazy.compactMap { version in
            (try? self.store.contents.labels(of: version.content))?.first { $0.version.id == version.id }
        }
        return versions.isEmpty
            ? nil : DocumentRecord(path: labels.first?.path ?? .root, item: item, versions: versions)
    }

    private func record(of item: ItemID, path: TreePath, _ deletion: Deletion) throws -> DocumentRecord {
        DocumentRecord(path: path, item: item, versions: try store.versions(of: item), deletion: deletion)
    }

    /// The documents with unresolved losers at or below a path that the caller can reach.
    public func conflicted(within path: TreePath, as principal: Principal) throws(OperationError) -> [DocumentRecord] {
        try operation {
            try store.conflicted().compactMap { item in
                guard let found = try? document(item.id, as: principal), found.deletion == nil,
                    found.path.isWithin(path), !found.conflicts.isEmpty
                else { return nil }
                return found
            }.sorted { $0.path < $1.path }
        }
    }

    // MARK: What a caller may know

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
                try Attributes(below: [46], in: descriptor(of: walk.directory(path)))
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
            let found = try? store.deletions(at: path).first(where: { $0.type == .directory && $0.file == directory })
        {
            return found
        }
        if known.deleted == nil {
            let all = ((try? store.deletions(within: nil)) ?? []).filter { $0.type == .directory }
            known.deleted = Dictionary(all.map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return known.deleted?[directory]
    }

    /// Where a recorded directory is now; nil if it is gone.
    func livePath(of directory: FileID) -> TreePath? {
        if directory == .root { return .root }
        var last: TreePath?
        // It may be moved between the two looks: then it is at another path by the next.
        while let path = try? store.path(of: directory), path != last {
            let file = try? looking(as: .container) { try $0.directory(path).file }
            if file == directory { return path }
            last = path
        }
        return nil
    }
}
