// What is remembered between looks at the space, and the turn of the thread that gives something up.

import Dispatch
import Synchronization
import VersionModel

/// Which looks at the space are due, or in vain. Lock order: last.
final class SpaceState: Sendable {
    private struct State {
        /// A look by the background thread is due.
        var isScheduled = false
        /// Uptime until which it is in vain to look for more.
        var vainUntil: Int64 = 0
        /// Counts what made another look worth while: a look begun before may have missed it.
        var news: UInt64 = 0
        /// The bytes that could be given up, when they were counted last.
        var counted: Reclaimable?
    }

    private static let vainNanoseconds: Int64 = 10_000_000_000

    private let clock: any WallClock
    private let state = RankedMutex(State())
    /// Whether the history exceeds its limit by more than one version: the thread that adds to it deletes some before
    /// its answer.
    let isBehind = Atomic<Bool>(false)
    let givingUp = Turn()

    init(clock: any WallClock) { self.clock = clock }

    /// Nothing was left to give up a moment ago: another look would find nothing either.
    var isInVain: Bool { clock.uptime() < state.withLock(\.vainUntil) }

    var news: UInt64 { state.withLock(\.news) }

    /// Nothing is left to give up: another look soon would find nothing either, unless there are news since this one.
    func notLookingForAWhile(since news: UInt64) {
        let next = clock.uptime() + Self.vainNanoseconds
        state.withLock { if $0.news == news { $0.vainUntil = next } }
    }

    /// The last count, and the news that a new one would begin with.
    var counted: (known: Reclaimable?, news: UInt64) { state.withLock { ($0.counted, $0.news) } }

    /// What has come since the count began may not be in it.
    func set(counted: Reclaimable, since news: UInt64) {
        state.withLock { if $0.news == news { $0.counted = counted } }
    }

    /// What was counted does not hold any more.
    func forgetCount() { state.withLock { $0.counted = nil } }

    /// Schedules a look, unless one is due already or would be in vain.
    /// - Parameter isUrgent: it is not in vain: now there is something to give up.
    /// - Returns: whether the caller has to have it done.
    func schedule(isUrgent: Bool) -> Bool {
        state.withLock { state in
            if isUrgent { (state.vainUntil, state.counted, state.news) = (0, nil, state.news &+ 1) }
            guard !state.isScheduled, clock.uptime() >= state.vainUntil else { return false }
            state.isScheduled = true
            return true
        }
    }

    func begun() { state.withLock { $0.isScheduled = false } }
}

/// One at a time. Unlike with a lock, who may not wait is told.
final class Turn: Sendable {
    private let isTaken = DispatchSemaphore(value: 1)

    /// - Returns: whether it is the caller's turn, who ends it.
    func begin(mayWait: Bool) -> Bool { isTaken.wait(timeout: mayWait ? .distantFuture : .now()) == .success }

    func end() { isTaken.signal() }
}
