// Claims and presenters of one connection: reads requests, sends grants, questions and notifications.

import ControlProtocol
import Coordination
import NIOCore
import VersionModel

extension ConnectionHandler {
    /// Serves a method of coordination.
    /// - Returns: false for other methods.
    func coordinate(_ method: String, _ line: IncomingLine, _ id: RequestID) -> Bool {
        do throws(ControlError) {
            switch method {
            case ClaimRequest.method: try claim(line.parameters(ClaimRequest.self), id)
            case ReleaseRequest.method: try release(line.parameters(ReleaseRequest.self), id)
            case CancelClaimRequest.method: try cancel(line.parameters(CancelClaimRequest.self), id)
            case PresentRequest.method: try present(line.parameters(PresentRequest.self), id)
            case PlacePresenterRequest.method: try place(line.parameters(PlacePresenterRequest.self), id)
            case PresentersRequest.method: try presenters(line.parameters(PresentersRequest.self), id)
            case WithdrawRequest.method: try withdraw(line.parameters(WithdrawRequest.self), id)
            default: return false
            }
        } catch {
            write(Wire.line(failing: error, to: id))
        }
        return true
    }

    /// The connection's participation, which starts with the first request that needs it.
    func takePart() throws(ControlError) -> (any CoordinationBackend, Peer, ConnectionID) {
        guard let backend = shared.backend as? any CoordinationBackend, let context, let peer else {
            throw ControlError(.unknownMethod, "no coordination here")
        }
        if let participation { return (backend, peer, participation.connection) }
        let connection = backend.takePart(Participant(self, on: context.eventLoop), peer: peer)
        participation = Participation(connection: connection)
        return (backend, peer, connection)
    }

    /// Ends the participation after the end of the connection.
    func leave() {
        guard let participation, let backend = shared.backend as? any CoordinationBackend else { return }
        self.participation = nil
        backend.leave(participation.connection)
    }

    // MARK: Claims

    private func claim(_ request: ClaimRequest, _ id: RequestID) throws(ControlError) {
        let (backend, peer, connection) = try takePart()
        guard (participation?.claimCount ?? 0) < shared.limits.claimCountPerConnection else {
            throw ControlError(.busy, "too many claims of this connection", advice: "release some")
        }
        if let key = request.key, participation?.claim(of: key) != nil {
            throw ControlError(.invalidParameters, "another claim that waits has the key \(key)")
        }
        let purpose = try purpose(of: request)
        let claim = backend.newClaim()
        participation?.add(claim, Participation.Waiting(
            request: id, key: request.key, purpose: purpose, accesses: request.accesses))
        inOrder {
            do throws(ControlError) {
                try backend.claim(request, as: claim, for: purpose, of: connection, peer: peer)
                return nil
            } catch {
                return (claim, error)
            }
        }
    }

    private func purpose(of request: ClaimRequest) throws(ControlError) -> Purpose {
        if let number = request.presenter {
            guard let purpose = participation?.presenters[PresenterID(number)]?.purpose else {
                throw ControlError(.notFound, "no presenter \(number) of this connection")
            }
            return purpose
        }
        guard let digits = request.purpose else { return .random() }
        guard let purpose = Purpose(hex: digits) else {
            throw ControlError(.invalidParameters, "purpose: not 32 hex digits")
        }
        return purpose
    }

    /// Makes claims one at a time, in the order of their arrival.
    private func inOrder(_ work: @escaping @Sendable () -> (ClaimID, ControlError)?) {
        claimsToMake.append(work)
        if claimsToMake.count == 1 { makeNextClaim() }
    }

    private func makeNextClaim() {
        guard let context, let work = claimsToMake.first else { return }
        let loop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .coordination, from: source) {
            let failure = work()
            loop.execute {
                let handler = handler.value
                if let (claim, error) = failure { handler.answer(claim) { Wire.line(failing: error, to: $0.request) } }
                if !handler.claimsToMake.isEmpty { handler.claimsToMake.removeFirst() }
                handler.makeNextClaim()
            }
        }
    }

    private func answer(
        _ claim: ClaimID, isGranted: Bool = false, _ line: (Participation.Waiting) -> [UInt8]
    ) {
        guard let waiting = participation?.take(claim) else { return }
        if isGranted { participation?.held.insert(claim) }
        write(line(waiting))
        context?.flush()
        closeIfDone()
    }

    private func release(_ request: ReleaseRequest, _ id: RequestID) throws(ControlError) {
        let (backend, _, connection) = try takePart()
        guard backend.release(ClaimID(request.claim), of: connection) else {
            throw ControlError(.notFound, "no claim \(request.claim) of this connection")
        }
        participation?.held.remove(ClaimID(request.claim))
        write(try Wire.line(replying: Done(), to: id))
    }

    private func cancel(_ request: CancelClaimRequest, _ id: RequestID) throws(ControlError) {
        let (backend, _, connection) = try takePart()
        // A claim that was answered at the same moment is no error. A claim that is still being made is canceled
        // afterwards.
        if let claim = participation?.claim(of: request.key) {
            inOrder {
                backend.cancel(claim, of: connection)
                return nil
            }
        }
        write(try Wire.line(replying: Done(), to: id))
    }

    // MARK: Messages to the client

    /// Receives a message of the coordinator, in the order of sending.
    func told(_ message: CoordinationMessage) {
        guard participation != nil, !isOverrun() else { return }
        guard let presenter = message.presenter else { return send(message) }
        guard participation?.presenters[presenter] == nil else { return told(message, for: presenter) }
        // The presenter is withdrawn, or about to be registered. A message of the latter must not be lost: a question
        // would never get its answer.
        guard participation?.begunPresenters ?? 0 > 0 else { return }
        guard (participation?.early[presenter]?.count ?? 0) < shared.limits.untakenMessageCount else { return close() }
        participation?.early[presenter, default: []].append(message)
    }

    /// Writes a message when its turn has come.
    func send(_ message: CoordinationMessage) {
        switch message {
        case .granted(let claim, let paths):
            answer(claim, isGranted: true) { waiting in
                let reply = ClaimRequest.Reply(
                    claim: claim.number, purpose: waiting.purpose.hex, paths: paths.map { Path($0) })
                return (try? Wire.line(replying: reply, to: waiting.request)) ?? []
            }
        case .failed(let claim, let refusal):
            let seesAll = peer.map { shared.trusts($0) } ?? false
            answer(claim) { waiting in
                let refusal = seesAll ? refusal : refusal.showing(Set(waiting.accesses.map(\.path)))
                return Wire.line(failing: ControlError(refusal), to: waiting.request)
            }
        case .ask(let question, let presenter, let what, let claim, _): ask(question, presenter, what, claim.number)
        case .reacquire(let presenter, let claim):
            notify(ReacquireNotification(presenter: presenter.number, claim: claim.number))
        case .heldUp(let claim, let party, let isHolder):
            guard let waiting = participation?.waiting[claim] else { return }
            notify(HeldUpNotification(
                key: waiting.key, pid: party.process, program: party.program, isHolder: isHolder))
        case .presenterRevoked(let presenter): notify(PresenterRevokedNotification(presenter: presenter.number))
        case .claimRevoked(let claim):
            participation?.held.remove(claim)
            notify(ClaimRevokedNotification(claim: claim.number))
        case .disturbed(let claim, let access): disturbed(claim, access)
        case .probe: ask(ProbeRequest()) { _ in }
        }
    }

    /// Reports a change of an item under the client's claim. The client does not get a name that it may not know; a
    /// claim on an item that it may no longer use ends.
    private func disturbed(_ claim: ClaimID, _ access: Access) {
        let notification = ClaimDisturbedNotification(
            claim: claim.number, path: Path(access.path), disturbance: ClaimDisturbedNotification.Disturbance(access))
        guard let peer, !shared.trusts(peer), let context, let backend = shared.backend as? any CoordinationBackend
        else { return notify(notification) }
        let loop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .coordination, from: source) {
            let (mayKnow, mayHold) = backend.disturbance(of: claim, at: access.path, peer: peer)
            loop.execute {
                let handler = handler.value
                guard handler.participation?.held.contains(claim) ?? false else { return }
                if mayKnow { handler.notify(notification) }
                if !mayHold { handler.revoke(claim, backend) }
            }
        }
    }

    private func revoke(_ claim: ClaimID, _ backend: any CoordinationBackend) {
        guard let connection = participation?.connection, backend.release(claim, of: connection) else { return }
        send(.claimRevoked(claim))
    }

    /// Whether the client reads none of its messages. The service then closes its connection, so that its claims end.
    private func isOverrun() -> Bool {
        guard let context, !context.channel.isWritable else {
            untaken = 0
            return false
        }
        untaken += 1
        guard untaken > shared.limits.untakenMessageCount else { return false }
        close()
        return true
    }

    private func ask(_ question: QuestionID, _ presenter: PresenterID, _ what: Question, _ claim: UInt64) {
        let number = presenter.number
        let answer: (Result<[UInt8], ControlError>) -> Void = { [self] in answered(question, what, presenter, $0) }
        switch what {
        case .relinquish(let toWriter):
            ask(RelinquishRequest(presenter: number, claim: claim, toWriter: toWriter), answer)
        case .save: ask(SaveRequest(presenter: number, claim: claim), answer)
        case .accommodateDeletion: ask(AccommodateDeletionRequest(presenter: number, claim: claim), answer)
        case .accommodateSubitemDeletion(let path):
            ask(AccommodateDeletionRequest(presenter: number, claim: claim, path: Path(path)), answer)
        }
    }

    /// Handles a presenter's answer. A refusal counts only if the peer may write the item at its present place.
    private func answered(
        _ question: QuestionID, _ what: Question, _ presenter: PresenterID, _ result: Result<[UInt8], ControlError>
    ) {
        guard let connection = participation?.connection, let backend = shared.backend as? any CoordinationBackend,
            let peer
        else { return }
        // A client that does not know the method cannot object.
        guard case .failure(let error) = result, error.code != .unknownMethod else {
            return backend.answer(question, .done, of: connection)
        }
        shared.run(on: .coordination, from: source) {
            let counts = backend.mayRefuse(what, of: presenter, peer: peer)
            backend.answer(question, counts ? .refused(error.message) : .done, of: connection)
        }
    }

    /// Notes that the client runs: any answer shows it.
    func showsThatItRuns() {
        guard let participation, let backend = shared.backend as? any CoordinationBackend else { return }
        backend.alive(participation.connection)
    }
}

extension CoordinationMessage {
    /// The presenter of the message; nil for messages about claims.
    fileprivate var presenter: PresenterID? {
        switch self {
        case .ask(_, let presenter, _, _, _), .reacquire(let presenter, _), .presenterRevoked(let presenter): presenter
        case .granted, .failed, .heldUp, .claimRevoked, .disturbed, .probe: nil
        }
    }
}

extension ClaimRefusal {
    /// The same for a client with limited rights: of other paths only those that it has named itself.
    fileprivate func showing(_ paths: Set<Path>) -> ClaimRefusal {
        func party(_ party: CoordinationParty) -> CoordinationParty {
            var party = party
            if let path = party.path, !paths.contains(Path(path)) { party.path = nil }
            return party
        }
        return switch self {
        case .cancelled, .unresponsive: self
        case .deadlock(let ring): .deadlock(ring.map(party))
        case .refused(let by, let reason): .refused(by: party(by), reason)
        }
    }
}

extension ClaimDisturbedNotification.Disturbance {
    /// The kind of a plain program's access.
    init(_ access: Access) {
        switch access.kind {
        case .writing(.forMoving): self = .moved
        case .writing(.forDeleting): self = .deleted
        default: self = .changed
        }
    }
}

extension ControlError {
    /// The error for a claim that was not granted.
    init(_ refusal: ClaimRefusal) {
        func name(_ party: CoordinationParty) -> String { "\(party.program) (\(party.process))" }
        switch refusal {
        case .cancelled: self.init(.cancelled, "cancelled")
        case .unresponsive: self.init(.cancelled, "this client did not answer while others waited for it")
        case .deadlock(let ring):
            let parts = ring.map { "\(name($0)) at \($0.path.map(\.description) ?? "an item")" }
            self.init(
                .deadlock, "deadlock: \(parts.joined(separator: " waits for "))",
                advice: "end the claim that you hold, and claim all at once", errno: 35)
        case .refused(let party, let reason):
            self.init(.refused, "\(name(party)) could not let it go: \(reason)", path: party.path.map { Path($0) })
        }
    }
}
