// What may be given up, by the catalog of mutations.

import SystemPackage
import VersionModel
import VersionStore

/// Lists what may be given up, each list as one page, and has it removed.
final class CatalogPurgeables: PurgeableSource {
    let versions: VersionRemoval
    let deleted: DeletedRemoval
    private let store: VersionStore
    private let names: ReadWriteLock
    private let observers: Observers
    private let pendingHashes: PendingHashes

    init(
        versions: VersionRemoval, deleted: DeletedRemoval, names: ReadWriteLock, observers: Observers,
        pendingHashes: PendingHashes
    ) {
        (self.versions, self.deleted, self.names) = (versions, deleted, names)
        (self.observers, self.pendingHashes) = (observers, pendingHashes)
        store = versions.store
    }

    var sums: StateSpace { store.space }
    func lastChange() throws -> UInt64 { try store.changeRange()?.upperBound ?? 0 }
    func addUp() throws { try store.rescanSpace(onlyIfUnknown: true) }

    func purgeables(
        _ kinds: PurgeableKinds, after last: UInt64, by clock: RetentionClock
    ) throws -> PurgeablePage {
        let all = try store.allVersions()
        var result: [(candidate: Purgeable, wall: Timestamp)] = []
        if kinds.contains(.history) {
            let sharing = Dictionary(all.map { ($0.content, 1) }, uniquingKeysWith: +)
            for version in candidates(all, clock) where !version.candidate.isProtected {
                let (candidate, saved) = version
                result.append(
                    (
                        Purgeable(
                            kind: .history(candidate), time: candidate.saved, bytes: candidate.bytes,
                            content: candidate.content, sharing: sharing[candidate.content] ?? 1), saved
                    ))
            }
        }
        if kinds.contains(.deleted) {
            let deletions = try store.deletions(within: nil)
            // What hangs on a deleted document, too: pinned versions and conflicts stay.
            let items = Set(all.filter { $0.kind == .conflict || $0.flags.contains(.pinned) }.map(\.item))
            let staying = try deletions.held { try items.contains($0) && deleted.isNameless($0) ? 1 : 0 }.entries
            for deletion in deletions
            where !staying.contains(deletion.id) && deletion.item.map(items.contains) != true {
                result.append(
                    (
                        Purgeable(
                            kind: .deleted(deletion.id), time: clock.seenTime(of: deletion.deleted),
                            bytes: deletion.size), deletion.deleted
                    ))
            }
        }
        return (result.sorted { ($0.candidate.time, $0.wall) < ($1.candidate.time, $1.wall) }.map(\.candidate), nil)
    }

    func histories(
        after item: ItemID?, by clock: RetentionClock
    ) throws -> (versions: [Thinning.Candidate], next: ItemID?) {
        (candidates(try store.allVersions(), clock).map(\.candidate), nil)
    }

    private func candidates(
        _ all: [Version], _ clock: RetentionClock
    ) -> [(candidate: Thinning.Candidate, saved: Timestamp)] {
        let kept = Thinning.protected(all, bases: observers.bases)
        return all.filter { $0.kind != .current }.map { version in
            let candidate = Thinning.Candidate(
                version: version.id, item: version.item, saved: clock.seenTime(of: version.saved),
                content: version.content, bytes: version.size, isProtected: kept.contains(version.id))
            return (candidate, version.saved)
        }
    }

    func described(_ versions: [VersionID]) throws -> [(version: Version, path: TreePath)] {
        var paths: [ItemID: TreePath] = [:]
        return try versions.compactMap { id in
            guard let version = try store.version(id) else { return nil }
            let path = try paths[version.item] ?? self.path(of: version.item)
            paths[version.item] = path
            return (version, path)
        }
    }

    private func path(of id: ItemID) throws -> TreePath {
        let item = try store.item(id)
        return try item.flatMap { try store.path(of: $0) } ?? store.deletions(of: id).first?.path ?? .root
    }

    // MARK: Giving up

    func giveUp(_ versions: [Thinning.Candidate], mayWait: Bool) throws -> (count: Int, bytes: UInt64) {
        let going = versions.compactMap { self.versions.stillHistory($0.version) }
        return going.isEmpty ? (0, 0) : (going.count, try self.versions.remove(going, mayWait: mayWait))
    }

    func giveUp(_ id: DeletionID, mayWait: Bool) throws -> UInt64? {
        guard let deletion = try store.deletion(id) else { return nil }
        let remove = { (names: borrowing NamesHeldAlone) throws -> UInt64 in
            try self.deleted.remove(names, deletion).bytes
        }
        return mayWait ? try names.writing(remove) : try names.writingIfFree(remove)
    }

    func closeRemoved() {
        store.contents.closeRemoved()
        pendingHashes.closeRemoved()
    }
}
