// A query, subscription or presenter of somebody who may let go of it before its number has come.

import ControlProtocol
import Synchronization

/// Ends something at the daemon once, by the number that the daemon gave it. Thread-safe.
package final class Running: Sendable {
    private enum Phase { case asked, running(UInt64), over }

    /// Guards alone how far it is.
    private let phase = Mutex(Phase.asked)
    private let ending: @Sendable (UInt64) -> Void

    package init(ending: @escaping @Sendable (UInt64) -> Void) { self.ending = ending }

    /// The daemon has answered. Called on the reading thread, before anything else that the daemon says is looked at.
    package func began(_ number: Result<UInt64, ControlError>) {
        guard case .success(let number) = number else { return }
        let isLate = phase.withLock { phase in
            if case .over = phase { return true }
            phase = .running(number)
            return false
        }
        if isLate { ending(number) }
    }

    /// Nobody wants it any more.
    package func end() {
        let number = phase.withLock { phase -> UInt64? in
            defer { phase = .over }
            if case .running(let number) = phase { return number }
            return nil
        }
        if let number { ending(number) }
    }
}

/// The end of a query or subscription that a task waits for: told once, by whoever knows of it first.
struct RunningEnd<Reason: Sendable>: Sendable {
    private let running: Running
    private let ends: AsyncStream<Result<Reason, ControlError>>
    private let end: AsyncStream<Result<Reason, ControlError>>.Continuation

    init(of running: Running) {
        self.running = running
        (ends, end) = AsyncStream.makeStream()
    }

    /// The daemon has answered; a refusal is the end. As ``Running/began(_:)``.
    func began(_ number: Result<UInt64, ControlError>) {
        running.began(number)
        if case .failure(let error) = number { came(.failure(error)) }
    }

    /// It is over.
    func came(_ result: Result<Reason, ControlError>) {
        end.yield(result)
        end.finish()
    }

    /// Waits for the end; nil once the task is cancelled, and has it ended.
    func wait() async -> Result<Reason, ControlError>? {
        await withTaskCancellationHandler {
            await ends.first { _ in true }
        } onCancel: {
            running.end()
        }
    }
}
