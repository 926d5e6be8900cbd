// A value that comes sometime, for a thread that looks after other things meanwhile.

import Synchronization

/// Holds a value once it is there.
final class Answered<Value: Sendable>: Sendable {
    /// Guards the value alone.
    private let state = Mutex<Value?>(nil)
    func set(_ value: Value) { state.withLock { $0 = value } }
    var value: Value? { state.withLock { $0 } }
}
