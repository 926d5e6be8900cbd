// Drives the arbiter: takes what clients and plain programs ask for, sends on what it wants done, wakes it in time.

import Coordination
import Glibc
import Synchronization
import VersionModel

/// One arbiter for a container, its clients and the opens that wait. Lock order: last, with ``WriterArbiter``'s, of
/// which neither is taken under the other; opens go on outside the lock.
public final class Coordinator: Sendable {
    let state: Mutex<State>
    private let scheduler: Scheduler
    /// Where opens go on that have waited.
    private let opens: Scheduler
    /// Whether any client takes part: else plain programs' opens do not ask.
    private let inUse = Atomic(false)

    init(packages: Packages, scheduler: Scheduler, opens: Scheduler, limits: Arbiter.Limits = Arbiter.Limits()) {
        state = Mutex(State(arbiter: Arbiter(packages: packages, limits: limits)))
        self.scheduler = scheduler
        self.opens = opens
    }

    /// Whether any client takes part: as long as none does, nobody need be asked.
    public var isInUse: Bool { inUse.load(ordering: .acquiring) }

    /// Which directories count as one document.
    public var packages: Packages { state.withLock { $0.arbiter.packages } }

    /// Other directories do from now on.
    func set(_ packages: Packages) { drive { state, now in state.arbiter.set(packages, now: now) } }

    // MARK: Clients

    /// A client takes part from now on.
    /// - Returns: also whether nobody did before.
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

    /// A client is gone, and with it its claims and presenters.
    public func disconnect(_ connection: ConnectionID) {
        drive { state, now in
            state.clients[connection] = nil
            return state.arbiter.disconnected(connection, now: now)
        }
    }

    /// A number for a claim, before it is made: so that whoever makes it knows it when it is granted.
    public func newClaim() -> ClaimID { state.withLock { ClaimID($0.takeNumber()) } }

    /// A client claims items. It is told ``CoordinationMessage/granted(_:_:)`` or ``CoordinationMessage/failed(_:_:)``,
    /// once.
    /// - Parameter moves: how often names had been moved when it was looked up what it is on; nil if that does not matter.
    /// - Returns: whether it is made. If not, names have been moved since then: it is to be looked up again.
    public func claim(_ claim: Claim, asOf moves: UInt64? = nil) -> Bool {
        var isOutdated = false
        drive { state, now in
            isOutdated = state.isOutdated(moves)
            if isOutdated { return [] }
            guard let connection = claim.connection, let client = state.clients[connection] else { return [] }
            var claim = claim
            claim.actor = client.actor
            // What it names of others is not its own.
            claim.within = claim.within.filter { state.arbiter.connection(of: $0) == connection }
            if let id = claim.presenter, state.arbiter.presenter(id)?.connection != connection { claim.presenter = nil }
            if let id = claim.handling, state.arbiter.presenter(id)?.connection != connection { claim.handling = nil }
            return state.arbiter.request(claim, now: now)
        }
        return !isOutdated
    }

    /// How often names have been moved. Whoever looks up a place and then registers something there asks before.
    public var moves: UInt64 { state.withLock(\.moves) }

    /// A client's claim is over; false if it is none of its own.
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

    /// What became of what was to be registered at a place.
    public enum Registration<Registered: Sendable>: Sendable {
        case done(Registered)
        /// Names have been moved since the place was looked up.
        case outdated
        /// The client has gone, or has no such presenter.
        case unknown
    }

    /// A client presents an item from now on.
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

    /// The presenter's item is here now.
    /// - Parameter moves: see ``claim(_:asOf:)``.
    public func place(
        _ presenter: PresenterID, at path: TreePath?, item: ItemID?, of connection: ConnectionID, asOf moves: UInt64? = nil
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

    /// A client answers what one of its presenters was asked.
    public func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID) {
        drive { state, now in
            guard state.arbiter.presenterAsked(question)?.connection == connection else { return [] }
            return state.arbiter.answer(question, answer, now: now)
        }
    }

    /// A client has shown that it runs.
    public func alive(_ connection: ConnectionID) {
        state.withLock { $0.arbiter.alive(connection, now: Scheduler.now) }
    }

    // MARK: What happens in the tree

    /// In whose coordinated access something is changed just now; nil if in none.
    func origin(of actor: FileActor?, at path: TreePath, from: TreePath?, item: ItemID?) -> UInt64? {
        guard isInUse, let actor else { return nil }
        return state.withLock { $0.arbiter.origin(of: actor, at: path, from: from, item: item) }
    }

    /// A program that waits for nobody does something.
    func notice(_ access: Access, by actor: FileActor?) {
        drive { state, now in state.arbiter.notice(access, as: ClaimID(state.takeNumber()), by: actor, now: now) }
    }

    /// A name was moved. Called with the names locked, so that moves come in their order.
    func moved(_ old: TreePath, to new: TreePath) {
        drive { state, now in
            state.moves += 1
            return state.arbiter.moved(old, to: new, now: now)
        }
    }

    /// An item has its name again, after it was away under another. Called with the names locked.
    func returned(_ item: ItemID, to path: TreePath) {
        drive { state, now in
            state.moves += 1
            return state.arbiter.returned(item, to: path, now: now)
        }
    }

    // MARK: Listing

    /// A claim with the process that makes it.
    public struct ListedClaim: Sendable {
        public var listed: Arbiter.Listed
        public var party: CoordinationParty
    }

    /// Clients' claims, and of plain programs those that wait or are waited for, in the order of their arrival.
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

    /// Gives the arbiter something, sends on what comes of it, and sees that it is woken.
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
        // Opens go on where nobody is held up by what they do, which may take long: not on a client's event loop, nor
        // with names locked.
        if !resumed.isEmpty { opens.after(0) { for resume in resumed { resume() } } }
        if let delay { scheduler.after(delay) { [weak self] in self?.tick() } }
        // What may be the last use of a descriptor ends outside the lock.
        withExtendedLifetime(dropped) {}
    }

    private func tick() {
        drive { state, now in
            if let called = state.called, called <= now { state.called = nil }
            return state.lapse(now) + state.arbiter.tick(now: now)
        }
    }
}
