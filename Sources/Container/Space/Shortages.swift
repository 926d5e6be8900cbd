// The times at which the file system was full, and the contents that were given up then.

import Logging
import Synchronization
import VersionModel

/// Remembers the last shortage. Lock order: last.
final class Shortages: Sendable {
    struct Shortage {
        var since: Timestamp
        var contents = 0
        var bytes: UInt64 = 0
        /// Nothing was left to give up, and still there was no room.
        var isExhausted = false
    }

    private struct State {
        /// What was given up since the file system was full; nil while it is not.
        var present: Shortage?
        /// The last time that it was, for `status`.
        var last: Shortage?
    }

    private let clock: any WallClock
    private let logger: Logger
    private let state = RankedMutex(State())

    init(clock: any WallClock, logger: Logger) { (self.clock, self.logger) = (clock, logger) }

    var last: Shortage? { state.withLock(\.last) }

    func note(_ given: (count: Int, bytes: UInt64), isExhausted: Bool) {
        let isNew = state.withLock { state in
            // Others have made the room.
            if given.count == 0, !isExhausted, state.present == nil { return false }
            let isNew = given.count > 0 && (state.present?.contents ?? 0) == 0
            var shortage = state.present ?? Shortage(since: clock.now())
            shortage.contents += given.count
            shortage.bytes.addCapped(given.bytes)
            shortage.isExhausted = isExhausted
            (state.present, state.last) = (shortage, shortage)
            return isNew
        }
        guard isNew else { return }
        logger.warning(
            "the file system is nearly full: older versions and deleted files are given up, oldest first",
            metadata: ["contents": "\(given.count)", "bytes": "\(given.bytes)", "enough": "\(!isExhausted)"])
    }

    func end() { state.withLock { $0.present = nil } }
}
