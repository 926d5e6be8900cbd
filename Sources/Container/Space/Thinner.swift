// Thinning: history by its schedule and within its share, the deleted area by its age and share (DESIGN 7).

import Synchronization
import VersionModel
import VersionStore

/// Gives up history that is too dense for its age, and what has been in the deleted area for too long.
final class Thinner: Sendable {
    private let store: VersionStore
    private let free: FreeSpace
    private let retention: Retention
    private let observers: Observers
    private let versions: VersionRemoval
    private let deleted: DeletedRemoval
    private let names: ReadWriteLock

    init(
        store: VersionStore, free: FreeSpace, retention: Retention, observers: Observers, versions: VersionRemoval,
        deleted: DeletedRemoval, names: ReadWriteLock
    ) {
        (self.store, self.free, self.retention, self.observers) = (store, free, retention, observers)
        (self.versions, self.deleted, self.names) = (versions, deleted, names)
    }

    /// - Parameter dryRun: only say what would go.
    /// - Throws: `busy` while the clock is not to be trusted.
    func thin(
        dryRun: Bool, report: (_ done: Int, _ of: Int) throws -> Void
    ) throws(OperationError) -> RemovalOutcome {
        try operation {
            let clock = retention.note()
            guard !clock.isPaused else {
                throw OperationError(
                    .busy, "the system clock jumped by more than a day",
                    advice: "thinning goes on when the clock is right, or after a day")
            }
            let all = try store.allVersions()
            let going = surplus(all, clock)
            let deletions = try outlived(clock)
            if dryRun {
                let bytes = (going.map(\.size) + deletions.map(\.size)).cappedSum
                return try outcome(going, deleted: deletions.count, bytes: bytes)
            }
            var bytes: UInt64 = 0
            // In pieces, so that one that fails or is cancelled has done its part.
            for start in stride(from: 0, to: going.count, by: OldestFirst.mostAtOnce) {
                try report(start, going.count)
                let piece = Array(going[start..<min(start + OldestFirst.mostAtOnce, going.count)])
                bytes.addCapped(try versions.remove(piece.filter { versions.isStillHistory($0) }))
            }
            for deletion in deletions {
                bytes.addCapped(try names.writing { names throws in try deleted.remove(names, deletion).bytes })
            }
            return try outcome(going, deleted: deletions.count, bytes: bytes)
        }
    }

    private func surplus(_ all: [Version], _ clock: RetentionClock) -> [Version] {
        let kept = Thinning.protected(all, bases: observers.bases)
        let candidates = all.filter { $0.kind != .current }.map { version in
            Thinning.Candidate(
                version: version.id, item: version.item, saved: clock.seenTime(of: version.saved),
                content: version.content, bytes: version.size, isProtected: kept.contains(version.id))
        }
        let surplus = Thinning.surplus(candidates, now: clock.seen)
        let gone = Set(surplus.map(\.version))
        let excess = Thinning.excess(candidates.filter { !gone.contains($0.version) }, limit: free.historyLimit)
        let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return (surplus + excess).compactMap { byID[$0.version] }
    }

    /// The entries of the deleted area that are too old, or too much for its share, oldest first; entries that pinned
    /// versions hold are not among them.
    private func outlived(_ clock: RetentionClock) throws -> [Deletion] {
        let newestFirst = try store.deletions(within: nil).sorted { $0.deleted > $1.deleted }
        let (limit, keep) = (free.deletedLimit, free.keepDeletedNanoseconds)
        var total: UInt64 = 0
        let outlived = newestFirst.filter { deletion in
            total += min(deletion.size, .max - total)
            return total > limit || clock.age(of: deletion.deleted) > keep
        }
        let held = try deleted.heldByPins(outlived).entries
        return outlived.filter { !held.contains($0.id) }.reversed()
    }

    private func outcome(_ versions: [Version], deleted: Int, bytes: UInt64) throws -> RemovalOutcome {
        var paths: [ItemID: TreePath] = [:]
        for version in versions where paths[version.item] == nil {
            let item = try store.item(version.item)
            let path = try item.flatMap { try store.path(of: $0) } ?? store.deletions(of: version.item).first?.path
            paths[version.item] = path ?? .root
        }
        return RemovalOutcome(versions: versions.map { ($0, paths[$0.item] ?? .root) }, deleted: deleted, bytes: bytes)
    }
}
