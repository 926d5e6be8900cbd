// The threads that serve the requests of one processor, counted.

import Glibc
import Synchronization

/// One of the kernel's queues, as its threads share it.
///
/// A thread has a ring and one entry of its own, and waits with it; the kernel gives a request to the entry that was
/// offered last, so to the thread that has just worked. A thread whose request is parked has lost its entry and is free:
/// it waits for an entry that is handed to it. So no request ever waits for a thread that does something else.
///
/// The lock guards the counts and what is handed over; nothing blocks under it.
final class RingQueue: Sendable {
    private struct State {
        /// Threads with an entry.
        var serving = 0
        /// Threads without one, and what they are to serve.
        var free = 0
        var handed: [RingEntry] = []
        var isOver = false
    }
    /// More free threads than this end.
    private static let mostFree = 8
    let number: Int
    private let most: Int
    private let state = Monitor(State())
    /// Threads that wait in the kernel with their entry.
    let waiting = Atomic<Int>(0)

    /// - Parameter most: threads that are started because all others are busy.
    init(number: Int, most: Int) {
        self.number = number
        self.most = most
    }

    /// Whether one more thread may start; if so it counts as serving.
    func admit(always: Bool = false) -> Bool {
        state.with { state in
            guard !state.isOver, always || state.serving < most else { return false }
            state.serving += 1
            return true
        }
    }

    /// A serving thread ended.
    func dismiss() {
        state.with { $0.serving -= 1 }
    }

    /// Gives an entry with a request to a free thread, if there is one.
    func hand(_ entry: RingEntry) -> Bool {
        state.with { state in
            guard !state.isOver, state.free > state.handed.count else { return false }
            state.handed.append(entry)
            return true
        }
    }

    /// Waits, as a thread that has lost its entry, for one with a request. Nil: the thread should end; it counts as
    /// serving until ``dismiss()``.
    func awaitEntry() -> RingEntry? {
        let stays = state.with { state in
            guard !state.isOver, state.free < Self.mostFree else { return false }
            state.free += 1
            state.serving -= 1
            return true
        }
        guard stays else { return nil }
        return state.wait { state -> RingEntry?? in
            if let entry = state.handed.popLast() {
                state.free -= 1
                state.serving += 1
                return .some(entry)
            }
            guard state.isOver else { return nil }
            state.free -= 1
            state.serving += 1
            return .some(nil)
        }
    }

    /// The connection is gone: free threads end.
    func end() {
        state.with { $0.isOver = true }
    }
}
