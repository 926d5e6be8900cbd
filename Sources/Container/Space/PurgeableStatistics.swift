// What statfs(2) says: the file system below, with what would be given up counted as free.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Adds up what may not be given up, now and then. Lock order: last.
final class PurgeableStatistics: Sendable {
    private struct State {
        /// Bytes that are kept and may not be given up, or that stay all the same because a clone shares them: when
        /// they were last added up.
        var protected: UInt64 = 0
        /// Which was the last change then (nil: it could not be done), and how long it took; nil: to be added up anew.
        var addedUp: (change: UInt64?, nanoseconds: Int64)?
        /// It is going to be added up.
        var isAddingUp = false
    }

    private let store: ContainerState
    private let source: any PurgeableSource
    private let free: FreeSpace
    private let purgeables: Purgeables
    private let chores: Scheduler
    private let logger: Logger
    private let isReadOnly: Bool
    private let state = RankedMutex(State())

    init(
        store: ContainerState, source: any PurgeableSource, free: FreeSpace, purgeables: Purgeables, chores: Scheduler,
        logger: Logger, isReadOnly: Bool
    ) {
        (self.store, self.source, self.free, self.purgeables) = (store, source, free, purgeables)
        (self.chores, self.logger, self.isReadOnly) = (chores, logger, isReadOnly)
    }

    /// What was added up does not hold any more.
    func forget() { state.withLock { $0.addedUp = nil } }

    /// What the file system says of itself, with what we would give up counted as free above the reserve.
    func statistics() throws(Errno) -> statvfs {
        var result = try free.statistics()
        let block = UInt64(result.f_frsize)
        guard block > 0, !isReadOnly else { return result }
        let free = UInt64(result.f_bavail) &* block
        let reserve = FreeSpace.reserve(of: UInt64(result.f_blocks) &* block)
        let (protected, kept) = (protectedBytes, source.sums.kept)
        let purgeable = kept - min(kept, protected)
        let extra = (purgeable - min(purgeable, reserve - min(reserve, free))) / block
        result.f_bavail += fsblkcnt_t(extra)
        result.f_bfree += fsblkcnt_t(extra)
        return result
    }

    /// The kept bytes that must stay. Computed at the first call; each later call schedules a new computation a second
    /// later, for the next caller, because a read of all versions takes long and waits for the queue.
    private var protectedBytes: UInt64 {
        if let known = state.withLock({ $0.addedUp }) {
            addUpLater(known.nanoseconds)
        } else {
            addUp(isFirst: true)
        }
        return state.withLock(\.protected)
    }

    private func addUp(isFirst: Bool) {
        let (last, begun) = (state.withLock(\.addedUp), Scheduler.now)
        var change: UInt64?
        do {
            let latest = try source.lastChange()
            if latest != last?.change {
                // Where contents share blocks with others, giving them up makes less room than they take.
                let isShared = store.contents.canReflink
                let known = purgeables.reclaimable(certainly: isShared)
                let (kept, purgeable) = (source.sums.kept, isShared ? known.certain ?? 0 : known.possible)
                state.withLock { $0.protected = kept - min(kept, purgeable) }
            }
            change = latest
        } catch {
            // It is tried again a while later, and what was known before goes on until then.
            logger.warning("what may not be given up could not be added up: \(error)")
        }
        let took = Scheduler.now - begun
        state.withLock { state in
            // Something else than a change has made it void meanwhile.
            if isFirst || state.addedUp != nil { state.addedUp = (change, took) }
            if !isFirst { state.isAddingUp = false }
        }
    }

    private func addUpLater(_ took: Int64) {
        let isDue = state.withLock { state in
            defer { state.isAddingUp = true }
            return !state.isAddingUp
        }
        guard isDue else { return }
        // However often it is asked for, it takes a small part of the time.
        chores.after(max(1_000_000_000, 20 * took)) { [weak self] in self?.addUp(isFirst: false) }
    }
}

extension StateSpace {
    /// Of history and of the deleted area together.
    var kept: UInt64 { UInt64(max(0, history)) + UInt64(max(0, deleted)) }
}
