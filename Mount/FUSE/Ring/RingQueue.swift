// The threads that serve the requests of one processor: those that have lost their entry, and what is handed to them.

import Glibc

/// One of the kernel's queues, as its threads share it.
///
/// A thread has a ring and one entry of its own, and waits with it; the kernel gives a request to the entry that was
/// offered last, so to the thread that has just worked. A thread whose request is parked has lost its entry and is
/// free: it waits for an entry that is handed to it. So no request ever waits for a thread that does something else.
///
/// The lock guards the counts and what is handed over; nothing blocks under it.
final class RingQueue: Sendable {
    private struct State {
        /// Threads without an entry, and what they are to serve.
        var free = 0
        var handed: [RingEntry] = []
        /// Entries whose request is parked.
        var parked = 0
        var isOver = false
    }
    /// More free threads than this end.
    private static let mostFree = 8
    let number: Int
    private let mostParked: Int
    private let state = Monitor(State())

    /// - Parameter entries: how many the queue has. Half of them may be parked, so that others are always left.
    init(number: Int, entries: Int) {
        self.number = number
        mostParked = entries / 2
    }

    /// An entry's request is parked.
    /// - Returns: whether it may wait; not if too many do.
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

    /// Waits, as a thread that has lost its entry, for one with a request. Nil: the thread should end.
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
