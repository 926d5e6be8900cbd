// Claims of a client: asked for, waited for, and given back.

import ControlProtocol
import Synchronization

extension VersionsClient {
    /// Runs `body` while a claim on items is held: coordinated reads and writes, all granted together.
    ///
    ///     try await client.coordinate([AccessRequest(.writing, Path("notes.txt"))]) { paths in
    ///         try text.write(toFile: root + "/" + paths[0].description, atomically: true, encoding: .utf8)
    ///     }
    ///
    /// Claims that `body` asks for are known to be nested in this one. A cancelled task gives up waiting; once it has
    /// the claim, `body` runs to its end.
    ///
    /// - Parameters:
    ///   - accesses: the items, by their paths in the container, and what is done with each.
    ///   - presentation: whom it is done for: that presenter is not asked, and its purpose is the claim's.
    ///   - purpose: that of a claim which this one belongs to, in whatever process.
    ///   - heldUp: hears who holds it up, on the reading thread.
    ///   - body: gets where the items are now, relative to the container's root, in the order of `accesses`.
    /// - Throws: `deadlock`, `refused`, `denied`, `cancelled`, or what `body` throws.
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

    /// Has presenters of items, and of what is in them, asked once for all that `body` claims with the purpose that it
    /// gets; excludes nobody by itself.
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
    /// the connection ends; ``coordinate(_:for:purpose:heldUp:_:)`` releases it by itself.
    public func claim(
        _ accesses: [AccessRequest], for presentation: Presentation? = nil, purpose: String? = nil, preparing: Bool = false,
        heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil
    ) async throws(ControlError) -> ClaimRequest.Reply {
        let ticket = newTicket(heldUp: heldUp)
        // What the daemon has granted has to be given back, so its answer is awaited also by a task that is cancelled.
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

    /// Has a handler hear what becomes of this client's claims while they are held; the last one that is given counts.
    /// Called on the reading thread.
    public func watchClaims(_ handler: @escaping @Sendable (ClaimNotice) -> Void) {
        connection.state.withLock { $0.claimWatcher = handler }
    }

    // MARK: - Without tasks

    /// A ticket for a claim that is to be asked for.
    /// - Parameter heldUp: hears who holds it up, on the reading thread.
    public func newTicket(heldUp: (@Sendable (HeldUpNotification) -> Void)? = nil) -> ClaimTicket {
        ClaimTicket(connection, heldUp)
    }

    /// Asks for a claim and goes on.
    /// - Parameters:
    ///   - accesses: the items, by their paths in the container, and what is done with each.
    ///   - ticket: a new one, with which the claim can be cancelled.
    ///   - presenter: whom it is done for, by its number.
    ///   - purpose: that of claims which this one belongs to, in whatever process; nil for one of its own.
    ///   - preparing: whether presenters are only to be asked, once for all claims of the purpose that follow.
    ///   - context: whoever calls this waits for the claim in there.
    ///   - then: called once, on the reading thread. What was granted has to be released.
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

    /// Whose numbers those of claims and presenters are.
    public var arbiter: CoordinationContext.Arbiter { ObjectIdentifier(connection) }
}

/// What becomes of a claim that is held.
public enum ClaimNotice: Sendable {
    /// A program that did not wait has changed, moved or deleted what the claim is on. The claim goes on.
    case disturbed(ClaimDisturbedNotification)
    /// The claim is over: others waited for it, and this process did not show that it runs.
    case revoked(claim: UInt64)
}
