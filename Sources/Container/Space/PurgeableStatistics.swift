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
        /// Bytes of contents that are kept already while they are current, and of contents that may be given up but
        /// stay all the same, because a clone shares them: when they were last added up.
        var others: UInt64 = 0
        /// Which was the last change then (nil: it could not be done), and how long it took; nil: to be added up anew.
        var addedUp: (sequence: UInt64?, nanoseconds: Int64)?
        /// It is going to be added up.
        var isAddingUp = false
    }

    private let store: VersionStore
    private let free: FreeSpace
    private let purgeables: Purgeables
    private let documents: DocumentIndex
    private let chores: Scheduler
    private let logger: Logger
    private let isReadOnly: Bool
    private let state = RankedMutex(State())

    init(
        store: VersionStore, free: FreeSpace, purgeables: Purgeables, documents: DocumentIndex, chores: Scheduler,
        logger: Logger, isReadOnly: Bool
    ) {
        (self.store, self.free, self.purgeables, self.documents) = (store, free, purgeables, documents)
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
        let space = store.space
        let kept = UInt64(max(0, space.history)) + UInt64(max(0, space.deleted))
        let protected = protectedBytes
        let purgeable = kept - min(kept, protected)
        let extra = (purgeable - min(purgeable, reserve - min(reserve, free))) / block
        result.f_bavail += fsblkcnt_t(extra)
        result.f_bfree += fsblkcnt_t(extra)
        return result
    }

    /// The bytes of history that must stay. Computed at the first call; each later call schedules a new computation a
    /// second later, for the next caller, because a read of all versions takes long and waits for the queue.
    private var protectedBytes: UInt64 {
        if let known = state.withLock({ $0.addedUp }) {
            addUpLater(known.nanoseconds)
        } else {
            addUp(isFirst: true)
        }
        return purgeables.protectedBytes + state.withLock(\.others)
    }

    private func addUp(isFirst: Bool) {
        let (last, begun) = (state.withLock(\.addedUp), Scheduler.now)
        var sequence: UInt64?
        do {
            let latest = try store.changeRange()?.upperBound ?? 0
            if latest != last?.sequence {
                let ahead = bytesKeptAhead
                _ = try purgeables.all(history: true, deleted: false)
                let others = ahead + sharedBytes(beside: ahead)
                state.withLock { $0.others = others }
            }
            sequence = latest
        } catch {
            // It is tried again a while later, and what was known before goes on until then.
            logger.warning("what may not be given up could not be added up: \(error)")
        }
        let took = Scheduler.now - begun
        state.withLock { state in
            // Something else than a change has made it void meanwhile.
            if isFirst || state.addedUp != nil { state.addedUp = (sequence, took) }
            if !isFirst { state.isAddingUp = false }
        }
    }

    /// Where contents share blocks with others, giving them up makes less room than they take.
    private func sharedBytes(beside ahead: UInt64) -> UInt64 {
        guard store.contents.canReflink else { return 0 }
        let certain = purgeables.reclaimable(certainly: true).certain ?? 0
        let space = store.space
        let kept = UInt64(max(0, space.history)) + UInt64(max(0, space.deleted))
        return kept - min(kept, purgeables.protectedBytes + ahead + certain)
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

    /// The bytes of current versions that are already kept, because another program had the file open at the save, or
    /// because it is open for the next save: they take room, and cannot be deleted.
    private var bytesKeptAhead: UInt64 {
        var kept: [ContentID: UInt64] = [:]
        for document in documents.inMemory {
            // A document whose lock is held is being saved just now, and looked at the next time.
            let current = document.state.withLockIfAvailable { $0.isKept ? $0.current : nil }
            if let current = current ?? nil { kept[current.content] = current.size }
        }
        return kept.values.cappedSum
    }
}
