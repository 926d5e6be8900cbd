// Random clients of an arbiter: what they do, and what comes of it.

import VersionModel

@testable import Coordination

/// Clients and the arbiter between them; checks after each step what must always hold.
struct Crowd {
    var faults: [String] = []
    var log: [String] = []
    var seen = Seen()
    var arbiter: Arbiter
    var dice: Dice
    var now: Int64 = 0
    var nextClaim: UInt64 = 1
    var nextPresenter: UInt64 = 1
    /// Claims that have had no answer, and when the first of what excludes them was granted.
    var waiting: Set<ClaimID> = []
    var granted: Set<ClaimID> = []
    /// What presenters have relinquished and not got back, by claim.
    var relinquished: [ClaimID: [PresenterID]] = [:]
    var questions: [QuestionID: (presenter: PresenterID, claim: ClaimID, asked: Int64)] = [:]
    /// Clients that do not answer probes nor questions, and since when.
    var stopped: [ConnectionID: Int64] = [:]
    /// Since when a claim waits for one that is granted.
    var blockedSince: [ClaimID: [ClaimID: Int64]] = [:]
    /// What has which name, as far as anybody has asked.
    var items: [TreePath: ItemID] = [:]
    var nextItem: UInt64 = 1
    /// What has lost its name, and which that was.
    var away: [(item: ItemID, path: TreePath)] = []
    static let paths = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "p.pack", "p.pack/x", "p.pack/y"].map(path)
    static let clients: ClosedRange<UInt64> = 1...6

    init(seed: UInt64) {
        dice = Dice(state: seed)
        arbiter = Arbiter(
            packages: Packages(extensions: ["pack"]), limits: Arbiter.Limits(notice: 1000, deadline: 10_000))
    }

    // MARK: Steps

    /// Has somebody do something. Says whether there was anything to do.
    mutating func step() -> Bool {
        let before = log.count
        switch dice.below(100) {
        case 0..<34: if waiting.count + granted.count < 20 { claim() } else { release() }
        case 34..<54: release()
        case 54..<57: cancel()
        case 57..<58: hurry()
        case 58..<76: answer()
        case 76..<81: present()
        case 81..<83: withdraw()
        case 83..<85: move()
        case 85..<87: delete()
        case 87..<88: comeBack()
        case 88..<91: stopOrGoOn()
        case 91..<92: disconnect()
        default: pass(Int64(dice.below(4000)))
        }
        return log.count > before
    }

    /// Everybody does what they owe, until nothing is left.
    mutating func goHome() {
        guard faults.isEmpty else { return }
        for client in stopped.keys.sorted() { goOn(client) }
        answerWhatNobodyWaitsFor()
        for _ in 0..<100_000 where faults.isEmpty && !(granted.isEmpty && waiting.isEmpty) {
            if let question = questions.keys.min() {
                take("answer \(question.number)") { $0.answer(question, .done, now: $1) }
            } else if let id = granted.min() {
                take("release \(id.number)") { $0.release(id, now: $1) }
            } else {
                // Only what waits for nobody but itself would be left: nothing, or a fault.
                return fault("\(waiting.map(\.number).sorted()) wait for nobody")
            }
        }
        answerWhatNobodyWaitsFor()
        if arbiter.nextDeadline != nil { fault("a deadline is left") }
        if !arbiter.listed.isEmpty { fault("claims are left") }
        if relinquished.values.contains(where: { !$0.isEmpty }) { fault("not given back: \(relinquished)") }
    }

    mutating func answerWhatNobodyWaitsFor() {
        for question in arbiter.outstanding.keys.sorted() where questions[question] == nil {
            take("answer \(question.number)") { $0.answer(question, .done, now: $1) }
        }
    }

    mutating func claim() {
        let id = ClaimID(nextClaim)
        nextClaim += 1
        let client = dice.element(Self.clients) ?? 1
        let connection = ConnectionID(client)
        let isPlain = dice.below(6) == 0
        let own = arbiter.allPresenters.map(\.presenter).filter { $0.connection == connection }
        let presenter = dice.below(3) == 0 ? dice.element(own) : nil
        let accesses = (0...(dice.below(4) == 0 ? 2 : 0)).map { _ in
            access(
                dice.element(Self.paths) ?? .root,
                isPlain
                    ? dice.element([.reading([]), .writing(.updating)]) ?? .reading([])
                    : dice.element(allAccessKinds) ?? .reading([]))
        }
        let held = granted.filter { claim in
            arbiter.listed.contains { $0.claim.id == claim && $0.claim.connection == connection }
        }
        let handled = own.filter { one in questions.values.contains { $0.presenter == one.id } }
        let purpose =
            presenter?.purpose
            ?? Purpose(high: dice.below(4) == 0 ? 1 : 2, low: dice.below(4) == 0 ? client % 2 : id.number)
        let claim = Claim(
            id: id, connection: isPlain ? nil : connection, accesses: accesses, purpose: isPlain ? nil : purpose,
            presenter: isPlain ? nil : presenter?.id,
            within: !isPlain && dice.below(2) == 0 ? Set(held.sorted().filter { _ in dice.below(2) == 0 }) : [],
            handling: !isPlain && dice.below(2) == 0 ? dice.element(handled)?.id : nil,
            actor: FileActor(ActorRef(process: Int32(client), started: 0)),
            isPreparation: !isPlain && dice.below(20) == 0, patience: isPlain ? 2000 : nil)
        waiting.insert(id)
        take("claim \(describe(claim))") { $0.request(claim, now: $1) }
        if waiting.contains(id) { seen.note("waited") }
    }

    mutating func release() {
        guard let id = dice.element(granted.sorted()), !isStopped(id) else { return }
        take("release \(id.number)") { $0.release(id, now: $1) }
    }

    mutating func cancel() {
        guard let id = dice.element(waiting.sorted()) else { return }
        seen.note("cancelled")
        take("cancel \(id.number)") { $0.cancel(id, now: $1) }
    }

    /// A plain program that waits is interrupted, and goes on.
    mutating func hurry() {
        guard let id = dice.element(waiting.sorted().filter { arbiter.claims[$0]?.claim.isPlain == true }) else {
            return
        }
        seen.note("hurried")
        take("hurry \(id.number)") { $0.hurry(id, now: $1) }
        if waiting.contains(id) { fault("\(id) was interrupted, and still waits") }
    }

    mutating func answer() {
        let open = questions.filter { question in
            arbiter.allPresenters.contains {
                $0.presenter.id == question.value.presenter && stopped[$0.presenter.connection] == nil
            }
        }
        // Every seventh presenter stalls.
        guard let id = dice.element(open.keys.filter { (open[$0]?.presenter.number ?? 0) % 7 != 0 }.sorted()) else {
            return
        }
        let isRefused = dice.below(8) == 0
        take("answer \(id.number)\(isRefused ? " no" : "")") {
            $0.answer(id, isRefused ? .refused("no") : .done, now: $1)
        }
    }

    mutating func present() {
        let id = PresenterID(nextPresenter)
        nextPresenter += 1
        guard arbiter.allPresenters.count < 12 else { return }
        let client = dice.element(Self.clients) ?? 1
        let place = dice.below(10) == 0 ? nil : dice.element(Self.paths)
        arbiter.present(Presenter(
            id: id, connection: ConnectionID(client), purpose: Purpose(high: 3, low: id.number), path: place,
            item: place.flatMap { item(at: $0) },
            actor: FileActor(ActorRef(process: Int32(client), started: 0)), mayRefuse: dice.below(4) > 0,
            accommodatesSubitems: dice.below(2) == 0))
        log.append("present \(id.number) of \(client)")
    }

    mutating func withdraw() {
        guard let presenter = dice.element(arbiter.allPresenters.map(\.presenter)) else { return }
        forget(presenter.id)
        take("withdraw \(presenter.id.number)") { $0.withdraw(presenter.id, now: $1) }
    }

    mutating func disconnect() {
        let connection = ConnectionID(dice.element(Self.clients) ?? 1)
        for presenter in arbiter.allPresenters.map(\.presenter) where presenter.connection == connection {
            forget(presenter.id)
        }
        for listed in arbiter.listed where listed.claim.connection == connection {
            waiting.remove(listed.claim.id)
            granted.remove(listed.claim.id)
        }
        stopped[connection] = nil
        take("disconnect \(connection.number)") { $0.disconnected(connection, now: $1) }
    }

    mutating func forget(_ presenter: PresenterID) {
        for claim in relinquished.keys { relinquished[claim]?.removeAll { $0 == presenter } }
        questions = questions.filter { $0.value.presenter != presenter }
    }

    mutating func stopOrGoOn() {
        let connection = ConnectionID(dice.element(Self.clients) ?? 1)
        if stopped[connection] != nil { return goOn(connection) }
        stopped[connection] = now
        log.append("stop \(connection.number)")
    }

    mutating func goOn(_ connection: ConnectionID) {
        stopped[connection] = nil
        arbiter.alive(connection, now: now)
        log.append("go on \(connection.number)")
    }

    mutating func pass(_ duration: Int64) {
        log.append("\(now): pass \(duration)")
        let end = now + duration
        while faults.isEmpty, let next = arbiter.nextDeadline, next <= end {
            let before = arbiter
            now = max(now, next)
            take("tick") { $0.tick(now: $1) }
            if arbiter.nextDeadline == next, before.questions.count == arbiter.questions.count,
                before.claims.count == arbiter.claims.count, next < now
            { return fault("the deadline stays") }
        }
        now = end
        checkPatience()
    }

    func isStopped(_ id: ClaimID) -> Bool {
        arbiter.listed.first { $0.claim.id == id }?.claim.connection.map { stopped[$0] != nil } ?? false
    }

    func describe(_ claim: Claim) -> String {
        let accesses = claim.accesses.map {
            "\($0.kind.strength) \($0.path)\($0.item.map { " = item \($0.low)" } ?? "")"
        }.joined(separator: ", ")
        return "\(claim.id) of \(claim.actor?.ref.process ?? 0): \(accesses)\(claim.isPlain ? ", plain" : "")"
            + "\(claim.isPreparation ? ", preparing" : "")"
            + ", purpose \(claim.purpose.map { "\($0.high).\($0.low)" } ?? "none")"
            + ", within \(claim.within.sorted()), handling \(claim.handling.map(\.description) ?? "none")"
    }

    // MARK: What comes of it

    mutating func take(_ what: String, _ input: (inout Arbiter, Int64) -> [Effect]) {
        log.append("\(now): \(what)")
        let before = arbiter
        let effects = input(&arbiter, now)
        var probes: [ConnectionID] = []
        for effect in effects {
            log.append("    \(effect)")
            switch effect {
            case .granted(let id, _, let grant): wasGranted(id, grant, before)
            case .failed(let claim, let failure): hasFailed(claim.id, failure, before)
            case .ask(let question, let presenter, let what, let claim):
                seen.note("asked")
                questions[question] = (presenter, claim, now)
                if case .relinquish = what { relinquished[claim, default: []].append(presenter) }
                if granted.contains(claim) { fault("\(presenter) was asked for a claim that is granted") }
            case .reacquire(let presenter, let claim):
                guard let index = relinquished[claim]?.firstIndex(of: presenter) else {
                    return fault("\(presenter) got back what it had not left to \(claim)")
                }
                relinquished[claim]?.remove(at: index)
            case .slow: seen.note("slow")
            case .presenterRevoked(let presenter):
                seen.note("presenter revoked")
                questions = questions.filter { $0.value.presenter != presenter }
            case .claimRevoked(let claim):
                seen.note("claim revoked")
                if granted.remove(claim.id) == nil { fault("\(claim.id) was revoked, and was not granted") }
            case .disturbed(let claim, _):
                seen.note("disturbed")
                if !granted.contains(claim) { fault("\(claim) was told that it is disturbed, and is not granted") }
            case .probe(let connection): probes.append(connection)
            }
        }
        granted = granted.filter { id in arbiter.claims[id] != nil }
        let gone = relinquished.keys.filter { arbiter.claims[$0] == nil }
        for claim in gone where relinquished.removeValue(forKey: claim)?.isEmpty == false {
            fault("\(claim) is over, and a presenter has not heard of it")
        }
        let passedOver = questions.filter {
            arbiter.questions[$0.key] == nil && before.questions[$0.key] != nil
                && arbiter.claims[$0.value.claim].map { !$0.isGranted } ?? false
        }
        if !what.hasPrefix("answer"), !passedOver.isEmpty { seen.note("passed over") }
        questions = questions.filter { arbiter.questions[$0.key] != nil }
        check(before)
        for connection in probes {
            seen.note("probe")
            if stopped[connection] == nil { arbiter.alive(connection, now: now) }
        }
    }

    mutating func wasGranted(_ id: ClaimID, _ grant: Grant, _ before: Arbiter) {
        guard waiting.remove(id) != nil else { return fault("\(id) was granted, and had not waited") }
        seen.note(grant == .free ? "granted" : "impatient")
        guard let claim = arbiter.claims[id]?.claim else { return fault("\(id) was granted and is gone") }
        granted.insert(id)
        guard grant == .free else { return }
        for other in granted where other != id {
            guard let held = arbiter.claims[other]?.claim else { continue }
            if excludes(held, claim) { fault("\(id) was granted beside \(other)") }
        }
    }

    mutating func hasFailed(_ id: ClaimID, _ failure: ClaimFailure, _ before: Arbiter) {
        guard waiting.remove(id) != nil else { return fault("\(id) failed, and had not waited") }
        switch failure {
        case .deadlock(let ring):
            seen.note("deadlock")
            if ring.first?.id != id || Set(ring).count != ring.count || ring.count < 2 { fault("no ring: \(ring)") }
        case .refused: seen.note("refused")
        case .cancelled, .unresponsive: break
        }
    }

    mutating func fault(_ text: String) { faults.append(text) }
}
