// The coordinator's state under its lock, and the delivery of the arbiter's effects.

import Coordination
import VersionModel

extension Coordinator {
    /// A client that takes part.
    struct Client {
        var client: any CoordinationClient
        var party: CoordinationParty
        var actor: FileActor?
    }

    /// A plain program's open, waiting or continued, until its claim ends.
    struct PlainOpen {
        var party: CoordinationParty
        var descriptor: SharedDescriptor?
        /// The file at the last look, and the time of its last seen change; nil if it has not been looked at since the
        /// open continued.
        var stamp: Stamp?
        var changed: Int64
        /// Continues the open; nil once it has continued.
        var resume: (@Sendable () -> Void)?
    }

    struct State {
        var arbiter: Arbiter
        var clients: [ConnectionID: Client] = [:]
        var opens: [ClaimID: PlainOpen] = [:]
        var next: UInt64 = 1
        /// The number of moves and returns of names.
        var moves: UInt64 = 0
        /// Removed opens, until the lock is released.
        var dropped: [PlainOpen] = []
        /// The time of the next timer, so that it is set once.
        var called: Int64?

        init(arbiter: Arbiter) { self.arbiter = arbiter }
    }
}

extension Coordinator.State {
    /// Whether names have moved since a look-up.
    func isOutdated(_ known: UInt64?) -> Bool { known.map { $0 != moves } ?? false }

    /// Removes an open.
    mutating func forget(_ id: ClaimID) {
        if let open = opens.removeValue(forKey: id) { dropped.append(open) }
    }

    /// Drops the claims of plain programs when no client takes part.
    mutating func dropPlain() {
        guard !opens.isEmpty else { return }
        arbiter.dropPlain()
        dropped += opens.values
        opens = [:]
    }

    mutating func takeNumber() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// The wait until the next timer; nil if an earlier one is set.
    mutating func delay(_ now: Int64) -> Int64? {
        let looks = arbiter.hasWantedPlain ? now + Coordinator.lookNanoseconds : nil
        let dues = [arbiter.nextDeadline, looks].compactMap { $0 }
        guard let due = dues.min(), called.map({ due < $0 }) ?? true else { return nil }
        called = due
        return due - now
    }

    /// Sends an effect to its receiver.
    mutating func send(_ effect: Effect, _ resumed: inout [@Sendable () -> Void]) {
        switch effect {
        case .granted(let id, let accesses, _):
            guard opens[id] == nil else {
                opens[id]?.changed = Scheduler.now
                guard let resume = opens[id]?.resume.take() else { return }
                // Changes by other programs meanwhile do not count as its own.
                opens[id]?.stamp = nil
                resumed.append(resume)
                return
            }
            client(of: id)?.tell(.granted(id, accesses.map(\.path)))
        case .failed(let claim, _) where claim.isPlain:
            // Never, except by its own process: a waiting open continues.
            if let resume = opens[claim.id]?.resume.take() { resumed.append(resume) }
        case .failed(let claim, let failure):
            guard let connection = claim.connection else { return }
            clients[connection]?.client.tell(.failed(claim.id, refusal(failure)))
        case .ask(let question, let presenter, let what, let claim):
            client(of: presenter)?.tell(
                .ask(question, presenter, what, for: claim, at: arbiter.presenter(presenter)?.path))
        case .reacquire(let presenter, let claim): client(of: presenter)?.tell(.reacquire(presenter, claim))
        case .slow(let id, .presenter(let presenter)):
            guard let presenter = arbiter.presenter(presenter) else { return }
            client(of: id)?.tell(.heldUp(id, by: party(of: presenter), isHolder: false))
        case .slow(let id, .holder(let holder)):
            guard let holder = arbiter.claim(holder) else { return }
            client(of: id)?.tell(.heldUp(id, by: party(of: holder), isHolder: true))
        case .presenterRevoked(let presenter): client(of: presenter)?.tell(.presenterRevoked(presenter))
        case .claimRevoked(let claim):
            guard let connection = claim.connection else { return }
            clients[connection]?.client.tell(.claimRevoked(claim.id))
        case .disturbed(let id, let access): client(of: id)?.tell(.disturbed(id, access))
        case .probe(let connection): clients[connection]?.client.tell(.probe)
        }
    }

    private func refusal(_ failure: ClaimFailure) -> ClaimRefusal {
        switch failure {
        case .cancelled: .cancelled
        case .unresponsive: .unresponsive
        case .deadlock(let ring): .deadlock(ring.map { party(of: $0) })
        case .refused(let presenter, let reason):
            .refused(by: arbiter.presenter(presenter).map { party(of: $0) } ?? .unknown, reason)
        }
    }

    private func client(of id: ClaimID) -> (any CoordinationClient)? {
        arbiter.connection(of: id).flatMap { clients[$0]?.client }
    }

    private func client(of id: PresenterID) -> (any CoordinationClient)? {
        arbiter.presenter(id).flatMap { clients[$0.connection]?.client }
    }

    func party(of claim: Claim) -> CoordinationParty {
        var party = claim.connection.flatMap { clients[$0]?.party } ?? opens[claim.id]?.party ?? .unknown
        party.path = claim.accesses.first?.path
        return party
    }

    func party(of presenter: Presenter) -> CoordinationParty {
        var party = clients[presenter.connection]?.party ?? .unknown
        party.path = presenter.path
        return party
    }
}
