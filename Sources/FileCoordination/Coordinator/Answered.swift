// A value that arrives later, for a thread that works meanwhile.

import Synchronization

/// Holds a value after its arrival.
final class Answered<Value: Sendable>: Sendable {
    /// Guards only the value.
    private let state = Mutex<Value?>(nil)
    func set(_ value: Value) { state.withLock { $0 = value } }
    var value: Value? { state.withLock { $0 } }
}
