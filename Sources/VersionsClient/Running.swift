// A query, subscription or presenter whose owner may end it before its number has arrived.

import ControlProtocol
import Synchronization

/// Ends a subscription or the like at the daemon once, by the daemon's number. Thread-safe.
package final class Running: Sendable {
    private enum Phase { case asked, running(UInt64), over }

    /// Guards only the stage.
    private let phase = Mutex(Phase.asked)
    private let ending: @Sendable (UInt64) -> Void

    package init(ending: @escaping @Sendable (UInt64) -> Void) { self.ending = ending }

    /// Takes the daemon's answer. Called on the reading thread, before any later line is read.
    package func began(_ number: Result<UInt64, ControlError>) {
        guard case .success(let number) = number else { return }
        let isLate = phase.withLock { phase in
            if case .over = phase { return true }
            phase = .running(number)
            return false
        }
        if isLate { ending(number) }
    }

    /// Ends it.
    package func end() {
        let number = phase.withLock { phase -> UInt64? in
            defer { phase = .over }
            if case .running(let number) = phase { return number }
            return nil
        }
        if let number { ending(number) }
    }
}

/// The end of a query or subscription that a task waits for: only the first report counts.
struct RunningEnd<Reason: Sendable>: Sendable {
    private let running: Running
    private let ends: AsyncStream<Result<Reason, ControlError>>
    private let end: AsyncStream<Result<Reason, ControlError>>.Continuation

    init(of running: Running) {
        self.running = running
        (ends, end) = AsyncStream.makeStream()
    }

    /// Takes the daemon's answer; a refusal is the end. See ``Running/began(_:)``.
    func began(_ number: Result<UInt64, ControlError>) {
        running.began(number)
        if case .failure(let error) = number { came(.failure(error)) }
    }

    /// Reports the end.
    func came(_ result: Result<Reason, ControlError>) {
        end.yield(result)
        end.finish()
    }

    /// Waits for the end; nil after a cancellation of the task, which ends the query too.
    func wait() async -> Result<Reason, ControlError>? {
        await withTaskCancellationHandler {
            await ends.first { _ in true }
        } onCancel: {
            running.end()
        }
    }
}
