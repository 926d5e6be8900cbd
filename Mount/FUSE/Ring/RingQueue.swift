// The threads that serve the requests of one processor: the threads without an entry, and the requests for them.

import Glibc

/// One of the kernel's queues, shared by its threads.
///
/// A thread has a ring and one entry of its own, and waits with it. The kernel gives a request to the entry that was
/// offered last, and so to the thread that worked last. A thread with a parked request has lost its entry and is free:
/// it waits for an entry from another thread. So no request waits for a busy thread.
///
/// The lock guards the counts and the entries for free threads; nothing blocks under it.
final class RingQueue: Sendable {
    private struct State {
        /// Threads without an entry, and the requests for them.
        var free = 0
        var handed: [RingEntry] = []
        /// The number of entries with a parked request.
        var parked = 0
        var isOver = false
    }
    /// Further free threads end.
    private static let mostFree = 8
    let number: Int
    private let mostParked: Int
    private let state = Monitor(State())

    /// - Parameter entries: the number of entries of the queue. At most half of them may be parked, so that others are
    ///   left.
    init(number: Int, entries: Int) {
        self.number = number
        mostParked = entries / 2
    }

    /// Notes that the request of an entry is parked.
    /// - Returns: whether it may wait; false if too many wait.
    func park() -> Bool {
        state.with { state in
            state.parked += 1
            return state.parked <= mostParked
        }
    }

    func unpark() {
        state.with { $0.parked -= 1 }
    }

    /// Gives an entry with a request to a free thread, if there is one.
    func hand(_ entry: RingEntry) -> Bool {
        state.with { state in
            guard !state.isOver, state.free > state.handed.count else { return false }
            state.handed.append(entry)
            return true
        }
    }

    /// Waits for an entry with a request, on a thread that has lost its own. Nil: the thread should end.
    func awaitEntry() -> RingEntry? {
        let stays = state.with { state in
            guard !state.isOver, state.free < Self.mostFree else { return false }
            state.free += 1
            return true
        }
        guard stays else { return nil }
        return state.wait { state -> RingEntry?? in
            let entry = state.handed.popLast()
            guard entry != nil || state.isOver else { return nil }
            state.free -= 1
            return .some(entry)
        }
    }

    /// The connection is gone: free threads end.
    func end() {
        state.with { $0.isOver = true }
    }
}
