// Keeps the session alive while other threads use it, and keeps them out when it ends.

/// Counts the threads that use the session. After ``close()`` no thread can enter.
final class Gate: Sendable {
    private struct State {
        var open = true
        var inside = 0
    }
    private let monitor = Monitor(State())

    /// Whether the caller may use the session; if so it must call ``leave()``.
    func enter() -> Bool {
        monitor.with { state in
            if state.open { state.inside += 1 }
            return state.open
        }
    }

    func leave() {
        monitor.with { $0.inside -= 1 }
    }

    /// Shuts the gate and waits until every thread has left.
    func close() {
        monitor.with { $0.open = false }
        monitor.wait { $0.inside == 0 ? () : nil }
    }
}
