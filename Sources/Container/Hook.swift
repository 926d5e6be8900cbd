// Something to call that is given later than the object that calls it.

import Synchronization

/// A closure that its owner gets later. Lock order: last; it is called without the lock.
final class Hook: Sendable {
    // In a structure: a closure by itself, taken out of a `Mutex` and put back, comes back wrapped once more each time,
    // so that after a thousand calls it would take a thousand steps.
    private struct State { var action: (@Sendable () -> Void)? }
    private let state = RankedMutex(State())

    func set(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.action = action } }
    func call() { state.withLock(\.action)?() }
}
