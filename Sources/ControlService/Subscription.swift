// A subscriber's place in the change feed, and whether it is time to fetch more for it.

import ControlProtocol
import Synchronization

/// A pure machine: one fetch at a time, another when changes happened meanwhile or the last piece was not empty.
struct FeedCursor: Sendable {
    /// Everything up to here was sent or did not concern the subscriber.
    private(set) var sequence: UInt64
    private var isFetching = false
    /// There may be more than the last fetch gave.
    private var isStale = true

    init(sequence: UInt64) { self.sequence = sequence }

    mutating func changesHappened() { isStale = true }

    /// Whether to fetch now; if so, the fetch counts as begun.
    mutating func beginFetch(isWritable: Bool) -> Bool {
        guard isStale, isWritable, !isFetching else { return false }
        isFetching = true
        isStale = false
        return true
    }

    /// A fetch came back; one that moved on may not have been the last.
    mutating func took(upTo: UInt64) {
        isFetching = false
        guard upTo > sequence else { return }
        sequence = upTo
        isStale = true
    }
}

/// Who watches a target.
struct Subscription: Sendable {
    let target: Target
    let depth: WatchDepth
    var cursor: FeedCursor

    init(target: Target, depth: WatchDepth, sequence: UInt64) {
        self.target = target
        self.depth = depth
        cursor = FeedCursor(sequence: sequence)
    }
}

/// Lets ten reports a second through.
final class ProgressThrottle: Sendable {
    /// Guards the time of the last report alone.
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func lets() -> Bool {
        let now = ContinuousClock.now
        return last.withLock { last in
            if let last, now - last < .milliseconds(100) { return false }
            last = now
            return true
        }
    }
}
