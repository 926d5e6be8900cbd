// What stands for files that are about to be made.

import Lineage
import VersionModel

/// Identities for plans of events whose file is not made yet. No file has one, and no fact names one.
final class UnmadeFiles: Sendable {
    private struct State {
        var free: [FileID] = []
        var next: UInt64 = .max
    }

    /// Innermost.
    private let state = RankedMutex(State())

    /// An identity that no other event has.
    func take(_ known: FactMemory) -> FileID {
        let (file, isNew) = state.withLock { state -> (FileID, Bool) in
            if let file = state.free.popLast() { return (file, false) }
            defer { state.next -= 1 }
            return (FileID(state.next), true)
        }
        // Nothing has to be read to know that no fact names it.
        if isNew { known.begin(file) }
        return file
    }

    func giveBack(_ file: FileID) { state.withLock { $0.free.append(file) } }
}
