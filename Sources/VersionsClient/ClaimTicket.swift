// A claim that has been asked for: it can be given up while it waits.

import ControlProtocol
import Synchronization

/// Stands for a claim from before it is asked for until it is answered. Thread-safe.
public final class ClaimTicket: Sendable {
    private enum Phase { case new, sending, sent, over }

    let key: UInt64
    private let connection: ControlConnection
    /// Guards alone how far the request is: the daemon knows the key only behind it.
    private let phase = Mutex(Phase.new)

    init(_ connection: ControlConnection, _ heldUp: (@Sendable (HeldUpNotification) -> Void)?) {
        self.connection = connection
        key = connection.state.withLock { state in
            defer { state.nextKey += 1 }
            if let heldUp { state.heldUp[state.nextKey] = heldUp }
            return state.nextKey
        }
    }

    /// The claim is not wanted any more. It is answered `cancelled`, unless it has just been granted; then it is to be
    /// released.
    public func cancel() {
        let wasSent = phase.withLock { phase in
            defer { phase = .over }
            return phase == .sent
        }
        if wasSent { connection.post(CancelClaimRequest(key: key)) }
    }

    /// Asks for the claim.
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
        // Given up while it was being sent; if it is answered already, that does nothing.
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
