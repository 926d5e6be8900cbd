// This process as the arbiter of items outside of containers: the same rules, without other processes.

import ControlProtocol
import Coordination
import Dispatch
import Foundation
import Glibc
import Synchronization
import VersionModel
import VersionsClient

/// Coordinates the threads and presenters of this process for items outside of mounted containers
/// (docs/decisions/0016). Each caller runs the rules under the lock. The effects run outside the lock and in order, on
/// one of the calling threads.
final class ProcessArbitration: Arbitration {
    static let shared = ProcessArbitration()

    typealias Completion = @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void

    /// A claim that has not ended.
    struct Held {
        var wanted: ClaimWanted
        var then: Completion?
        /// The items as last seen, for the search of changes.
        var seen: [SeenItem] = []
    }

    struct State {
        var arbiter: Arbiter
        var claims: [ClaimID: Held] = [:]
        var sinks: [PresenterID: PresenterSink] = [:]
        var next: UInt64 = 1
        /// The effects to run outside the lock, in order.
        var outbox: [@Sendable () -> Void] = []
        var isSending = false
        /// The time of the set timer, so that it is set once.
        var called: Int64?

        mutating func number() -> UInt64 {
            defer { next += 1 }
            return next
        }
    }

    /// Guards the arbiter and the state of its claims. No callback runs under it.
    private let state: Mutex<State>
    private let clock = DispatchQueue(label: "file-coordination-clock")
    /// The whole process is one client.
    static let connection = ConnectionID(0)

    init(limits: Arbiter.Limits = Arbiter.Limits()) { state = Mutex(State(arbiter: Arbiter(limits: limits))) }

    var arbiter: CoordinationContext.Arbiter { ObjectIdentifier(self) }
    /// After all containers.
    var rank: String { "~" }

    func url(of path: Path, isDirectory: Bool) -> URL? { URL(absolute: Path(bytes: [47] + path.bytes), isDirectory) }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: Claims

    func claim(_ wanted: ClaimWanted) -> any PendingClaim {
        Pending(arbitration: self, id: ClaimID(state.withLock { $0.number() }), wanted: wanted)
    }

    private final class Pending: PendingClaim {
        private enum Phase { case new, starting, started, over }

        let arbitration: ProcessArbitration
        let id: ClaimID
        let wanted: ClaimWanted
        /// Guards only the stage: the arbiter knows the claim only after its start.
        private let phase = Mutex(Phase.new)

        init(arbitration: ProcessArbitration, id: ClaimID, wanted: ClaimWanted) {
            (self.arbitration, self.id, self.wanted) = (arbitration, id, wanted)
        }

        func start(then: @escaping @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void) {
            guard begin(.starting, from: .new) else { return then(.failure(ControlError(.cancelled, "cancelled"))) }
            arbitration.start(id, wanted, then)
            // Cancelled meanwhile. The arbiter ignores a claim that is granted or over.
            if !begin(.started, from: .starting) { arbitration.drive { $0.arbiter.cancel(id, now: $1) } }
        }

        func cancel() {
            let wasStarted = phase.withLock { phase in
                defer { phase = .over }
                return phase == .started
            }
            if wasStarted { arbitration.drive { $0.arbiter.cancel(id, now: $1) } }
        }

        private func begin(_ next: Phase, from last: Phase) -> Bool {
            phase.withLock { phase in
                guard phase == last else { return false }
                phase = next
                return true
            }
        }
    }

    private func start(_ id: ClaimID, _ wanted: ClaimWanted, _ then: @escaping Completion) {
        var accesses: [Access] = []
        for access in wanted.accesses {
            guard let path = access.path.tree, let kind = AccessKind(access) else {
                return then(
                    .failure(ControlError(.invalidValue, "options that contradict each other", path: access.path)))
            }
            accesses.append(Access(path: path, item: Stamp(access.path)?.item, kind: kind))
        }
        let claim = Claim(
            id: id, connection: Self.connection, accesses: accesses, purpose: Purpose(hex: wanted.purpose),
            presenter: wanted.presenter.map { PresenterID($0) },
            within: Set(wanted.context.within(arbiter).map { ClaimID($0) }),
            handling: wanted.context.handling(arbiter).map { PresenterID($0) }, isPreparation: wanted.isPreparation)
        drive { state, now in
            state.claims[id] = Held(wanted: wanted, then: then)
            if claim.accesses.contains(where: { $0.item != nil }) { state.lookAtPresenters() }
            return state.arbiter.request(claim, now: now)
        }
    }

    func release(_ claim: UInt64) {
        let id = ClaimID(claim)
        let (held, accesses) = state.withLock { ($0.claims[id], $0.arbiter.claim(id)?.accesses) }
        // A presenter that has relinquished hears of the changes before it hears of the end.
        if let held, let accesses, !held.wanted.isPreparation { tellChanges(held, accesses) }
        drive { state, now in
            state.claims[id] = nil
            // Presenters are asked for the next claim from here on.
            if state.arbiter.isAnyFileKnown { state.lookAtPresenters() }
            return state.arbiter.release(id, now: now)
        }
    }

    // MARK: Presenters

    func present(_ wanted: PresenterWanted, then: @escaping @Sendable (Result<KnownPresenter, ControlError>) -> Void) {
        let number = state.withLock { $0.number() }
        let sink = wanted.inbox(number)
        state.withLock { state in
            state.sinks[PresenterID(number)] = sink
            state.arbiter.present(Presenter(
                    id: PresenterID(number), connection: Self.connection,
                    purpose: Purpose(hex: wanted.purpose) ?? .random(),
                path: wanted.path?.tree, item: wanted.path.flatMap { Stamp($0)?.item }, accommodatesSubitems: true))
        }
        then(.success(KnownPresenter(number: number, sequence: 0)))
    }

    func place(_ presenter: UInt64, at path: Path?, then: @escaping @Sendable () -> Void) {
        let item = path.flatMap { Stamp($0)?.item }
        state.withLock { $0.arbiter.place(PresenterID(presenter), at: path?.tree, item: item) }
        then()
    }

    func withdraw(_ presenter: UInt64) {
        let id = PresenterID(presenter)
        let sink = state.withLock { $0.sinks.removeValue(forKey: id) }
        drive { $0.arbiter.withdraw(id, now: $1) }
        sink?.ended(ControlError(.cancelled, "the presenter has withdrawn"))
    }

    func answer(_ question: QuestionID, _ answer: Answer) {
        drive { $0.arbiter.answer(question, answer, now: $1) }
    }

    // MARK: Driving

    func drive(_ body: (inout State, Int64) -> [Effect]) {
        let (mustSend, delay) = state.withLock { state in
            let now = Self.now
            for effect in body(&state, now) { state.send(effect, in: self, now) }
            defer { state.isSending = state.isSending || !state.outbox.isEmpty }
            return (!state.isSending && !state.outbox.isEmpty, state.delay(now))
        }
        if mustSend { sendAll() }
        guard let delay else { return }
        clock.asyncAfter(deadline: .now() + .nanoseconds(Int(max(0, delay.wait)))) { self.tick(delay.due) }
    }

    private func sendAll() {
        while true {
            let next = state.withLock { state -> [@Sendable () -> Void] in
                defer { state.outbox = [] }
                if state.outbox.isEmpty { state.isSending = false }
                return state.outbox
            }
            if next.isEmpty { return }
            for send in next { send() }
        }
    }

    private func tick(_ due: Int64) {
        drive { state, now in
            // A timer for an earlier time is set; that one sets the next.
            guard state.called == due else { return [] }
            // Also if the timer fires a moment early: then it is set once more.
            state.called = nil
            return state.arbiter.tick(now: now)
        }
    }
}
