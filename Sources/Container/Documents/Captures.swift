// Which databases have changed and are to be captured once they are quiet (DESIGN 5.1).

import Synchronization
import VersionModel

/// What is remembered of databases between their changes and their versions. Lock order: last.
final class Captures: Sendable {
    /// What waits for a look.
    struct Waiting {
        var item: ItemID
        var requester: Requester
        /// How many changes it has heard of.
        var changes = 1
    }

    private struct State {
        /// The nodes that wait for a look, with who has changed them last.
        var waiting: [UInt64: Waiting] = [:]
        /// The write-ahead log as it was when its database was captured last.
        var logs: [ItemID: Stamp] = [:]
    }

    private let state = Mutex(State())

    /// - Returns: whether it waits for a look since now.
    func add(_ node: UInt64, _ item: ItemID, _ requester: Requester) -> Bool {
        state.withLock { state in
            let changes = state.waiting[node]?.changes ?? 0
            state.waiting[node] = Waiting(item: item, requester: requester, changes: changes + 1)
            return changes == 0
        }
    }

    func waiting(_ node: UInt64) -> Waiting? { state.withLock { $0.waiting[node] } }
    func requester(_ node: UInt64) -> Requester? { waiting(node)?.requester }

    /// It was looked at, and nothing is left to be captured.
    /// - Returns: false if it was changed since it had changed so often: then it goes on waiting.
    func remove(_ node: UInt64, changes: Int) -> Bool {
        state.withLock { state in
            guard state.waiting[node]?.changes == changes else { return false }
            state.waiting[node] = nil
            return true
        }
    }

    /// Whether an item may have changed without a version that says so.
    func isWaiting(_ item: ItemID) -> Bool { state.withLock { $0.waiting.values.contains { $0.item == item } } }

    var all: [UInt64] { state.withLock { Array($0.waiting.keys) } }

    func log(of item: ItemID) -> Stamp? { state.withLock { $0.logs[item] } }

    func captured(_ item: ItemID, _ log: Stamp?) { state.withLock { $0.logs[item] = log } }
}
