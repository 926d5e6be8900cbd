// Changed databases that wait for a quiet moment and a capture (DESIGN 5.1).

import Synchronization
import VersionModel

/// The state of databases between their changes and their versions. Lock order: last.
final class WaitingDatabases: Sendable {
    /// A database that waits for a look.
    struct Waiting {
        var requester: Requester
        /// The number of reported changes.
        var changes = 1
    }

    private struct State {
        /// The waiting nodes, with the authors of their last changes.
        var waiting: [UInt64: Waiting] = [:]
        /// The write-ahead log at the last capture of its database.
        var logs: [FileID: Stamp] = [:]
    }

    private let state = RankedMutex(State())

    /// - Returns: whether it has just started to wait.
    func add(_ node: UInt64, _ requester: Requester) -> Bool {
        state.withLock { state in
            let changes = state.waiting[node]?.changes ?? 0
            state.waiting[node] = Waiting(requester: requester, changes: changes + 1)
            return changes == 0
        }
    }

    subscript(node: UInt64) -> Waiting? { state.withLock { $0.waiting[node] } }

    /// Ends the wait after a look that left nothing to capture.
    /// - Returns: false if more changes have come since this number: then it still waits.
    func remove(_ node: UInt64, changes: Int) -> Bool {
        state.withLock { state in
            guard state.waiting[node]?.changes == changes else { return false }
            state.waiting[node] = nil
            return true
        }
    }

    var all: [UInt64] { state.withLock { Array($0.waiting.keys) } }

    func log(of file: FileID) -> Stamp? { state.withLock { $0.logs[file] } }

    func captured(_ file: FileID, _ log: Stamp?) { state.withLock { $0.logs[file] = log } }
}
