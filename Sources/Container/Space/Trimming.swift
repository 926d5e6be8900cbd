// Keeping within bounds: the shares of history and of the deleted area, and a reserve that stays free (DESIGN 7).

import Synchronization
import VersionModel
import VersionStore

/// Gives up what is beyond the bounds, mostly by the background thread.
final class Trimming: Sendable {
    /// A bound is undershot by this part of it, so that not every save has to look for what may go.
    static let slackPart: UInt64 = 16

    private let ballast: Ballast
    private let source: any PurgeableSource
    private let free: FreeSpace
    private let oldest: OldestFirst
    private let making: RoomMaking
    private let retention: Retention
    private let state: SpaceState
    private let chores: Scheduler
    private let isReadOnly: Bool

    init(
        ballast: Ballast, source: any PurgeableSource, free: FreeSpace, oldest: OldestFirst, making: RoomMaking,
        retention: Retention, state: SpaceState, chores: Scheduler, isReadOnly: Bool
    ) {
        (self.ballast, self.source, self.free, self.oldest) = (ballast, source, free, oldest)
        (self.making, self.retention, self.state) = (making, retention, state)
        (self.chores, self.isReadOnly) = (chores, isReadOnly)
    }

    /// Less than half of the reserve is left: writes are to come to us, who can make room for them.
    var isNearlyFull: Bool {
        guard let room = free.recentRoom else { return false }
        let reserve = FreeSpace.reserve(of: room.total)
        if room.free < reserve { schedule() }
        return room.free < reserve / 2
    }

    /// Called after the history has grown by this many bytes. Usually the background thread enforces the limits. If it
    /// is behind by more than one version, the adding thread does it, without locks (``catchUp()``).
    func noteGrowth(history bytes: UInt64) {
        guard !isReadOnly, let room = free.recentRoom else { return }
        let space = source.sums
        let (history, deleted) = (UInt64(max(0, space.history)), UInt64(max(0, space.deleted)))
        let limit = free.historyLimit
        guard history > limit || deleted > free.deletedLimit || room.free < FreeSpace.reserve(of: room.total)
        else { return }
        // What was just added may go, also where there was nothing a moment ago.
        schedule(isUrgent: room.free < FreeSpace.reserve(of: room.total) / 2)
        guard bytes > 0, history > limit, history - limit > bytes, !retention.isPaused, !state.isInVain else { return }
        state.isBehind.store(true, ordering: .relaxed)
    }

    /// Called by a thread that has saved, with no lock held: a deletion reads the catalog, and so waits for the queue.
    func catchUp() {
        guard state.isBehind.load(ordering: .relaxed), state.givingUp.begin(mayWait: true) else { return }
        defer { state.givingUp.end() }
        // Only after it is done: other threads that save meanwhile wait for it, too, and do not exceed the limit again.
        guard state.isBehind.load(ordering: .relaxed) else { return }
        trimHistory(OldestFirst.Way(mayWait: false))
        state.isBehind.store(false, ordering: .relaxed)
    }

    /// Has the background thread look at the bounds at once.
    /// - Parameter isUrgent: though there was nothing to give up a moment ago: now there is.
    func schedule(isUrgent: Bool = false) {
        guard state.schedule(isUrgent: isUrgent) else { return }
        chores.after(0) { [weak self] in
            guard let self else { return }
            self.state.begun()
            self.trim()
        }
    }

    /// Gives up what is beyond the shares, and what the reserve needs.
    func trim() {
        if !retention.note().isPaused { giveUpExcess() }
        _ = making.makeRoom(mayWait: true)
        ballast.take()
    }

    /// Gives up what is beyond the shares, and what has been in the deleted area for too long.
    /// - Parameter freed: bytes of history that are as good as given up.
    @discardableResult
    func giveUpExcess(_ way: OldestFirst.Way = OldestFirst.Way(), freed: UInt64 = 0) -> GivenUp {
        guard way.isDry || state.givingUp.begin(mayWait: true) else { return GivenUp() }
        defer { if !way.isDry { state.givingUp.end() } }
        var given = trimHistory(way, freed: freed)
        given.add(trimDeleted(way))
        return given
    }

    @discardableResult
    private func trimHistory(_ way: OldestFirst.Way, freed: UInt64 = 0) -> GivenUp {
        let limit = free.historyLimit
        let sums = source.sums
        guard sums.isComplete, sums.history - Int64(clamping: freed) > Int64(clamping: limit) else { return GivenUp() }
        let news = state.news
        let target = Int64(clamping: limit - limit / Self.slackPart)
        let given = oldest.giveUp(.history, way) { [source] _, given in
            let gone = way.isDry ? Int64(clamping: freed) + Int64(clamping: given) : 0
            return UInt64(max(0, source.sums.history - gone - target))
        }
        if !way.isDry, source.sums.history > Int64(clamping: limit) { state.notLookingForAWhile(since: news) }
        return given
    }

    /// What has lain in the deleted area for too long, or is too much, oldest first.
    private func trimDeleted(_ way: OldestFirst.Way) -> GivenUp {
        let clock = retention.clock
        let limit = free.deletedLimit
        let keep = free.keepDeletedNanoseconds
        let sums = source.sums
        let hasTooMuch = sums.isComplete && sums.deleted > Int64(clamping: limit)
        let target = hasTooMuch ? Int64(clamping: limit - limit / Self.slackPart) : .max
        return oldest.giveUp(.deleted, way) { [source] candidate, given in
            if clock.seen - candidate.time > keep { return .max }
            guard hasTooMuch else { return 0 }
            let gone = way.isDry ? Int64(clamping: given) : 0
            return UInt64(max(0, source.sums.deleted - gone - target))
        }
    }
}
