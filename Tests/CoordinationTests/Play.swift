// A stage for stories about the arbiter: short names in, what it wants done as text out.

import Testing
import VersionModel

@testable import Coordination

/// Drives an arbiter by hand and writes down its effects.
struct Play {
    var arbiter: Arbiter
    var now: Int64 = 0
    /// What the last call had done.
    private(set) var said: [String] = []
    private var questions: [String: QuestionID] = [:]

    init(packages: [String] = ["pack"]) {
        arbiter = Arbiter(packages: Packages(extensions: packages))
    }

    static func purpose(_ number: UInt64) -> Purpose { Purpose(high: 1, low: number) }

    /// A claim of a client on items.
    mutating func claim(
        _ id: UInt64, of client: UInt64, _ accesses: [(String, AccessKind)], purpose: UInt64? = nil,
        presenter: UInt64? = nil, within: Set<UInt64> = [], handling: UInt64? = nil, preparing: Bool = false
    ) {
        take(arbiter.request(
            Claim(
                id: ClaimID(id), connection: ConnectionID(client),
                accesses: accesses.map { Access(path: path($0.0), kind: $0.1) }, purpose: Self.purpose(purpose ?? id),
                presenter: presenter.map { PresenterID($0) }, within: Set(within.map { ClaimID($0) }),
                handling: handling.map { PresenterID($0) }, actor: Self.actor(client), isPreparation: preparing),
            now: now))
    }

    /// A plain program of a client's process opens a file.
    mutating func open(
        _ id: UInt64, by process: UInt64, _ file: String, _ kind: AccessKind, patience: Int64 = 2_000_000_000
    ) {
        take(arbiter.request(
            Claim(
                id: ClaimID(id), connection: nil, accesses: [Access(path: path(file), kind: kind)],
                actor: Self.actor(process), patience: patience),
            now: now))
    }

    private static func actor(_ process: UInt64) -> FileActor {
        FileActor(ActorRef(process: Int32(truncatingIfNeeded: process), started: 0))
    }

    mutating func present(
        _ id: UInt64, of client: UInt64, _ file: String?, item: UInt64? = nil, mayRefuse: Bool = true,
        subitems: Bool = false
    ) {
        arbiter.present(Presenter(
            id: PresenterID(id), connection: ConnectionID(client), purpose: Self.purpose(1000 + id),
            path: file.map { path($0) }, item: item.map { ItemID(high: 0, low: $0) }, actor: Self.actor(client),
            mayRefuse: mayRefuse, accommodatesSubitems: subitems))
    }

    mutating func release(_ id: UInt64) { take(arbiter.release(ClaimID(id), now: now)) }
    mutating func cancel(_ id: UInt64) { take(arbiter.cancel(ClaimID(id), now: now)) }
    mutating func withdraw(_ id: UInt64) { take(arbiter.withdraw(PresenterID(id), now: now)) }
    mutating func disconnect(_ client: UInt64) { take(arbiter.disconnected(ConnectionID(client), now: now)) }
    mutating func move(_ old: String, to new: String) { take(arbiter.moved(path(old), to: path(new), now: now)) }

    /// A presenter answers what it was asked for a claim.
    mutating func answer(_ presenter: UInt64, for claim: UInt64, refusing reason: String? = nil) {
        guard let question = questions["\(presenter) \(claim)"] else {
            said = ["presenter \(presenter) was asked nothing for \(claim)"]
            return
        }
        take(arbiter.answer(question, reason.map { .refused($0) } ?? .done, now: now))
    }

    /// A plain program of a client's process does something that waits for nobody.
    mutating func notice(_ id: UInt64, by process: UInt64, _ file: String, _ kind: AccessKind) {
        take(arbiter.notice(
            Access(path: path(file), kind: kind), as: ClaimID(id), by: Self.actor(process), now: now))
    }

    mutating func come(_ item: UInt64, backTo name: String) {
        take(arbiter.returned(ItemID(high: 0, low: item), to: path(name), now: now))
    }

    mutating func pulse(_ client: UInt64) { arbiter.alive(ConnectionID(client), now: now) }

    /// Lets time pass, deadline by deadline.
    mutating func wait(_ duration: Int64) {
        let end = now + duration
        var all: [String] = []
        while let next = arbiter.nextDeadline, next <= end {
            now = max(now, next)
            take(arbiter.tick(now: now))
            all += said
        }
        now = end
        said = all
    }

    private mutating func take(_ effects: [Effect]) {
        said = effects.map { effect in
            switch effect {
            case .granted(let id, let accesses, let grant):
                return "\(id.number) granted \(accesses.map(\.path.description).joined(separator: ", "))"
                    + (grant == .impatient ? " (impatient)" : "")
            case .failed(let claim, let failure): return "\(claim.id) failed: \(describe(failure))"
            case .ask(let question, let presenter, let what, let claim):
                questions["\(presenter.number) \(claim.number)"] = question
                return "ask \(presenter.number) for \(claim.number): \(describe(what))"
            case .reacquire(let presenter, let claim): return "\(presenter.number) reacquires from \(claim.number)"
            case .slow(let claim, .presenter(let presenter)):
                return "\(claim.number) waits for presenter \(presenter.number)"
            case .slow(let claim, .holder(let holder)): return "\(claim.number) waits for claim \(holder.number)"
            case .presenterRevoked(let presenter): return "presenter \(presenter.number) revoked"
            case .claimRevoked(let claim): return "\(claim.id) revoked"
            case .disturbed(let claim, let access): return "\(claim.number) disturbed at \(access.path)"
            case .probe(let connection): return "probe \(connection.number)"
            }
        }
    }

    private func describe(_ failure: ClaimFailure) -> String {
        switch failure {
        case .cancelled: "cancelled"
        case .deadlock(let ring): "deadlock " + ring.map { "\($0.id)" }.joined(separator: " ")
        case .refused(let presenter, let reason): "refused by \(presenter.number): \(reason)"
        case .unresponsive: "unresponsive"
        }
    }

    private func describe(_ question: Question) -> String {
        switch question {
        case .relinquish(let toWriter): "relinquish to \(toWriter ? "writer" : "reader")"
        case .save: "save"
        case .accommodateDeletion: "accommodate deletion"
        case .accommodateSubitemDeletion(let path): "accommodate deletion of \(path)"
        }
    }
}

/// Shorter names for kinds, in stories.
extension AccessKind {
    static var read: AccessKind { .reading([]) }
    static var readWithoutChanges: AccessKind { .reading(.withoutChanges) }
    static var write: AccessKind { .writing(.updating) }
    static var delete: AccessKind { .writing(.forDeleting) }
    static var move: AccessKind { .writing(.forMoving) }
    static var replace: AccessKind { .writing(.forReplacing) }
    static var merge: AccessKind { .writing(.forMerging) }
}
