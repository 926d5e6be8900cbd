// The versions and deleted things that may be given up, and how much room that would make: asked before anything is
// given up, so that nothing goes for a call that cannot succeed.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Something that may be given up.
struct Purgeable {
    enum Kind {
        case history(Version)
        case deleted(Deletion)
    }
    var kind: Kind
    /// When it was saved or deleted, in time seen.
    var time: Int64
    /// The same by the wall clock, for what is newer than the last look at the time.
    var wall: Timestamp
}

/// The bytes that could be given up on a full file system.
struct Reclaimable {
    /// At most: as much as their sizes say.
    var possible: UInt64 = 0
    /// At least: blocks that nothing else shares; counted only if it was asked for.
    var certain: UInt64?
    /// The space of history and of the deleted area when it was counted: another one makes it void.
    var history: Int64
    var deleted: Int64
    /// Uptime from which on it is counted anew in any case.
    var end: Int64
}

/// Finds and counts what may be given up. Lock order: last; the catalog is read outside of it.
final class Purgeables: Sendable {
    private static let countNanoseconds: Int64 = 10_000_000_000

    private let store: VersionStore
    private let retention: Retention
    private let observers: Observers
    private let clock: any WallClock
    private let logger: Logger
    private let state: SpaceState
    /// Bytes of history that may not be given up, when it was last added up.
    private let protected = RankedMutex<UInt64>(0)
    /// How often the catalog was walked for contents that may be given up.
    let walks = Atomic<Int>(0)

    init(
        store: VersionStore, retention: Retention, observers: Observers, clock: any WallClock, logger: Logger,
        state: SpaceState
    ) {
        (self.store, self.retention, self.observers) = (store, retention, observers)
        (self.clock, self.logger, self.state) = (clock, logger, state)
    }

    var protectedBytes: UInt64 { protected.withLock { $0 } }

    /// Oldest first.
    func all(history: Bool, deleted: Bool) throws -> [Purgeable] {
        walks.add(1, ordering: .relaxed)
        let clock = retention.clock
        var result: [Purgeable] = []
        let all = try store.allVersions()
        if history {
            let kept = Thinning.protected(all, bases: observers.bases)
            var protected: [ContentID: UInt64] = [:]
            for version in all where version.kind != .current {
                if kept.contains(version.id) {
                    protected[version.content] = version.size
                } else {
                    result.append(
                        Purgeable(kind: .history(version), time: clock.seenTime(of: version.saved), wall: version.saved)
                    )
                }
            }
            let bytes = protected.values.cappedSum
            self.protected.withLock { $0 = bytes }
        }
        if deleted {
            // What hangs on a deleted document, too: pinned versions and conflicts stay.
            let held = Set(all.filter { $0.kind == .conflict || $0.flags.contains(.pinned) }.map(\.item))
            for deletion in try store.deletions(within: nil) where deletion.item.map({ !held.contains($0) }) ?? true {
                result.append(
                    Purgeable(
                        kind: .deleted(deletion), time: clock.seenTime(of: deletion.deleted), wall: deletion.deleted))
            }
        }
        return result.sorted { ($0.time, $0.wall) < ($1.time, $1.wall) }
    }

    // MARK: Counting

    /// Whether so many bytes can be had, all that may go being given up.
    ///
    /// - Parameter mustSucceed: in bytes that certainly become free; else in those that may.
    func canReclaim(_ wanted: UInt64, free: UInt64, mustSucceed: Bool) -> Bool {
        guard wanted > free else { return true }
        let kept = UInt64(max(0, store.space.history)) + UInt64(max(0, store.space.deleted))
        guard wanted - free <= kept else { return false }
        let known = reclaimable(certainly: mustSucceed)
        return wanted - free <= (mustSucceed ? known.certain ?? 0 : known.possible)
    }

    /// Counted at most every ten seconds while nothing changes: a program that goes on writing to a full disk costs no
    /// walk through the catalog each time.
    func reclaimable(certainly: Bool) -> Reclaimable {
        let (space, time) = (store.space, clock.uptime())
        let (known, news) = state.counted
        if let known, known.history == space.history, known.deleted == space.deleted, time < known.end,
            !certainly || known.certain != nil
        {
            return known
        }
        var result = Reclaimable(history: space.history, deleted: space.deleted, end: time + Self.countNanoseconds)
        do { try count(&result, certainly: certainly) } catch {
            logger.warning("what may be given up cannot be counted: \(error)")
        }
        // A count that takes long holds for longer, or each failing call would count again.
        let now = clock.uptime()
        result.end = now + max(Self.countNanoseconds, 10 * (now - time))
        state.set(counted: result, since: news)
        return result
    }

    private func count(_ result: inout Reclaimable, certainly: Bool) throws {
        let candidates = try all(history: true, deleted: true)
        let going = Set(candidates.compactMap { candidate -> VersionID? in
            if case .history(let version) = candidate.kind { version.id } else { nil }
        })
        // A content goes with the last version that it is the content of.
        let staying = Set(try store.allVersions().filter { !going.contains($0.id) }.map(\.content))
        var (seen, certain): (Set<ContentID>, UInt64) = ([], 0)
        for candidate in candidates {
            switch candidate.kind {
            case .history(let version):
                guard !staying.contains(version.content), seen.insert(version.content).inserted else { continue }
                result.possible.addCapped(Occupied.whole(version.size))
                if certainly { certain.addCapped(freed(by: store.contents.name(of: version.content))) }
            case .deleted(let deletion):
                result.possible.addCapped(Occupied.whole(deletion.size))
                if certainly { certain.addCapped(freed(by: store.deletedArea.name(of: deletion.id))) }
            }
        }
        if certainly { result.certain = certain }
    }

    /// The bytes that become free with a file of the state: none while it has another name, and no extents that a clone
    /// shares.
    private func freed(by place: (directory: FileDescriptor, name: String)) -> UInt64 {
        guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) else { return 0 }
        let blocks = stat.raw.blocks &* 512
        guard stat.isRegular else { return blocks }
        guard stat.links == 1 else { return 0 }
        let whole = Occupied.whole(stat.size)
        guard store.contents.canReflink || blocks < whole else { return blocks }
        guard let file = try? Backing.open(
            path: place.name, in: place.directory.rawValue, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        else { return 0 }
        defer { Glibc.close(file) }
        guard store.contents.canReflink else {
            // ext4 has moments at which a file that it has just found blocks for has none.
            return lseek(file, 0, linux_SEEK_HOLE) < off_t(clamping: stat.size) ? blocks : whole
        }
        let own = linux_allocated(file, 0, off_t(clamping: stat.size), 1)
        return own < 0 ? 0 : UInt64(own)
    }
}
