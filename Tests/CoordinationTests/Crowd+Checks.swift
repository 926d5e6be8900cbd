// What must always hold at an arbiter, found by going through everything.

import VersionModel

@testable import Coordination

extension Crowd {
    func excludes(_ one: Claim, _ other: Claim) -> Bool {
        if one.isPreparation || other.isPreparation { return false }
        if one.purpose != nil, one.purpose == other.purpose { return false }
        if one.isPlain, other.isPlain { return false }
        if one.isPlain || other.isPlain, one.actor?.ref == other.actor?.ref { return false }
        // Two that are in one package are at the package; what claims are on is the matrix's test.
        for (first, unit) in zip(one.accesses, units(one)) {
            for (second, other) in zip(other.accesses, units(other)) {
                let isOneItem = first.item != nil && first.item == second.item
                let relation = isOneItem ? .same : ClaimMatrix.relation(ofLater: other, toEarlier: unit)
                if ClaimMatrix.waits(later: second.kind.strength, forEarlier: first.kind.strength, relation) {
                    return true
                }
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

    mutating func check(_ before: Arbiter) {
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
                    fault(
                        """
                        \(id) \(entry.blockers.contains(other) ? "waits" : "does not wait") for \(other), which is \
                        granted
                        """)
                }
            }
            checkOrder(entry)
        }
        for id in granted { checkOvertaking(id, before) }
        checkRings()
        if log.count % 8 == 0 { checkRivals() }
    }

    /// Whom the index has found to exclude one another are those that do.
    private mutating func checkRivals() {
        for (id, entry) in arbiter.claims {
            let rivals = arbiter.claims.values.filter { $0.claim.id != id && arbiter.conflict($0, entry) }
                .map(\.claim.id)
            if Set(rivals) != entry.rivals {
                fault("\(id) excludes \(rivals), and is thought to exclude \(entry.rivals)")
            }
        }
        let wanted = arbiter.claims.values.filter { $0.isGranted && $0.claim.isPlain && arbiter.isWanted($0.claim.id) }
        if Set(wanted.map(\.claim.id)) != Set(arbiter.wantedPlain) { fault("wanted: \(arbiter.wantedPlain)") }
        let queued = arbiter.claims.values.filter { !$0.isGranted }
        if Set(queued.filter { !$0.claim.within.isEmpty }.map(\.claim.id)) != arbiter.nested { fault("nested") }
        if Set(queued.filter { $0.claim.handling != nil }.map(\.claim.id)) != arbiter.handled { fault("handled") }
    }

    /// A waiting claim waits for every earlier one that it excludes, unless that one waits for it.
    private mutating func checkOrder(_ entry: Arbiter.Entry) {
        let id = entry.claim.id
        for other in waiting where other != id {
            guard let earlier = arbiter.claims[other], earlier.arrival < entry.arrival,
                excludes(earlier.claim, entry.claim)
            else { continue }
            let waitsForUs = waits(other, for: id, before: entry.arrival)
            if waitsForUs == entry.blockers.contains(other) {
                fault("\(id) \(waitsForUs ? "waits for \(other), which waits for it" : "would pass \(other)")")
            }
            if entry.blockers.contains(other) == entry.passed.contains(other) {
                fault("\(id) and \(other) are unclear")
            }
        }
    }

    /// Whoever was granted before an earlier one that it excludes had been waited for by that one.
    private mutating func checkOvertaking(_ id: ClaimID, _ before: Arbiter) {
        guard let entry = arbiter.claims[id], before.claims[id]?.isGranted != true, !entry.claim.isPlain else { return }
        for other in waiting {
            guard let earlier = arbiter.claims[other], earlier.arrival < entry.arrival,
                excludes(earlier.claim, entry.claim)
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
    mutating func checkPatience() {
        for question in questions.values where question.asked + arbiter.limits.deadline < now {
            fault("\(question.presenter) was waited for until \(now)")
        }
        for id in waiting {
            guard let entry = arbiter.claims[id] else { continue }
            if let patience = entry.claim.patience, entry.since + patience < now {
                fault("\(id) has lost its patience")
            }
            for blocker in entry.blockers where granted.contains(blocker) {
                guard let connection = arbiter.claims[blocker]?.claim.connection, let since = stopped[connection] else {
                    continue
                }
                let begin = max(since, blockedSince[id]?[blocker] ?? now)
                if begin + arbiter.limits.deadline + arbiter.limits.notice < now {
                    fault("\(id) waited for \(blocker), which is stopped since \(since), until \(now)")
                }
            }
        }
    }
}
