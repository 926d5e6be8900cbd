// A value from another thread that one thread waits for.

import Dispatch
import Synchronization

/// Passes one value to one thread. The wait blocks that thread, and needs no thread except the one that sets the value.
public final class Awaited<Value: Sendable>: Sendable {
    /// Guards only the value.
    private let value = Mutex<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    public init() {}

    /// Sets the value. Later values are dropped.
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
