// The versions and deleted things that may be given up, and how much room that would make: asked before anything is
// given up, so that nothing goes for a call that cannot succeed.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

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

/// Counts what may be given up. Lock order: last; the catalog is read outside of it.
final class Purgeables: Sendable {
    private static let countNanoseconds: Int64 = 10_000_000_000

    private let store: ContainerState
    private let source: any PurgeableSource
    private let retention: Retention
    private let clock: any WallClock
    private let logger: Logger
    private let state: SpaceState
    /// How often the catalog was walked for contents that may be given up.
    let walks = Atomic<Int>(0)

    init(
        store: ContainerState, source: any PurgeableSource, retention: Retention, clock: any WallClock, logger: Logger,
        state: SpaceState
    ) {
        (self.store, self.source, self.retention) = (store, source, retention)
        (self.clock, self.logger, self.state) = (clock, logger, state)
    }

    /// Shows what may be given up, oldest first, until there is no more or the answer is false.
    func forEachPage(of kinds: PurgeableKinds, _ body: ([Purgeable]) throws -> Bool) throws {
        walks.add(1, ordering: .relaxed)
        let clock = retention.clock
        var last: UInt64? = 0
        while let next = last {
            let page = try source.purgeables(kinds, after: next, by: clock)
            guard try body(page.elements) else { return }
            last = page.next
        }
    }

    func count() throws -> Int {
        var count = 0
        try forEachPage(of: .all) { page in
            count += page.count
            return true
        }
        return count
    }

    // MARK: Counting

    /// Whether so many bytes can be had, all that may go being given up.
    ///
    /// - Parameter mustSucceed: in bytes that certainly become free; else in those that may.
    func canReclaim(_ wanted: UInt64, free: UInt64, mustSucceed: Bool) -> Bool {
        guard wanted > free else { return true }
        guard wanted - free <= source.sums.kept else { return false }
        let known = reclaimable(certainly: mustSucceed)
        return wanted - free <= (mustSucceed ? known.certain ?? 0 : known.possible)
    }

    /// Counted at most every ten seconds while nothing changes: a program that goes on writing to a full disk costs no
    /// walk through the catalog each time.
    func reclaimable(certainly: Bool) -> Reclaimable {
        let (space, time) = (source.sums, clock.uptime())
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
        // Contents that several versions have: how many of those stay so far, and the longest of the others.
        var shared: [ContentID: (left: Int, bytes: UInt64)] = [:]
        var (possible, certain): (UInt64, UInt64) = (0, 0)
        try forEachPage(of: .all) { page in
            for var candidate in page {
                if let content = candidate.content, candidate.sharing > 1 {
                    let known = shared[content] ?? (candidate.sharing, 0)
                    candidate.bytes = max(known.bytes, candidate.bytes)
                    shared[content] = (known.left - 1, candidate.bytes)
                    guard known.left == 1 else { continue }
                }
                possible.addCapped(Occupied.whole(candidate.bytes))
                if certainly { certain.addCapped(freed(by: candidate)) }
            }
            return true
        }
        result.possible = possible
        if certainly { result.certain = certain }
    }

    private func freed(by candidate: Purgeable) -> UInt64 {
        if let content = candidate.content { return freed(by: store.contents.name(of: content)) }
        guard case .deleted(let deletion) = candidate.kind else { return 0 }
        return freed(by: store.deletedArea.name(of: deletion))
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
