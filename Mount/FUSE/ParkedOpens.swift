// The opens that wait. An interrupt and the end of the session find them here.

import Synchronization
import SystemPackage

/// Waiting opens by the number of their request. The lock guards the table only; no open is completed under it.
final class ParkedOpens: Sendable {
    private struct Weak {
        weak var open: Deferred<Opened>?
    }
    private struct State {
        var waiting: [UInt64: Weak] = [:]
        /// Interrupted requests that were not waiting, the latest last. An interrupt may overtake its request, and most
        /// interrupts are for requests that never wait. The kernel does not reuse numbers.
        var early: [UInt64] = []
    }
    private static let mostEarly = 64
    private let state = Mutex(State())

    /// Adds an open that is about to wait.
    /// - Returns: whether its caller has been interrupted already.
    func add(_ open: Deferred<Opened>, request: UInt64) -> Bool {
        state.withLock { state in
            state.waiting[request] = Weak(open: open)
            return state.early.contains(request)
        }
    }

    func remove(request: UInt64) {
        _ = state.withLock { $0.waiting.removeValue(forKey: request) }
    }

    /// The caller of a request has a signal pending.
    func interrupt(request: UInt64) {
        let found = state.withLock { state in
            if let open = state.waiting[request]?.open { return open as Deferred<Opened>? }
            if state.early.count >= Self.mostEarly { state.early.removeFirst() }
            state.early.append(request)
            return nil
        }
        found?.interrupt()
    }

    /// The mount is gone: ends every wait.
    func cancel() {
        for open in state.withLock({ $0.waiting.values.compactMap(\.open) }) {
            open.interrupt()
            open.complete(.failure(.interrupted))
        }
    }
}
