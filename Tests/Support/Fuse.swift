// A time limit for a whole test: system calls that hang in a dead mount cannot be interrupted from within their thread.

import Dispatch
import Synchronization

/// Runs an action when a time has passed, unless it is defused first.
final class Fuse: Sendable {
    private enum State { case burning, blown, defused }
    /// Guards the decision between going off and being defused.
    private let state = Mutex(State.burning)

    init(seconds: Double, action: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
            let goesOff = self?.state.withLock { state in
                if state == .burning { state = .blown }
                return state == .blown
            }
            if goesOff == true { action() }
        }
    }

    func defuse() {
        state.withLock { if $0 == .burning { $0 = .defused } }
    }

    var hasBlown: Bool { state.withLock { $0 == .blown } }
}
