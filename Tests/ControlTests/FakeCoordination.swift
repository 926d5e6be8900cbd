// A backend that coordinates its clients without a container: the arbiter behind a lock, and no clock.

import ControlProtocol
import ControlService
import Coordination
import Synchronization
import VersionModel

/// What ``FakeBackend`` coordinates with. Paths are taken as they come; `denied` may not be claimed.
final class FakeCoordination: Sendable {
    fileprivate struct State {
        var arbiter = Arbiter()
        var clients: [ConnectionID: any CoordinationClient] = [:]
        var next: UInt64 = 1
        var alive = 0

        mutating func number() -> UInt64 {
            defer { next += 1 }
            return next
        }
    }

    /// Guards the arbiter; messages are sent under it, in order.
    private let state = Mutex(State())

    var aliveCount: Int { state.withLock { $0.alive } }
    var claimCount: Int { state.withLock { $0.arbiter.listed.count } }

    /// Lets so much time pass.
    func tick(to now: Int64) { drive { $0.tick(now: now) } }

    private func drive(_ body: (inout Arbiter) -> [Effect]) {
        state.withLock { state in
            for effect in body(&state.arbiter) { state.send(effect) }
        }
    }

    func takePart(_ client: any CoordinationClient) -> ConnectionID {
        state.withLock { state in
            let id = ConnectionID(state.number())
            state.clients[id] = client
            return id
        }
    }

    func leave(_ connection: ConnectionID) {
        drive { $0.disconnected(connection, now: 0) }
        state.withLock { $0.clients[connection] = nil }
    }

    func newClaim() -> ClaimID { state.withLock { ClaimID($0.number()) } }

    func claim(
        _ request: ClaimRequest, as id: ClaimID, for purpose: Purpose, of connection: ConnectionID
    ) throws(ControlError) {
        var accesses: [Access] = []
        for access in request.accesses {
            guard let path = access.path.tree, path != TreePath(bytes: Array("denied".utf8)) else {
                throw ControlError(.denied, "permission denied", path: access.path)
            }
            accesses.append(Access(path: path, kind: access.mode == .reading ? .reading([]) : .writing(.updating)))
        }
        let claim = Claim(
            id: id, connection: connection, accesses: accesses, purpose: purpose,
            presenter: request.presenter.map { PresenterID($0) },
            within: Set((request.within ?? []).map { ClaimID($0) }))
        drive { $0.request(claim, now: 0) }
    }

    func release(_ claim: ClaimID, of connection: ConnectionID) -> Bool {
        var isOwn = false
        drive { arbiter in
            isOwn = arbiter.connection(of: claim) == connection
            return isOwn ? arbiter.release(claim, now: 0) : []
        }
        return isOwn
    }

    func cancel(_ claim: ClaimID) { drive { $0.cancel(claim, now: 0) } }

    func present(_ request: PresentRequest, of connection: ConnectionID) -> (PresenterID, Purpose) {
        let purpose = Purpose.random()
        return state.withLock { state in
            let id = PresenterID(state.number())
            state.arbiter.present(Presenter(
                id: id, connection: connection, purpose: purpose, path: request.path?.tree,
                accommodatesSubitems: request.accommodatesSubitems ?? false))
            return (id, purpose)
        }
    }

    func withdraw(_ presenter: PresenterID) -> Bool {
        var wasThere = false
        drive { arbiter in
            wasThere = arbiter.presenter(presenter) != nil
            return arbiter.withdraw(presenter, now: 0)
        }
        return wasThere
    }

    func answer(_ question: QuestionID, _ answer: Answer) { drive { $0.answer(question, answer, now: 0) } }

    func alive(_ connection: ConnectionID) { state.withLock { $0.alive += 1 } }
}

extension FakeCoordination.State {
    fileprivate func send(_ effect: Effect) {
        switch effect {
        case .granted(let id, let accesses, _): client(of: id)?.tell(.granted(id, accesses.map(\.path)))
        case .failed(let claim, let failure):
            let refusal: ClaimRefusal =
                switch failure {
                case .cancelled: .cancelled
                case .deadlock(let ring): .deadlock(ring.map { _ in CoordinationParty(process: 1, program: "one") })
                case .refused(_, let reason): .refused(by: CoordinationParty(process: 2, program: "two"), reason)
                case .unresponsive: .unresponsive
                }
            claim.connection.flatMap { clients[$0] }?.tell(.failed(claim.id, refusal))
        case .ask(let question, let presenter, let what, let claim):
            client(of: presenter)?.tell(
                .ask(question, presenter, what, for: claim, at: arbiter.presenter(presenter)?.path))
        case .reacquire(let presenter, let claim): client(of: presenter)?.tell(.reacquire(presenter, claim))
        case .slow(let id, .holder):
            client(of: id)?.tell(.heldUp(id, by: CoordinationParty(process: 3, program: "three"), isHolder: true))
        case .slow(let id, .presenter):
            client(of: id)?.tell(.heldUp(id, by: CoordinationParty(process: 3, program: "three"), isHolder: false))
        case .presenterRevoked(let presenter): client(of: presenter)?.tell(.presenterRevoked(presenter))
        case .claimRevoked(let claim): claim.connection.flatMap { clients[$0] }?.tell(.claimRevoked(claim.id))
        case .disturbed(let id, let access): client(of: id)?.tell(.disturbed(id, access))
        case .probe(let connection): clients[connection]?.tell(.probe)
        }
    }

    private func client(of id: ClaimID) -> (any CoordinationClient)? {
        arbiter.connection(of: id).flatMap { clients[$0] }
    }

    private func client(of id: PresenterID) -> (any CoordinationClient)? {
        arbiter.presenter(id).flatMap { clients[$0.connection] }
    }
}

extension FakeBackend: CoordinationBackend {
    func takePart(_ client: any CoordinationClient, peer: Peer) -> ConnectionID { coordination.takePart(client) }
    func leave(_ connection: ConnectionID) { coordination.leave(connection) }
    func newClaim() -> ClaimID { coordination.newClaim() }
    func claim(
        _ request: ClaimRequest, as id: ClaimID, for purpose: Purpose, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) { try coordination.claim(request, as: id, for: purpose, of: connection) }
    func release(_ claim: ClaimID, of connection: ConnectionID) -> Bool { coordination.release(claim, of: connection) }
    func cancel(_ claim: ClaimID, of connection: ConnectionID) { coordination.cancel(claim) }
    func present(
        _ request: PresentRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> Presented {
        let (presenter, purpose) = coordination.present(request, of: connection)
        return Presented(
            presenter: presenter, purpose: purpose, sequence: max(7, try lastSequence()),
            item: PresentedItem(path: request.path?.tree, item: nil, origin: purpose.origin))
    }
    func place(
        _ request: PlacePresenterRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> (path: TreePath?, item: ItemID?) {
        throw ControlError(.notFound, "no presenter \(request.presenter) of this connection")
    }
    func changes(
        after sequence: UInt64, limit: Int, for item: PresentedItem, peer: Peer
    ) throws(ControlError) -> PresentedPage {
        let page = try changes(after: sequence, limit: limit, within: .path(Path("")), .subtree, peer: peer)
        var presented = PresentedPage(changes: [], upTo: page.upTo, item: item)
        for event in page.events {
            guard let path = event.path.tree else { continue }
            let change = Change(
                event: event.event, path: path, from: event.from?.tree, version: event.version,
                time: Timestamp(nanoseconds: 0))
            guard let relation = presented.item.hears(change, Packages()), let place = presented.item.path else {
                continue
            }
            presented.changes.append(PresentedChange(
                event: event, relation: relation == .item ? .item : .inDirectory, place: Path(place)))
        }
        return presented
    }
    func withdraw(_ presenter: PresenterID, of connection: ConnectionID) -> Bool { coordination.withdraw(presenter) }
    func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID) {
        coordination.answer(question, answer)
    }
    func alive(_ connection: ConnectionID) { coordination.alive(connection) }
    func mayAsk(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool { true }
    func mayRefuse(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool { true }
    func disturbance(of claim: ClaimID, at path: TreePath, peer: Peer) -> (mayKnow: Bool, mayHold: Bool) {
        (true, true)
    }
    func presenters(_ request: PresentersRequest, _ call: ControlCall) throws(ControlError) -> [PresenterInfo] { [] }
}
