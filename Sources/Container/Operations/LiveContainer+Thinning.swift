// Thinning: history by its schedule and within its share, the deleted area by its age and share (DESIGN 7).

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Notes the time, which thinning uses. The background work calls it every few minutes.
    @discardableResult
    public func noteTime() -> RetentionClock {
        let (clock, row) = retention.advance()
        store.commit([row])
        return clock
    }

    /// Gives up history that is too dense for its age, or too much for its share.
    ///
    /// - Parameter dryRun: only say what would go.
    /// - Throws: `denied` for anyone but root and the daemon's own user; `busy` while the clock is not to be trusted.
    public func thin(
        dryRun: Bool, as principal: Principal,
        report: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws(OperationError) -> RemovalOutcome {
        try operation {
            guard knowsAll(principal) else { throw OperationError.denied(nil) }
            let clock = noteTime()
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
            for start in stride(from: 0, to: going.count, by: Self.mostAtOnce) {
                try report(start, going.count)
                let piece = Array(going[start..<min(start + Self.mostAtOnce, going.count)])
                bytes.addCapped(try giveUp(piece.filter { isStillHistory($0) }))
            }
            for deletion in deletions {
                bytes.addCapped(try names.writing { names throws in try remove(names, deletion).bytes })
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
        let excess = Thinning.excess(
            candidates.filter { !gone.contains($0.version) }, limit: bound(settings.historyShare))
        let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return (surplus + excess).compactMap { byID[$0.version] }
    }

    /// The entries of the deleted area that are too old, or too much for its share, oldest first; entries that pinned
    /// versions hold are not among them.
    private func outlived(_ clock: RetentionClock) throws -> [Deletion] {
        let newestFirst = try store.deletions(within: nil).sorted { $0.deleted > $1.deleted }
        let limit = bound(settings.deletedShare)
        var total: UInt64 = 0
        let outlived = newestFirst.filter { deletion in
            total += min(deletion.size, .max - total)
            return total > limit || clock.age(of: deletion.deleted) > settings.keepDeletedNanoseconds
        }
        let held = try heldByPins(outlived).entries
        return outlived.filter { !held.contains($0.id) }.reversed()
    }

    func isStillHistory(_ version: Version) -> Bool {
        guard let found = try? store.version(version.id) else { return false }
        return found.kind == .history && !found.flags.contains(.pinned)
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

    /// Why nothing is thinned at present; nil if it is.
    public var isThinningPaused: Bool { retention.isPaused }
}
