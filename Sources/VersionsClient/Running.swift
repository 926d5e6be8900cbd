// A query or subscription of a task: it ends with the task, also if its number comes later.

import ControlProtocol
import Synchronization

/// Ends something at the daemon once, by the number that the daemon gave it. Thread-safe.
final class Running: Sendable {
    private enum Phase { case asked, running(UInt64), over }

    /// Guards alone how far it is.
    private let phase = Mutex(Phase.asked)
    private let ending: @Sendable (UInt64) -> Void

    init(ending: @escaping @Sendable (UInt64) -> Void) { self.ending = ending }

    /// The daemon has answered. Called on the reading thread, before anything else that the daemon says is looked at.
    func began(_ number: Result<UInt64, ControlError>) {
        guard case .success(let number) = number else { return }
        let isLate = phase.withLock { phase in
            if case .over = phase { return true }
            phase = .running(number)
            return false
        }
        if isLate { ending(number) }
    }

    /// Nobody wants it any more.
    func end() {
        let number = phase.withLock { phase -> UInt64? in
            defer { phase = .over }
            if case .running(let number) = phase { return number }
            return nil
        }
        if let number { ending(number) }
    }
}
