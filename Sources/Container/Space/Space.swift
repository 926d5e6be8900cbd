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
        var store: VersionStore
        var root: SharedDescriptor
        var policy: Policy
        var names: ReadWriteLock
        var nodes: NodeTable
        var documents: DocumentIndex
        var tombstones: Tombstones
        var observers: Observers
        var pendingHashes: PendingHashes
        /// For what may take long.
        var chores: Scheduler
        var clock: any WallClock
        var logger: Logger
        var isReadOnly: Bool
    }

    let versions: VersionRemoval
    let deleted: DeletedRemoval
    let retention: Retention
    let purgeables: Purgeables
    let making: RoomMaking
    let trimming: Trimming
    let upkeep: Upkeep
    let counts: PurgeableStatistics
    let free: FreeSpace
    let state: SpaceState

    init(_ around: Surroundings, custodian: Custodian, passthrough: Passthrough) {
        let (store, clock, logger, isReadOnly) = (around.store, around.clock, around.logger, around.isReadOnly)
        free = FreeSpace(root: around.root, policy: around.policy)
        retention = Retention(store: store, wall: clock)
        versions = VersionRemoval(store: store, custodian: custodian, documents: around.documents, clock: clock)
        deleted = DeletedRemoval(
            store: store, custodian: custodian, versions: versions, nodes: around.nodes, tombstones: around.tombstones,
            passthrough: passthrough, clock: clock)
        state = SpaceState(clock: clock)
        purgeables = Purgeables(
            store: store, retention: retention, observers: around.observers, clock: clock, logger: logger,
            state: state)
        let oldest = OldestFirst(
            purgeables: purgeables, versions: versions, deleted: deleted, names: around.names, logger: logger)
        making = RoomMaking(
            store: store, free: free, purgeables: purgeables, oldest: oldest, state: state,
            shortages: Shortages(clock: clock, logger: logger), pendingHashes: around.pendingHashes,
            isReadOnly: isReadOnly)
        trimming = Trimming(
            store: store, free: free, oldest: oldest, making: making, retention: retention, state: state,
            chores: around.chores, isReadOnly: isReadOnly)
        let thinner = Thinner(
            store: store, free: free, retention: retention, observers: around.observers, versions: versions,
            deleted: deleted, names: around.names)
        upkeep = Upkeep(
            store: store, thinner: thinner, making: making, retention: retention, chores: around.chores,
            logger: logger)
        counts = PurgeableStatistics(
            store: store, free: free, purgeables: purgeables, documents: around.documents, chores: around.chores,
            logger: logger, isReadOnly: isReadOnly)
    }

    private var store: VersionStore { versions.store }
    private var custodian: Custodian { versions.custodian }

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
        wanted: UInt64 = 0, mayWait: Bool = false, isRecord: Bool = false, mustSucceed: Bool = false,
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var failure: Errno
        do throws(Errno) { return try body() } catch { failure = error }
        guard failure.isFull else { throw failure }
        if making.makeRoom(wanted: wanted, mayWait: mayWait, mustSucceed: mustSucceed) {
            do throws(Errno) { return try body() } catch { failure = error }
            guard failure.isFull else { throw failure }
            // What was given up may be room only once the file system has written down that it is gone.
            if mayWait, linux_synchronize_all(store.state.rawValue) == 0 {
                do throws(Errno) { return try body() } catch { failure = error }
            }
        }
        guard isRecord, store.ballast.release() else { throw failure }
        defer {
            store.ballast.take()
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

    // MARK: Cutting

    /// Gives up versions, and cuts their contents to what the longest one that remains has of each. Called with no lock
    /// held.
    ///
    /// The copies are made first: where there is no room for them nothing has been done. A crash in between leaves the
    /// longer content, of which more versions than that know nothing.
    ///
    /// - Parameter body: gives them up, and returns the bytes that became free.
    /// - Returns: these, and those that were cut off.
    func cutting(_ versions: [Version], _ body: () throws -> UInt64) throws -> UInt64 {
        let contents = Set(versions.map(\.content))
        let beginnings = try beginnings(of: contents, without: Set(versions.map(\.id)))
        var bytes: UInt64
        do { bytes = try body() } catch {
            custodian.drop(beginnings)
            throw error
        }
        bytes += try custodian.put(beginnings)
        // Of those who purge at the same time each may have left it to the other.
        return bytes + (try cut(contents))
    }

    /// Cuts contents to what the versions that name them have of them.
    /// - Returns: the bytes that became free.
    func cut(_ contents: Set<ContentID>) throws -> UInt64 { try custodian.put(try beginnings(of: contents)) }

    private func beginnings(
        of contents: Set<ContentID>, without gone: Set<VersionID> = []
    ) throws -> [ContentStore.Beginning] {
        var made: [ContentStore.Beginning] = []
        do {
            for content in contents {
                guard let size = try custodian.neededSize(of: content, without: gone) else { continue }
                let wanted = store.contents.canReflink ? 0 : size
                made.append(
                    try retryingWhenFull(wanted: wanted, mayWait: true) { () throws(Errno) in
                        try custodian.beginning(of: content, size: size)
                    })
            }
        } catch {
            custodian.drop(made)
            throw error
        }
        return made
    }
}
