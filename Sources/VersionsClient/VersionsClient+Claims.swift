// Claims of a client: request, wait and release.

import ControlProtocol
import Synchronization

extension VersionsClient {
    /// Runs `body` while a claim on items is held: coordinated reads and writes, all granted together.
    ///
    ///     try await client.coordinate([AccessRequest(.writing, Path("notes.txt"))]) { paths in
    ///         try text.write(toFile: root + "/" + paths[0].description, atomically: true, encoding: .utf8)
    ///     }
    ///
    /// Claims made inside `body` count as nested in this one. A cancelled task stops waiting; once it has the claim,
    /// `body` runs to its end.
    ///
    /// - Parameters:
    ///   - accesses: the items, by their paths in the container, and the kind of each access.
    ///   - presentation: the presentation that makes the access: its presenter gets no questions, and its purpose is
    ///     the claim's.
    ///   - purpose: the purpose of another claim that this one belongs to, in any process.
    ///   - heldUp: gets the holders that keep the claim waiting, on the reading thread.
    ///   - body: gets the present places of the items, relative to the container's root, in the order of `accesses`.
    /// - Throws: `deadlock`, `refused`, `denied`, `cancelled`, or the error of `body`.
    public func coordinate<Result: Sendable>(
        _ accesses: [AccessRequest], for presentation: Presentation? = nil, purpose: String? = nil,
        heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil,
        _ body: sending ([Path]) async throws -> Result
    ) async throws -> Result {
        let claim = try await claim(accesses, for: presentation, purpose: purpose, heldUp: heldUp)
        defer { release(claim.claim) }
        let context = CoordinationContext.current.holding(claim.claim, of: arbiter)
        return try await CoordinationContext.$current.withValue(context) { try await body(claim.paths) }
    }

    /// Asks the presenters of items, and of the items inside them, once for all claims of `body` with the purpose that
    /// it receives. This excludes no other access.
    public func prepare<Result: Sendable>(
        _ accesses: [AccessRequest], for presentation: Presentation? = nil, purpose: String? = nil,
        _ body: sending (_ purpose: String) async throws -> Result
    ) async throws -> Result {
        let claim = try await claim(accesses, for: presentation, purpose: purpose, preparing: true)
        defer { release(claim.claim) }
        let context = CoordinationContext.current.holding(claim.claim, of: arbiter)
        return try await CoordinationContext.$current.withValue(context) { try await body(claim.purpose) }
    }

    /// Claims items, all together, and waits until they are granted. The claim lasts until ``release(_:)``, or until
    /// the end of the connection; ``coordinate(_:for:purpose:heldUp:_:)`` releases it itself.
    public func claim(
        _ accesses: [AccessRequest], for presentation: Presentation? = nil, purpose: String? = nil,
        preparing: Bool = false, heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil
    ) async throws(ControlError) -> ClaimRequest.Reply {
        let ticket = newTicket(heldUp: heldUp)
        // A granted claim has to be released, so a cancelled task waits for the answer too.
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                claim(accesses, ticket, for: presentation?.id, purpose: purpose, preparing: preparing) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            ticket.cancel()
        }
        if case .success(let claim) = outcome, Task.isCancelled {
            release(claim.claim)
            throw ControlError(.cancelled, "cancelled")
        }
        return try outcome.get()
    }

    /// Sets the handler for events of this client's granted claims; the last handler counts. Called on the reading
    /// thread.
    public func watchClaims(_ handler: @escaping @Sendable (ClaimNotice) -> Void) {
        connection.state.withLock { $0.claimWatcher = handler }
    }

    // MARK: - Without tasks

    /// A ticket for a new claim.
    /// - Parameter heldUp: gets the holders that keep the claim waiting, on the reading thread.
    public func newTicket(heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil) -> ClaimTicket {
        ClaimTicket(connection, heldUp)
    }

    /// Requests a claim and returns at once.
    /// - Parameters:
    ///   - accesses: the items, by their paths in the container, and the kind of each access.
    ///   - ticket: a new ticket, which can cancel the claim.
    ///   - presenter: the number of the presenter that makes the access.
    ///   - purpose: the purpose of claims that this one belongs to, in any process; nil for a new one.
    ///   - preparing: whether to only ask presenters, once for all following claims of the purpose.
    ///   - context: the context of the caller's work while it waits.
    ///   - then: called once, on the reading thread. The caller must release a granted claim.
    public func claim(
        _ accesses: [AccessRequest], _ ticket: ClaimTicket, for presenter: UInt64? = nil, purpose: String? = nil,
        preparing: Bool = false, in context: CoordinationContext = .current,
        then: @escaping @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void
    ) {
        let request = ClaimRequest(
            accesses, key: ticket.key, purpose: purpose, presenter: presenter, within: context.within(arbiter),
            handling: context.handling(arbiter), preparing: preparing)
        ticket.send(request, then: then)
    }

    /// Ends a claim.
    public func release(_ claim: UInt64) { connection.post(ReleaseRequest(claim: claim)) }

    /// The origin of the numbers of claims and presenters.
    public var arbiter: CoordinationContext.Arbiter { ObjectIdentifier(connection) }
}

/// An event of a granted claim.
public enum ClaimNotice: Sendable {
    /// A program has changed, moved or deleted the claimed item without a wait. The claim continues.
    case disturbed(ClaimDisturbedNotification)
    /// The claim is over: other programs waited for it, and this process did not show that it runs.
    case revoked(claim: UInt64)
}
