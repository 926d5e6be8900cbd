// Random clients at the arbiter: claims, cancels, presenters that save, refuse, stall, die or are stopped, names that move.

import Foundation
import Testing
import VersionModel

@testable import Coordination

@Suite("The arbiter at random") struct ArbiterRandomTests {
    @Test("nothing is shared that excludes, nobody is forgotten, overtaken or shut in, and everyone gets back what is theirs")
    func randomSteps() {
        let environment = ProcessInfo.processInfo.environment
        let isFull = environment["VERSIONSFS_FULL"] == "1"
        let given = environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let (runs, steps) = (isFull ? 100 : 10, 1000)
        print("ArbiterRandomTests: seed \(seed), \(runs) runs of \(steps) steps")
        var seen = Seen()
        for run in 0..<runs {
            var crowd = Crowd(seed: seed &+ UInt64(run))
            for _ in 0..<steps {
                crowd.step()
                if !crowd.faults.isEmpty { break }
            }
            crowd.goHome()
            #expect(crowd.faults == [], "seed \(seed &+ UInt64(run)), run 0 with VERSIONSFS_SEED:\n\(crowd.log.suffix(40).joined(separator: "\n"))")
            seen.add(crowd.seen)
            if !crowd.faults.isEmpty { return }
        }
        #expect(seen.isInteresting, "what happened: \(seen)")
    }
}

/// What happened in a run, to see that it was worth looking at.
struct Seen: CustomStringConvertible {
    var counts: [String: Int] = [:]

    mutating func note(_ what: String) { counts[what, default: 0] += 1 }
    mutating func add(_ other: Seen) { counts.merge(other.counts) { $0 + $1 } }

    var description: String { counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ") }

    var isInteresting: Bool {
        let wanted = [
            "granted", "waited", "passed", "deadlock", "refused", "cancelled", "impatient", "presenter revoked",
            "claim revoked", "asked", "slow", "probe", "moved", "passed over",
        ]
        return wanted.allSatisfy { counts[$0, default: 0] > 0 }
    }
}

/// Clients and the arbiter between them; checks after each step what must always hold.
struct Crowd {
    private(set) var faults: [String] = []
    private(set) var log: [String] = []
    private(set) var seen = Seen()
    private var arbiter: Arbiter
    private var dice: Dice
    private var now: Int64 = 0
    private var nextClaim: UInt64 = 1
    private var nextPresenter: UInt64 = 1
    /// Claims that have had no answer, and when the first of what excludes them was granted.
    private var waiting: Set<ClaimID> = []
    private var granted: Set<ClaimID> = []
    /// What presenters have relinquished and not got back, by claim.
    private var relinquished: [ClaimID: [PresenterID]] = [:]
    private var questions: [QuestionID: (presenter: PresenterID, claim: ClaimID, asked: Int64)] = [:]
    /// Clients that do not answer probes nor questions, and since when.
    private var stopped: [ConnectionID: Int64] = [:]
    /// Since when a claim waits for one that is granted.
    private var blockedSince: [ClaimID: [ClaimID: Int64]] = [:]
    private static let paths = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "p.pack", "p.pack/x", "p.pack/y"].map(path)
    private static let clients: ClosedRange<UInt64> = 1...6

    init(seed: UInt64) {
        dice = Dice(state: seed)
        arbiter = Arbiter(
            packages: Packages(extensions: ["pack"]), limits: Arbiter.Limits(notice: 1000, deadline: 10_000))
    }

    // MARK: Steps

    mutating func step() {
        switch dice.below(100) {
        case 0..<34: if waiting.count + granted.count < 20 { claim() } else { release() }
        case 34..<54: release()
        case 54..<58: cancel()
        case 58..<78: answer()
        case 78..<83: present()
        case 83..<85: withdraw()
        case 85..<88: move()
        case 88..<91: stopOrGoOn()
        case 91..<92: disconnect()
        default: pass(Int64(dice.below(4000)))
        }
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

    private mutating func answerWhatNobodyWaitsFor() {
        for question in arbiter.outstanding.keys.sorted() where questions[question] == nil {
            take("answer \(question.number)") { $0.answer(question, .done, now: $1) }
        }
    }

    private mutating func claim() {
        let id = ClaimID(nextClaim)
        nextClaim += 1
        let client = dice.element(Self.clients) ?? 1
        let connection = ConnectionID(client)
        let isPlain = dice.below(6) == 0
        let own = arbiter.allPresenters.map(\.presenter).filter { $0.connection == connection }
        let presenter = dice.below(3) == 0 ? dice.element(own) : nil
        let accesses = (0...(dice.below(4) == 0 ? 2 : 0)).map { _ in
            Access(
                path: dice.element(Self.paths) ?? .root, item: nil,
                kind: isPlain
                    ? dice.element([.reading([]), .writing(.updating)]) ?? .reading([])
                    : dice.element(allAccessKinds) ?? .reading([]))
        }
        let held = granted.filter { claim in arbiter.listed.contains { $0.claim.id == claim && $0.claim.connection == connection } }
        let handled = own.filter { one in questions.values.contains { $0.presenter == one.id } }
        let purpose = presenter?.purpose ?? Purpose(high: dice.below(4) == 0 ? 1 : 2, low: dice.below(4) == 0 ? client % 2 : id.number)
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

    private mutating func release() {
        guard let id = dice.element(granted.sorted()), !isStopped(id) else { return }
        take("release \(id.number)") { $0.release(id, now: $1) }
    }

    private mutating func cancel() {
        guard let id = dice.element(waiting.sorted()) else { return }
        seen.note("cancelled")
        take("cancel \(id.number)") { $0.cancel(id, now: $1) }
    }

    private mutating func answer() {
        let open = questions.filter { question in
            arbiter.allPresenters.contains { $0.presenter.id == question.value.presenter && stopped[$0.presenter.connection] == nil }
        }
        // Every seventh presenter stalls.
        guard let id = dice.element(open.keys.filter { (open[$0]?.presenter.number ?? 0) % 7 != 0 }.sorted()) else { return }
        let isRefused = dice.below(8) == 0
        take("answer \(id.number)\(isRefused ? " no" : "")") { $0.answer(id, isRefused ? .refused("no") : .done, now: $1) }
    }

    private mutating func present() {
        let id = PresenterID(nextPresenter)
        nextPresenter += 1
        guard arbiter.allPresenters.count < 12 else { return }
        let client = dice.element(Self.clients) ?? 1
        arbiter.present(Presenter(
            id: id, connection: ConnectionID(client), purpose: Purpose(high: 3, low: id.number),
            path: dice.below(10) == 0 ? nil : dice.element(Self.paths),
            actor: FileActor(ActorRef(process: Int32(client), started: 0)), mayRefuse: dice.below(4) > 0,
            accommodatesSubitems: dice.below(2) == 0))
        log.append("present \(id.number) of \(client)")
    }

    private mutating func withdraw() {
        guard let presenter = dice.element(arbiter.allPresenters.map(\.presenter)) else { return }
        forget(presenter.id)
        take("withdraw \(presenter.id.number)") { $0.withdraw(presenter.id, now: $1) }
    }

    private mutating func disconnect() {
        let connection = ConnectionID(dice.element(Self.clients) ?? 1)
        for presenter in arbiter.allPresenters.map(\.presenter) where presenter.connection == connection { forget(presenter.id) }
        for listed in arbiter.listed where listed.claim.connection == connection {
            waiting.remove(listed.claim.id)
            granted.remove(listed.claim.id)
        }
        stopped[connection] = nil
        take("disconnect \(connection.number)") { $0.disconnected(connection, now: $1) }
    }

    private mutating func forget(_ presenter: PresenterID) {
        for claim in relinquished.keys { relinquished[claim]?.removeAll { $0 == presenter } }
        questions = questions.filter { $0.value.presenter != presenter }
    }

    private mutating func move() {
        guard let old = dice.element(Self.paths), let new = dice.element(Self.paths), !new.isWithin(old), !old.isWithin(new)
        else { return }
        seen.note("moved")
        take("move \(old) to \(new)") { $0.moved(old, to: new, now: $1) }
    }

    private mutating func stopOrGoOn() {
        let connection = ConnectionID(dice.element(Self.clients) ?? 1)
        if stopped[connection] != nil { return goOn(connection) }
        stopped[connection] = now
        log.append("stop \(connection.number)")
    }

    private mutating func goOn(_ connection: ConnectionID) {
        stopped[connection] = nil
        arbiter.alive(connection, now: now)
        log.append("go on \(connection.number)")
    }

    private mutating func pass(_ duration: Int64) {
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

    private func isStopped(_ id: ClaimID) -> Bool {
        arbiter.listed.first { $0.claim.id == id }?.claim.connection.map { stopped[$0] != nil } ?? false
    }

    private func describe(_ claim: Claim) -> String {
        let accesses = claim.accesses.map { "\($0.kind.strength) \($0.path)" }.joined(separator: ", ")
        return "\(claim.id) of \(claim.actor?.ref.process ?? 0): \(accesses)\(claim.isPlain ? ", plain" : "")"
            + "\(claim.isPreparation ? ", preparing" : ""), purpose \(claim.purpose.map { "\($0.high).\($0.low)" } ?? "none")"
            + ", within \(claim.within.sorted()), handling \(claim.handling.map(\.description) ?? "none")"
    }

    // MARK: What comes of it

    private mutating func take(_ what: String, _ input: (inout Arbiter, Int64) -> [Effect]) {
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
            case .probe(let connection): probes.append(connection)
            }
        }
        granted = granted.filter { id in arbiter.claims[id] != nil }
        let gone = relinquished.keys.filter { arbiter.claims[$0] == nil }
        for claim in gone where relinquished.removeValue(forKey: claim)?.isEmpty == false {
            fault("\(claim) is over, and a presenter has not heard of it")
        }
        let passedOver = questions.filter { arbiter.questions[$0.key] == nil && before.questions[$0.key] != nil && arbiter.claims[$0.value.claim].map { !$0.isGranted } ?? false }
        if !what.hasPrefix("answer"), !passedOver.isEmpty { seen.note("passed over") }
        questions = questions.filter { arbiter.questions[$0.key] != nil }
        check(before)
        for connection in probes {
            seen.note("probe")
            if stopped[connection] == nil { arbiter.alive(connection, now: now) }
        }
    }

    private mutating func wasGranted(_ id: ClaimID, _ grant: Grant, _ before: Arbiter) {
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

    private mutating func hasFailed(_ id: ClaimID, _ failure: ClaimFailure, _ before: Arbiter) {
        guard waiting.remove(id) != nil else { return fault("\(id) failed, and had not waited") }
        switch failure {
        case .deadlock(let ring):
            seen.note("deadlock")
            if ring.first?.id != id || Set(ring).count != ring.count || ring.count < 2 { fault("no ring: \(ring)") }
        case .refused: seen.note("refused")
        case .cancelled, .unresponsive: break
        }
    }

    private mutating func fault(_ text: String) { faults.append(text) }

    // MARK: What must hold

    private func excludes(_ one: Claim, _ other: Claim) -> Bool {
        if one.isPreparation || other.isPreparation { return false }
        if one.purpose != nil, one.purpose == other.purpose { return false }
        if one.isPlain, other.isPlain { return false }
        if one.isPlain || other.isPlain, one.actor?.ref == other.actor?.ref { return false }
        // Two that are in one package are at the package; what claims are on is the matrix's test.
        for (first, unit) in zip(one.accesses, units(one)) {
            for (second, other) in zip(other.accesses, units(other)) {
                let relation = ClaimMatrix.relation(ofLater: other, toEarlier: unit)
                if ClaimMatrix.waits(later: second.kind.strength, forEarlier: first.kind.strength, relation) { return true }
            }
        }
        return false
    }

    private func units(_ claim: Claim) -> [TreePath] {
        claim.accesses.map { $0.path.bytes.starts(with: Array("p.pack".utf8)) ? Self.package : $0.path }
    }
    private static let package = path("p.pack")

    /// Whether a claim must wait for another to be granted or to end: found by going through everything. Of claims that
    /// came later than a time only what they wait for whatever the order counts.
    private func waits(_ start: ClaimID, for goal: ClaimID, before arrival: UInt64) -> Bool {
        var reached: Set<ClaimID> = [start]
        var open = [start]
        while let id = open.popLast() {
            guard let entry = arbiter.claims[id] else { continue }
            var next: [ClaimID] = []
            if entry.isGranted {
                next = arbiter.claims.values.filter { !$0.isGranted && $0.claim.within.contains(id) }.map(\.claim.id)
            } else {
                next = entry.blockers.filter { entry.arrival < arrival || granted.contains($0) }
                for asked in arbiter.questions.values where asked.claim == id {
                    guard let presenter = arbiter.presenters[asked.presenter] else { continue }
                    next += arbiter.claims.values.filter { other in
                        guard other.claim.id != id, !other.isGranted else { return false }
                        return other.claim.handling == presenter.id || other.claim.purpose == presenter.purpose
                            || other.claim.isPlain && other.claim.actor?.ref == presenter.actor?.ref
                    }.map(\.claim.id)
                }
            }
            if next.contains(goal) { return true }
            for id in next where reached.insert(id).inserted { open.append(id) }
        }
        return false
    }

    private mutating func check(_ before: Arbiter) {
        let last = blockedSince
        blockedSince = [:]
        for id in waiting {
            for blocker in arbiter.claims[id]?.blockers ?? [] where granted.contains(blocker) {
                blockedSince[id, default: [:]][blocker] = last[id]?[blocker] ?? now
            }
            guard let entry = arbiter.claims[id], !entry.isGranted else {
                fault("\(id) waits, and the arbiter does not know it")
                continue
            }
            if entry.blockers.isEmpty, !arbiter.questions.values.contains(where: { $0.claim == id }) {
                fault("\(id) waits for nobody")
            }
            for other in granted {
                guard let held = arbiter.claims[other] else { continue }
                if excludes(held.claim, entry.claim) != entry.blockers.contains(other) {
                    fault("\(id) \(entry.blockers.contains(other) ? "waits" : "does not wait") for \(other), which is granted")
                }
            }
            checkOrder(entry)
        }
        for id in granted { checkOvertaking(id, before) }
        checkRings()
    }

    /// A waiting claim waits for every earlier one that it excludes, unless that one waits for it.
    private mutating func checkOrder(_ entry: Arbiter.Entry) {
        let id = entry.claim.id
        for other in waiting where other != id {
            guard let earlier = arbiter.claims[other], earlier.arrival < entry.arrival, excludes(earlier.claim, entry.claim)
            else { continue }
            let waitsForUs = waits(other, for: id, before: entry.arrival)
            if waitsForUs == entry.blockers.contains(other) {
                fault("\(id) \(waitsForUs ? "waits for \(other), which waits for it" : "would pass \(other)")")
            }
            if entry.blockers.contains(other) == entry.passed.contains(other) { fault("\(id) and \(other) are unclear") }
        }
    }

    /// Whoever was granted before an earlier one that it excludes had been waited for by that one.
    private mutating func checkOvertaking(_ id: ClaimID, _ before: Arbiter) {
        guard let entry = arbiter.claims[id], before.claims[id]?.isGranted != true, !entry.claim.isPlain else { return }
        for other in waiting {
            guard let earlier = arbiter.claims[other], earlier.arrival < entry.arrival, excludes(earlier.claim, entry.claim)
            else { continue }
            seen.note("passed")
            if !entry.passed.contains(other) { fault("\(id) passed \(other), which did not wait for it") }
        }
    }

    /// After each step nothing goes round, but where a plain program's patience will end it.
    private mutating func checkRings() {
        for id in waiting {
            guard let entry = arbiter.claims[id], !entry.claim.isPlain else { continue }
            guard let ring = arbiter.path(from: id, to: id)?.dropLast() else { continue }
            fault("a ring that nobody has heard of: \(ring)")
        }
    }

    /// Whoever does not run holds up nobody longer than the deadline.
    private mutating func checkPatience() {
        for question in questions.values where question.asked + arbiter.limits.deadline < now {
            fault("\(question.presenter) was waited for until \(now)")
        }
        for id in waiting {
            guard let entry = arbiter.claims[id] else { continue }
            if let patience = entry.claim.patience, entry.since + patience < now { fault("\(id) has lost its patience") }
            for blocker in entry.blockers where granted.contains(blocker) {
                guard let connection = arbiter.claims[blocker]?.claim.connection, let since = stopped[connection] else { continue }
                let begin = max(since, blockedSince[id]?[blocker] ?? now)
                if begin + arbiter.limits.deadline + arbiter.limits.notice < now {
                    fault("\(id) waited for \(blocker), which is stopped since \(since), until \(now)")
                }
            }
        }
    }
}

/// Numbers that a seed decides.
struct Dice {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    mutating func element<Elements: Collection>(_ elements: Elements) -> Elements.Element? {
        guard !elements.isEmpty else { return nil }
        return elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
    }
}
