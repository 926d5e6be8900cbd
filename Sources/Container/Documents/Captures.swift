// Which databases have changed and are to be captured once they are quiet (DESIGN 5.1).

import Synchronization
import VersionModel

/// What is remembered of databases between their changes and their versions. Lock order: last.
final class Captures: Sendable {
    private struct State {
        /// The nodes that wait for a look, with who has changed them last.
        var waiting: [UInt64: (item: ItemID, requester: Requester)] = [:]
        /// The write-ahead log as it was when its database was captured last.
        var logs: [ItemID: Stamp] = [:]
    }

    private let state = Mutex(State())

    /// - Returns: whether it waits for a look since now.
    func add(_ node: UInt64, _ item: ItemID, _ requester: Requester) -> Bool {
        state.withLock { $0.waiting.updateValue((item, requester), forKey: node) == nil }
    }

    func requester(_ node: UInt64) -> Requester? { state.withLock { $0.waiting[node]?.requester } }

    /// It was looked at, and nothing is left to be captured.
    func remove(_ node: UInt64) { state.withLock { _ = $0.waiting.removeValue(forKey: node) } }

    /// Whether an item may have changed without a version that says so.
    func isWaiting(_ item: ItemID) -> Bool { state.withLock { $0.waiting.values.contains { $0.item == item } } }

    var all: [UInt64] { state.withLock { Array($0.waiting.keys) } }

    func log(of item: ItemID) -> Stamp? { state.withLock { $0.logs[item] } }

    func captured(_ item: ItemID, _ log: Stamp?) { state.withLock { $0.logs[item] = log } }
}
