// Keeps the session alive while other threads than its own use it, and shuts them out when it ends.

/// Counts who is inside; once closed, nobody enters any more.
final class Gate: Sendable {
    private struct State {
        var open = true
        var inside = 0
    }
    private let monitor = Monitor(State())

    /// Whether the caller may go on; if so it must call ``leave()``.
    func enter() -> Bool {
        monitor.with { state in
            if state.open { state.inside += 1 }
            return state.open
        }
    }

    func leave() {
        monitor.with { $0.inside -= 1 }
    }

    /// Shuts the gate and waits until everybody has left.
    func close() {
        monitor.with { $0.open = false }
        monitor.wait { $0.inside == 0 ? () : nil }
    }
}
