// A value that one thread waits for and another brings.

import Dispatch
import Synchronization

/// Brings one value to one thread. Waiting blocks that thread, and needs no other but the one that brings the value.
public final class Awaited<Value: Sendable>: Sendable {
    /// Guards the value alone.
    private let value = Mutex<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    public init() {}

    /// Brings the value. Later ones are dropped.
    public func set(_ value: Value) {
        let isFirst = self.value.withLock { known in
            guard known == nil else { return false }
            known = value
            return true
        }
        if isFirst { arrived.signal() }
    }

    /// Waits for the value.
    public func wait() -> Value {
        while true {
            if let value = value.withLock({ $0 }) { return value }
            arrived.wait()
        }
    }
}
