// Changed databases that wait for a quiet moment and a capture (DESIGN 5.1).

import Synchronization
import VersionModel

/// The state of databases between their changes and their versions. Lock order: last.
final class WaitingDatabases: Sendable {
    /// A database that waits for a look.
    struct Waiting {
        var item: ItemID
        var requester: Requester
        /// The number of reported changes.
        var changes = 1
    }

    private struct State {
        /// The waiting nodes, with the authors of their last changes.
        var waiting: [UInt64: Waiting] = [:]
        /// The write-ahead log at the last capture of its database.
        var logs: [ItemID: Stamp] = [:]
    }

    private let state = RankedMutex(State())

    /// - Returns: whether it has just started to wait.
    func add(_ node: UInt64, _ item: ItemID, _ requester: Requester) -> Bool {
        state.withLock { state in
            let changes = state.waiting[node]?.changes ?? 0
            state.waiting[node] = Waiting(item: item, requester: requester, changes: changes + 1)
            return changes == 0
        }
    }

    subscript(node: UInt64) -> Waiting? { state.withLock { $0.waiting[node] } }
    func requester(_ node: UInt64) -> Requester? { self[node]?.requester }

    /// Ends the wait after a look that left nothing to capture.
    /// - Returns: false if more changes have come since this number: then it still waits.
    func remove(_ node: UInt64, changes: Int) -> Bool {
        state.withLock { state in
            guard state.waiting[node]?.changes == changes else { return false }
            state.waiting[node] = nil
            return true
        }
    }

    /// Whether an item may have changed without a version for the change.
    func isWaiting(_ item: ItemID) -> Bool { state.withLock { $0.waiting.values.contains { $0.item == item } } }

    var all: [UInt64] { state.withLock { Array($0.waiting.keys) } }

    func log(of item: ItemID) -> Stamp? { state.withLock { $0.logs[item] } }

    func captured(_ item: ItemID, _ log: Stamp?) { state.withLock { $0.logs[item] = log } }
}
