// Handles of open virtual files and directories.

import Synchronization

/// What is open, by handle. Handles have the same mark as the nodes. Lock order: last.
final class BrowseHandles<Value: AnyObject & Sendable>: Sendable {
    private struct State {
        var values: [UInt64: Value] = [:]
        var next = BrowseTable.mark + 1
    }
    private let state = RankedMutex(State())

    subscript(handle: UInt64) -> Value? { state.withLock { $0.values[handle] } }

    func add(_ value: Value) -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            state.values[state.next] = value
            return state.next
        }
    }

    func remove(_ handle: UInt64) -> Value? { state.withLock { $0.values.removeValue(forKey: handle) } }
}
