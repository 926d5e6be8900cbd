// The space that kept things take: what is given up, when, and how much room there is.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Keeps history and the deleted area within their bounds, and makes room on a full file system. Knows nothing of
/// saves.
final class Space: Sendable {
    /// What a container has for all of its parts.
    struct Surroundings {
        var state: ContainerState
        var root: SharedDescriptor
        var policy: Policy
        var retention: Retention
        /// For what may take long.
        var chores: Scheduler
        var clock: any WallClock
        var logger: Logger
        var isReadOnly: Bool
    }

    let retention: Retention
    let purgeables: Purgeables
    let making: RoomMaking
    let trimming: Trimming
    let upkeep: Upkeep
    let counts: PurgeableStatistics
    let free: FreeSpace
    let state: SpaceState
    private let container: ContainerState

    init(_ around: Surroundings, of source: any PurgeableSource) {
        let (store, clock, logger, isReadOnly) = (around.state, around.clock, around.logger, around.isReadOnly)
        (container, retention) = (store, around.retention)
        free = FreeSpace(root: around.root, policy: around.policy)
        state = SpaceState(clock: clock)
        purgeables = Purgeables(
            store: store, source: source, retention: retention, clock: clock, logger: logger, state: state)
        let oldest = OldestFirst(purgeables: purgeables, source: source, logger: logger)
        making = RoomMaking(
            ballast: store.ballast, source: source, free: free, purgeables: purgeables, oldest: oldest, state: state,
            shortages: Shortages(clock: clock, logger: logger), isReadOnly: isReadOnly)
        trimming = Trimming(
            ballast: store.ballast, source: source, free: free, oldest: oldest, making: making, retention: retention,
            state: state, chores: around.chores, isReadOnly: isReadOnly)
        upkeep = Upkeep(
            ballast: store.ballast, source: source,
            thinner: Thinner(source: source, trimming: trimming, retention: retention), making: making,
            retention: retention, chores: around.chores, logger: logger)
        counts = PurgeableStatistics(
            store: store, source: source, free: free, purgeables: purgeables, chores: around.chores, logger: logger,
            isReadOnly: isReadOnly)
    }

    /// Pins have changed: what was added up does not hold any more.
    func forgetCounts() {
        counts.forget()
        state.forgetCount()
    }

    /// Something went for good because there was no room for it.
    func noteLoss(bytes: UInt64) {
        making.shortages.note((1, bytes), isExhausted: true)
        trimming.schedule(isUrgent: true)
    }

    // MARK: Calls that need room

    /// Makes room and repeats a call that failed for lack of space.
    ///
    /// - Parameters:
    ///   - wanted: the free bytes that the call needs.
    ///   - mayWait: whether the caller holds no lock.
    ///   - isRecord: whether the call writes the record of a removal or replacement, without which no room could be
    ///     made: it may use the ballast.
    ///   - mustSucceed: whether to delete only if that frees enough bytes.
    func retryingWhenFull<Result>(
        wanted: @autoclosure () -> UInt64 = 0, mayWait: Bool = false, isRecord: @autoclosure () -> Bool = false,
        mustSucceed: Bool = false,
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var failure: Errno
        do throws(Errno) { return try body() } catch { failure = error }
        guard failure.isFull else { throw failure }
        if making.makeRoom(wanted: wanted(), mayWait: mayWait, mustSucceed: mustSucceed) {
            do throws(Errno) { return try body() } catch { failure = error }
            guard failure.isFull else { throw failure }
            // What was given up may be room only once the file system has written down that it is gone.
            if mayWait, linux_synchronize_all(container.directory.rawValue) == 0 {
                do throws(Errno) { return try body() } catch { failure = error }
            }
        }
        guard isRecord(), container.ballast.release() else { throw failure }
        defer {
            container.ballast.take()
            trimming.schedule(isUrgent: true)
        }
        return try body()
    }

    /// Refuses an allocation that cannot succeed, before anything is kept or given up for it, and makes room for one
    /// that can: an allocation that fails halfway would have taken the room that is left.
    /// - Parameters:
    ///   - lacking: the bytes that it needs beyond what the file has.
    ///   - sizeToKeep: the size of the content that is copied before the file changes.
    func requireRoom(_ lacking: UInt64, sizeToKeep: UInt64) throws(Errno) {
        var system = try free.statistics()
        let (wanted, isBeyond) = lacking.addingReportingOverflow(sizeToKeep)
        let canBeHad = !isBeyond && making.canHave(wanted, mayWait: true, mustSucceed: true) {
            if let now = try? free.statistics() { system = now }
            return UInt64(geteuid() == 0 ? system.f_bfree : system.f_bavail) &* UInt64(system.f_frsize)
        }
        guard canBeHad else { throw .noSpace }
        if wanted > UInt64(system.f_bavail) &* UInt64(system.f_frsize) {
            _ = making.makeRoom(wanted: wanted, mayWait: true, mustSucceed: true)
        }
    }
}
