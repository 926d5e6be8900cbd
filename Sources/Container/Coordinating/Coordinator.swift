// Drives the arbiter: takes the requests of clients and plain programs, delivers its effects, and sets its timer.

import Coordination
import Glibc
import Synchronization
import VersionModel

/// One arbiter for a container, its clients and the waiting opens. Lock order: last, like ``WriterArbiter``'s; neither
/// is taken under the other. Opens continue outside the lock.
public final class Coordinator: Sendable {
    let state: RankedMutex<State>
    private let scheduler: Scheduler
    /// The thread where waiting opens continue.
    private let opens: Scheduler
    /// Whether any client takes part: otherwise plain programs' opens do not ask.
    private let inUse = Atomic(false)

    init(packages: Packages, scheduler: Scheduler, opens: Scheduler, limits: Arbiter.Limits = Arbiter.Limits()) {
        state = RankedMutex(State(arbiter: Arbiter(packages: packages, limits: limits)), .claims)
        self.scheduler = scheduler
        self.opens = opens
    }

    /// Whether any client takes part: as long as none does, no open has to ask.
    public var isInUse: Bool { inUse.load(ordering: .acquiring) }

    /// The directories that count as one document.
    public var packages: Packages { state.withLock { $0.arbiter.packages } }

    /// Sets the packages.
    func set(_ packages: Packages) { drive { state, now in state.arbiter.set(packages, now: now) } }

    // MARK: Clients

    /// Registers a client.
    /// - Returns: its number, and whether it is the first.
    func connect(
        _ client: any CoordinationClient, _ party: CoordinationParty, actor: FileActor?
    ) -> (ConnectionID, isFirst: Bool) {
        var (id, isFirst) = (ConnectionID(0), false)
        drive { state, _ in
            id = ConnectionID(state.takeNumber())
            isFirst = state.clients.isEmpty
            state.clients[id] = Client(client: client, party: party, actor: actor)
            return []
        }
        return (id, isFirst)
    }

    /// Removes a client with its claims and presenters.
    public func disconnect(_ connection: ConnectionID) {
        drive { state, now in
            state.clients[connection] = nil
            return state.arbiter.disconnected(connection, now: now)
        }
    }

    /// A number for a new claim, so that its maker knows the number before the grant.
    public func newClaim() -> ClaimID { state.withLock { ClaimID($0.takeNumber()) } }

    /// Makes a client's claim. The client gets ``CoordinationMessage/granted(_:_:)`` or
    /// ``CoordinationMessage/failed(_:_:)``, once.
    /// - Parameter moves: the number of moves before the look-up of its items; nil if moves do not matter.
    /// - Returns: whether it is made. If not, names have moved since then, and the look-up must be repeated.
    public func claim(_ claim: Claim, asOf moves: UInt64? = nil) -> Bool {
        var isOutdated = false
        drive { state, now in
            isOutdated = state.isOutdated(moves)
            if isOutdated { return [] }
            guard let connection = claim.connection, let client = state.clients[connection] else { return [] }
            var claim = claim
            claim.actor = client.actor
            // A client may name only its own claims and presenters.
            claim.within = claim.within.filter { state.arbiter.connection(of: $0) == connection }
            if let id = claim.presenter, state.arbiter.presenter(id)?.connection != connection { claim.presenter = nil }
            if let id = claim.handling, state.arbiter.presenter(id)?.connection != connection { claim.handling = nil }
            return state.arbiter.request(claim, now: now)
        }
        return !isOutdated
    }

    /// The number of moves so far. A caller that looks up a place and then registers there reads it first.
    public var moves: UInt64 { state.withLock(\.moves) }

    /// Ends a client's claim; false if the client has no such claim.
    public func release(_ claim: ClaimID, of connection: ConnectionID) -> Bool {
        var isOwn = false
        drive { state, now in
            isOwn = state.arbiter.connection(of: claim) == connection
            return isOwn ? state.arbiter.release(claim, now: now) : []
        }
        return isOwn
    }

    public func cancel(_ claim: ClaimID, of connection: ConnectionID) {
        drive { state, now in
            guard state.arbiter.connection(of: claim) == connection else { return [] }
            return state.arbiter.cancel(claim, now: now)
        }
    }

    // MARK: Presenters

    /// The result of a registration at a place.
    public enum Registration<Registered: Sendable>: Sendable {
        case done(Registered)
        /// Names have moved since the look-up of the place.
        case outdated
        /// The client is gone, or has no such presenter.
        case unknown
    }

    /// Registers a client's presenter.
    /// - Parameter moves: see ``claim(_:asOf:)``.
    public func present(
        at path: TreePath?, item: ItemID?, for purpose: Purpose, mayRefuse: Bool, accommodatesSubitems: Bool,
        of connection: ConnectionID, asOf moves: UInt64? = nil
    ) -> Registration<PresenterID> {
        var result = Registration<PresenterID>.unknown
        drive { state, _ in
            guard !state.isOutdated(moves) else {
                result = .outdated
                return []
            }
            guard let client = state.clients[connection] else { return [] }
            let id = PresenterID(state.takeNumber())
            state.arbiter.present(Presenter(
                id: id, connection: connection, purpose: purpose, path: path, item: item, actor: client.actor,
                mayRefuse: mayRefuse, accommodatesSubitems: accommodatesSubitems))
            result = .done(id)
            return []
        }
        return result
    }

    /// Sets the present place of the presenter's item.
    /// - Parameter moves: see ``claim(_:asOf:)``.
    public func place(
        _ presenter: PresenterID, at path: TreePath?, item: ItemID?, of connection: ConnectionID,
        asOf moves: UInt64? = nil
    ) -> Registration<Void> {
        state.withLock { state in
            guard state.arbiter.presenter(presenter)?.connection == connection else { return .unknown }
            if state.isOutdated(moves) { return .outdated }
            state.arbiter.place(presenter, at: path, item: item)
            return .done(())
        }
    }

    public func withdraw(_ presenter: PresenterID, of connection: ConnectionID) -> Bool {
        var isOwn = false
        drive { state, now in
            isOwn = state.arbiter.presenter(presenter)?.connection == connection
            return isOwn ? state.arbiter.withdraw(presenter, now: now) : []
        }
        return isOwn
    }

    /// Takes a client's answer for one of its presenters.
    public func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID) {
        drive { state, now in
            guard state.arbiter.presenterAsked(question)?.connection == connection else { return [] }
            return state.arbiter.answer(question, answer, now: now)
        }
    }

    /// Notes that a client runs.
    public func alive(_ connection: ConnectionID) {
        state.withLock { $0.arbiter.alive(connection, now: Scheduler.now) }
    }

    // MARK: Events in the tree

    /// The origin of the coordinated access that a change belongs to; nil outside of one.
    func origin(of actor: FileActor?, at path: TreePath, from: TreePath?, item: ItemID?) -> UInt64? {
        guard isInUse, let actor else { return nil }
        return state.withLock { $0.arbiter.origin(of: actor, at: path, from: from, item: item) }
    }

    /// Reports an action of a program that never waits.
    func notice(_ access: Access, by actor: FileActor?) {
        drive { state, now in state.arbiter.notice(access, as: ClaimID(state.takeNumber()), by: actor, now: now) }
    }

    /// Notes a move. Called with the names locked, so that moves come in order.
    func moved(_ old: TreePath, to new: TreePath) {
        drive { state, now in
            state.moves += 1
            return state.arbiter.moved(old, to: new, now: now)
        }
    }

    /// Notes an item's return to its name. Called with the names locked.
    func returned(_ item: ItemID, to path: TreePath) {
        drive { state, now in
            state.moves += 1
            return state.arbiter.returned(item, to: path, now: now)
        }
    }

    // MARK: Listing

    /// A claim with its process.
    public struct ListedClaim: Sendable {
        public var listed: Arbiter.Listed
        public var party: CoordinationParty
    }

    /// Clients' claims, and those of plain programs that wait or are waited for, in the order of their arrival.
    public var claims: [ListedClaim] {
        state.withLock { state in
            state.arbiter.shown.map { ListedClaim(listed: $0, party: state.party(of: $0.claim)) }
        }
    }

    /// All presenters, the oldest first.
    public var presenters: [(presenter: Presenter, party: CoordinationParty, isRevoked: Bool)] {
        state.withLock { state in
            state.arbiter.allPresenters.map { ($0.presenter, state.party(of: $0.presenter), $0.isRevoked) }
        }
    }

    // MARK: Driving

    /// Passes an input to the arbiter, delivers the effects, and sets the timer.
    func drive(_ body: (inout State, Int64) -> [Effect]) {
        let (resumed, dropped, delay) = state.withLock { state in
            let now = Scheduler.now
            var resumed: [@Sendable () -> Void] = []
            for effect in body(&state, now) { state.send(effect, &resumed) }
            let isInUse = !state.clients.isEmpty
            if !isInUse { state.dropPlain() }
            inUse.store(isInUse, ordering: .releasing)
            defer { state.dropped = [] }
            return (resumed, state.dropped, state.delay(now))
        }
        // Opens continue on a thread where they delay no request, because they may take long: not on a client's event
        // loop, nor with names locked.
        if !resumed.isEmpty { opens.after(0) { for resume in resumed { resume() } } }
        if let delay { scheduler.after(delay) { [weak self] in self?.tick() } }
        // The last use of a descriptor may end here, outside the lock.
        withExtendedLifetime(dropped) {}
    }

    private func tick() {
        drive { state, now in
            if let called = state.called, called <= now { state.called = nil }
            return state.lapse(now) + state.arbiter.tick(now: now)
        }
    }
}
