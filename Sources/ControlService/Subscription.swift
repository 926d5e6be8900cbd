// A subscriber's position in the change feed, and whether a fetch is due.

import ControlProtocol
import Synchronization

/// A pure state machine: one fetch at a time, and another if changes came meanwhile or the last page was not empty.
struct FeedCursor: Sendable {
    /// Changes up to here were sent, or do not concern the subscriber.
    private(set) var sequence: UInt64
    /// The position that the client knows.
    private var told: UInt64
    private var isFetching = false
    /// Whether there may be more than the last fetch returned.
    private var isStale = true

    /// The number of rows without an event after which the client still gets its position. The feed keeps about 100,000
    /// rows, and a returning client must name a row that still exists.
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

    /// Notes the result of a fetch. If it advanced, there may be more.
    mutating func took(upTo: UInt64) {
        isFetching = false
        guard upTo > sequence else { return }
        sequence = upTo
        isStale = true
    }

    /// Whether to send to the client now, with events or only with its position; if so, it counts as sent.
    mutating func tells(ofSomething: Bool) -> Bool {
        guard ofSomething || sequence - told >= Self.longestSilence else { return false }
        told = sequence
        return true
    }
}

/// A subscription to a target.
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

/// Passes at most ten reports per second.
final class ProgressThrottle: Sendable {
    /// Guards only the time of the last report.
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
