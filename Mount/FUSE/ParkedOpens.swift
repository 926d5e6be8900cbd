// The opens that wait for something, so that an interrupt and the end of the session find them.

import Synchronization
import SystemPackage

/// Waiting opens by the number of their request. The lock guards the table only; no open is completed under it.
final class ParkedOpens: Sendable {
    private struct Weak {
        weak var open: Deferred<Opened>?
    }
    private let table = Mutex<[UInt: Weak]>([:])

    func add(_ open: Deferred<Opened>, request: UInt) {
        table.withLock { $0[request] = Weak(open: open) }
    }

    func remove(request: UInt) {
        _ = table.withLock { $0.removeValue(forKey: request) }
    }

    /// The caller of a request wants to stop waiting.
    func interrupt(request: UInt) {
        table.withLock { $0[request]?.open }?.interrupt()
    }

    /// The mount is gone: nobody waits any more.
    func cancel() {
        for open in table.withLock({ $0.values.compactMap(\.open) }) {
            open.interrupt()
            open.complete(.failure(.interrupted))
        }
    }
}
