// Removing versions for good: their rows, contents that nothing else names, and what names them as parents.

import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Removes versions. Which of them may go is for its callers to say.
final class VersionRemoval: Sendable {
    let store: VersionStore
    let custodian: Custodian
    private let documents: DocumentIndex
    private let clock: any WallClock

    init(store: VersionStore, custodian: Custodian, documents: DocumentIndex, clock: any WallClock) {
        (self.store, self.custodian, self.documents, self.clock) = (store, custodian, documents, clock)
    }

    /// Deletes versions, and contents that no other version names. The rows go first: an object that remains after a
    /// crash gets its record back from its label, but a row without its content would be a loss.
    ///
    /// - Parameters:
    ///   - path: the last path of their document, if it has no place any more.
    ///   - requester: the process that asked for it; nil for the container itself.
    ///   - mayWait: whether the caller holds no document's lock.
    ///   - rows: more rows for the same transaction, made of the deleted versions.
    /// - Returns: the freed bytes.
    func remove(
        _ versions: [Version], at path: TreePath? = nil, by requester: Requester? = nil, mayWait: Bool = true,
        rows: ([Version]) -> [VersionStore.Mutation] = { _ in [] }
    ) throws -> UInt64 {
        let gone = Set(versions.map(\.id))
        let events = events(for: versions, at: path, by: requester)
        let children = try store.children(of: versions)
        store.commit(versions.map { .removeVersion($0.id) } + rows(versions) + events)
        for child in children { tellParents(of: child.id, mayWait: mayWait) }
        return try Set(versions.map(\.content)).reduce(into: 0) { bytes, content in
            bytes.addCapped(try custodian.remove(content, unlessNamedBeside: gone))
        }
    }

    /// A version, as long as it may go.
    func stillHistory(_ version: VersionID) -> Version? {
        guard let found = try? store.version(version), found.kind == .history, !found.flags.contains(.pinned) else {
            return nil
        }
        return found
    }

    /// The bytes that would become free if versions went: their contents, as far as no other version has them.
    func freed(by versions: [Version]) throws -> UInt64 {
        let gone = Set(versions.map(\.id))
        return try Set(versions.map(\.content)).reduce(into: 0) { bytes, content in
            let place = store.contents.name(of: content)
            guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) else { return }
            let longest = try store.versions(sharing: content).filter { !gone.contains($0.id) }.map(\.size).max() ?? 0
            bytes.addCapped(stat.size - min(stat.size, longest))
        }
    }

    /// Rows of the change feed for versions that go for good.
    private func events(
        for versions: [Version], at path: TreePath?, by requester: Requester?
    ) -> [VersionStore.Mutation] {
        var places: [ItemID: (path: TreePath, directory: FileID?)] = [:]
        return versions.map { version in
            let known = places[version.item] ?? (
                path ?? (try? store.item(version.item)).flatMap { try? store.path(of: $0) } ?? .root,
                directory(of: version.item)
            )
            places[version.item] = known
            return .change(
                Change(
                    event: .versionLost, path: known.path, item: version.item, version: version.id, time: clock.now(),
                    author: requester?.author, directory: known.directory))
        }
    }

    /// The directory that a document is in, or was in when it was deleted.
    func directory(of item: ItemID) -> FileID? {
        (try? store.item(item))?.places.first?.directory ?? (try? store.deletions(of: item))?.first?.place.directory
    }

    // MARK: Parents

    /// Writes a version's parents from the catalog to its content's label, from which a lost catalog is rebuilt, and to
    /// its document, from which the label of a current version is made. They change when versions between go
    /// (``Splice``).
    ///
    /// - Parameter mayWait: whether the caller holds no document's lock. Otherwise a locked document is skipped: its
    ///   label then names a deleted parent, which is incomplete but not wrong.
    func tellParents(of id: VersionID, mayWait: Bool) {
        guard let version = try? store.version(id), let item = try? store.item(version.item) else { return }
        guard let place = item.places.first, let document = documents.documentInMemory(at: place) else {
            return relabelParents(version)
        }
        if mayWait {
            document.state.withLock { tellParents(version, &$0) }
        } else {
            document.state.withLockIfAvailable { tellParents(version, &$0) }
        }
    }

    private func tellParents(_ version: Version, _ state: inout Document.State) {
        if state.current?.id == version.id { state.current?.parents = version.parents }
        relabelParents(version)
    }

    private func relabelParents(_ version: Version) {
        custodian.relabel(version.id, in: version.content) { $0.parents = version.parents }
    }
}
