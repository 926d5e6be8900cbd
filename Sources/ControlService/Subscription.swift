// A subscriber's place in the change feed, and whether it is time to fetch more for it.

import ControlProtocol
import Synchronization

/// A pure machine: one fetch at a time, another when changes happened meanwhile or the last piece was not empty.
struct FeedCursor: Sendable {
    /// Everything up to here was sent or did not concern the subscriber.
    private(set) var sequence: UInt64
    /// So far the client knows that it has been told everything.
    private var told: UInt64
    private var isFetching = false
    /// There may be more than the last fetch gave.
    private var isStale = true

    /// How many rows may pass of which none concerns the subscriber before it is told how far it is: the feed holds some
    /// 100,000, and who comes back has to name a row that it still has.
    private static let longestSilence: UInt64 = 10_000

    init(sequence: UInt64) { (self.sequence, told) = (sequence, sequence) }

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

    /// Whether the client is to be told now, of what concerns it or of how far it is alone; if so, it counts as told.
    mutating func tells(ofSomething: Bool) -> Bool {
        guard ofSomething || sequence - told >= Self.longestSilence else { return false }
        told = sequence
        return true
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
