// A requested claim, which can be canceled while it waits.

import ControlProtocol
import Synchronization

/// Represents a claim from before its request until its answer. Thread-safe.
public final class ClaimTicket: Sendable {
    private enum Phase { case new, sending, sent, over }

    let key: UInt64
    private let connection: ControlConnection
    /// Guards only the stage of the request: the daemon does not know the key before the request.
    private let phase = Mutex(Phase.new)

    init(_ connection: ControlConnection, _ heldUp: (@Sendable (HeldUpNotification) -> Void)?) {
        self.connection = connection
        key = connection.state.withLock { state in
            defer { state.nextKey += 1 }
            if let heldUp { state.heldUp[state.nextKey] = heldUp }
            return state.nextKey
        }
    }

    /// Cancels the claim. Its answer is `cancelled`, unless it has just been granted; then the caller must release it.
    public func cancel() {
        let wasSent = phase.withLock { phase in
            defer { phase = .over }
            return phase == .sent
        }
        if wasSent { connection.post(CancelClaimRequest(key: key)) }
    }

    /// Sends the request.
    func send(_ request: ClaimRequest, then: @escaping @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void) {
        let (connection, key) = (connection, key)
        guard begin(.sending, from: .new) else {
            connection.state.withLock { _ = $0.heldUp.removeValue(forKey: key) }
            return then(.failure(ControlError(.cancelled, "cancelled")))
        }
        connection.call(request) { [self] result in
            connection.state.withLock { _ = $0.heldUp.removeValue(forKey: key) }
            phase.withLock { $0 = .over }
            then(result)
        }
        // Canceled while the request was being sent. After the answer this has no effect.
        if !begin(.sent, from: .sending) { connection.post(CancelClaimRequest(key: key)) }
    }

    private func begin(_ next: Phase, from last: Phase) -> Bool {
        phase.withLock { phase in
            guard phase == last else { return false }
            phase = next
            return true
        }
    }
}
