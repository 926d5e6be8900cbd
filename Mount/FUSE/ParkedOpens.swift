// The opens that wait for something, so that an interrupt and the end of the session find them.

import Synchronization
import SystemPackage

/// Waiting opens by the number of their request. The lock guards the table only; no open is completed under it.
final class ParkedOpens: Sendable {
    private struct Weak {
        weak var open: Deferred<Opened>?
    }
    private struct State {
        var waiting: [UInt64: Weak] = [:]
        /// Requests that were interrupted while they were not waiting, the latest last: an interrupt may overtake its
        /// request, and most are for requests that never wait. Numbers are not used twice.
        var early: [UInt64] = []
    }
    private static let mostEarly = 64
    private let state = Mutex(State())

    /// An open is about to wait.
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

    /// The mount is gone: nobody waits any more.
    func cancel() {
        for open in state.withLock({ $0.waiting.values.compactMap(\.open) }) {
            open.interrupt()
            open.complete(.failure(.interrupted))
        }
    }
}
