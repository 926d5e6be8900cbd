// A full file system: contents are given up until there is room again (DESIGN 7).

import Synchronization
import VersionModel
import VersionStore

/// Makes room on a file system that is full, or nearly so.
final class RoomMaking: Sendable {
    private let ballast: Ballast
    private let source: any PurgeableSource
    private let free: FreeSpace
    private let purgeables: Purgeables
    private let oldest: OldestFirst
    private let state: SpaceState
    private let isReadOnly: Bool
    let shortages: Shortages

    init(
        ballast: Ballast, source: any PurgeableSource, free: FreeSpace, purgeables: Purgeables, oldest: OldestFirst,
        state: SpaceState, shortages: Shortages, isReadOnly: Bool
    ) {
        (self.source, self.free, self.purgeables, self.oldest) = (source, free, purgeables, oldest)
        (self.ballast, self.state, self.shortages, self.isReadOnly) = (ballast, state, shortages, isReadOnly)
    }

    /// Whether so many bytes can be had, once another thread has given up what it is about to: until then that is
    /// neither counted nor free.
    ///
    /// - Parameter mayWait: whether the caller holds no lock.
    /// - Parameter free: asks for the free bytes, again after the wait.
    func canHave(_ wanted: UInt64, mayWait: Bool, mustSucceed: Bool, free: () -> UInt64) -> Bool {
        if purgeables.canReclaim(wanted, free: free(), mustSucceed: mustSucceed) { return true }
        guard mayWait, state.givingUp.begin(mayWait: true) else { return false }
        state.givingUp.end()
        return purgeables.canReclaim(wanted, free: free(), mustSucceed: mustSucceed)
    }

    /// Gives up purgeable contents, oldest first, until the reserve and `wanted` bytes are free.
    /// - Parameter mustSucceed: nothing goes unless `wanted` bytes certainly become free.
    /// - Returns: whether anything went, or there is room already.
    func makeRoom(wanted: UInt64 = 0, mayWait: Bool, mustSucceed: Bool = false) -> Bool {
        // What could not be had if all were given up is not worth anything: a program may ask for any number of bytes.
        guard !isReadOnly,
            canHave(wanted, mayWait: mayWait, mustSucceed: mustSucceed, free: { free.room?.free ?? 0 }),
            let before = free.room
        else { return false }
        let (reserve, more) = FreeSpace.reserve(of: before.total).addingReportingOverflow(wanted)
        let needed = more ? UInt64.max : reserve
        guard before.free < needed else {
            // What was given up is just enough, and the next save needs as much again: that is no new shortage.
            if before.free - reserve > reserve / Trimming.slackPart { shortages.end() }
            return true
        }
        guard !state.isInVain || wanted > before.free else { return wanted > 0 && before.free / 2 > wanted }
        // While another thread deletes, its deleted data is neither kept any more nor free yet. This waits for it if
        // allowed.
        let isMine = state.givingUp.begin(mayWait: mayWait)
        defer { if isMine { state.givingUp.end() } }
        if let free = free.room?.free, free > before.free, free >= needed { return true }
        let news = state.news
        let given = oldest.giveUp(.all, OldestFirst.Way(mayWait: mayWait)) { _, _ in
            source.closeRemoved()
            // Before any program writes into the room: the next records need the reserve.
            ballast.take()
            return needed - min(needed, free.room?.free ?? .max)
        }
        source.closeRemoved()
        ballast.take()
        let isExhausted = (free.room?.free ?? .max) < needed
        if isExhausted, given.count == 0 { state.notLookingForAWhile(since: news) }
        shortages.note((given.count, given.bytes), isExhausted: isExhausted)
        // Others may have made room since it was missing.
        return given.count > 0 || (free.room?.free ?? 0) / 2 > wanted
    }
}
