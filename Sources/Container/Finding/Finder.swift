// Finding what an operation is about: a document by its path or an id, and its versions as the caller may know them.

import VersionModel
import VersionStore

/// Finds documents, and tells what a caller may know of them. It is made for each use.
public struct Finder: Sendable {
    let host: any FoundContainer
    public var history: any ContainerHistory { host.history }
    var tree: LiveTree { host.tree }

    init(_ host: any FoundContainer) { self.host = host }

    /// Runs `body` with the name lock held for reading.
    func looking<Result>(as principal: Principal, _ body: (Walk) throws -> Result) throws -> Result {
        let walk = Walk(tree, host.passthrough, as: principal)
        defer { walk.end() }
        return try tree.names.reading { try body(walk) }
    }

    // MARK: Documents

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
        var found = try history.deletions(at: path)
        if let name = path.name, let parent = path.parent,
            let directory = try? looking(as: .container, { try $0.directory(parent).file })
        {
            let known = Set(found.map(\.id))
            found += try history.deletions(in: directory, named: name).filter { !known.contains($0.id) }
        }
        return found.sorted { $1.deleted < $0.deleted }
    }

    private func liveDocument(at path: TreePath, as principal: Principal) throws -> DocumentRecord {
        let found = try looking(as: principal) { walk in
            let (spot, node, stat) = try walk.document(path)
            return try host.found(spot, node, stat)
        }()
        var versions = try history.versions(of: found.item)
        // An unchanged document has no record; its one version is the file.
        if versions.isEmpty, let current = found.current { versions = [current] }
        return DocumentRecord(path: path, item: found.item, versions: versions)
    }

    /// The document with this identity.
    public func document(_ item: ItemID, as principal: Principal) throws(OperationError) -> DocumentRecord {
        try operation {
            if let row = try history.item(item), let path = try history.path(of: row) {
                let found = try liveDocument(at: path, as: principal)
                if found.item == item { return found }
            }
            if let deleted = try history.deletions(of: item).first(where: { $0.type == .file }) {
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
        guard knowsAll(principal), let row = try history.item(item), row.places.isEmpty else { return nil }
        let versions = try history.versions(of: item)
        guard !versions.isEmpty else { return nil }
        return DocumentRecord(path: host.lastPath(of: item, versions) ?? .root, item: item, versions: versions)
    }

    private func record(of item: ItemID, path: TreePath, _ deletion: Deletion) throws -> DocumentRecord {
        DocumentRecord(path: path, item: item, versions: try history.versions(of: item), deletion: deletion)
    }

    /// The documents with unresolved losers at or below a path that the caller can reach.
    public func conflicted(within path: TreePath, as principal: Principal) throws(OperationError) -> [DocumentRecord] {
        try operation {
            try history.conflicted().compactMap { item in
                guard let found = try? document(item.id, as: principal), found.deletion == nil,
                    found.path.isWithin(path), !found.conflicts.isEmpty
                else { return nil }
                return found
            }.sorted { $0.path < $1.path }
        }
    }
}
