// How long an open waits, wherever it waits (DESIGN 4: at most `replace-wait`).

import Synchronization

/// The patience of one open: it ends at its deadline, or when a signal has come.
final class Patience: Sendable {
    /// By the ``Scheduler``'s clock.
    let deadline: Int64
    private let isOver = Atomic(false)

    init(until deadline: Int64) { self.deadline = deadline }

    /// Whether a signal has come: it does not begin to wait any more.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    func end() { isOver.store(true, ordering: .releasing) }
}
