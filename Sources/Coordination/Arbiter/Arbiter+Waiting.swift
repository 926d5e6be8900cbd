// Who waits for whom at this moment, and the rings that this may close.

import VersionModel

extension Arbiter {
    /// Whether two claims exclude one another, whichever came first.
    func conflict(_ one: Entry, _ other: Entry) -> Bool {
        if one.claim.isPreparation || other.claim.isPreparation { return false }
        if let purpose = one.claim.purpose, purpose == other.claim.purpose { return false }
        // Plain programs take turns by rules of their own (``WriterClaims``).
        if one.claim.isPlain && other.claim.isPlain { return false }
        for (first, unit) in zip(one.claim.accesses, one.units) {
            for (second, otherUnit) in zip(other.claim.accesses, other.units) {
                let relation: ItemRelation =
                    if let item = first.item, item == second.item { .same }
                    else { ClaimMatrix.relation(ofLater: otherUnit, toEarlier: unit) }
                guard ClaimMatrix.waits(later: second.kind.strength, forEarlier: first.kind.strength, relation)
                else { continue }
                return !((one.claim.isPlain || other.claim.isPlain) && Self.areKin(one.claim, other.claim))
            }
        }
        return false
    }

    /// Whether one is the other's process, or of its lineage.
    static func areKin(_ one: Claim, _ other: Claim) -> Bool {
        guard let first = one.actor, let second = other.actor else { return false }
        return first.isKin(of: second)
    }

    /// Finds out anew whom a claim waits for: the granted ones that it excludes, and those before it, but for those that
    /// wait for it themselves. Those behind it do not count for that: they will pass it, if need be.
    mutating func setBlockers(of id: ClaimID) {
        guard let entry = claims[id] else { return }
        let mayPass = mayHaveRings
        var blockers: Set<ClaimID> = []
        var passed: Set<ClaimID> = []
        for (other, before) in claims where other != id && (before.isGranted || before.arrival < entry.arrival) {
            guard conflict(before, entry) else { continue }
            if !before.isGranted, mayPass, path(from: other, to: id, .possible, before: entry.arrival) != nil {
                passed.insert(other)
            } else {
                blockers.insert(other)
            }
        }
        guard blockers != entry.blockers || passed != entry.passed else { return }
        for blocker in entry.blockers.subtracting(blockers) { dependents[blocker]?.remove(id) }
        for blocker in blockers.subtracting(entry.blockers) { dependents[blocker, default: []].insert(id) }
        claims[id]?.blockers = blockers
        claims[id]?.passed = passed
        attention.insert(id)
    }

    /// The same for all that wait, in the order of arrival, where more than that order counts.
    mutating func refreshBlockers() {
        guard mayHaveRings || ungranted.contains(where: { claims[$0]?.passed.isEmpty == false }) else { return }
        for id in inOrder(ungranted) { setBlockers(of: id) }
    }

    mutating func addBlocker(_ blocker: ClaimID, to id: ClaimID) {
        claims[id]?.blockers.insert(blocker)
        dependents[blocker, default: []].insert(id)
    }

    // MARK: Rings

    /// Whether anything but the order of arrival keeps claims waiting: without it nothing can go round.
    var mayHaveRings: Bool {
        !questions.isEmpty || ungranted.contains { claims[$0]?.claim.within.isEmpty == false }
    }

    /// How sure it is that a presenter's answer waits for a claim.
    enum Certainty {
        /// Its client says so, or it is a plain program's open of the presenter's process.
        case certain
        /// It has the presenter's purpose: it may be how the presenter saves.
        case possible
    }

    /// What a claim waits for to end or to be granted.
    /// - Parameter arrival: of claims that came later, only what they wait for whatever the order.
    private func dependencies(of id: ClaimID, _ certainty: Certainty, before arrival: UInt64) -> [ClaimID] {
        guard let entry = claims[id] else { return [] }
        if entry.isGranted {
            // Its holder waits for what it has asked for meanwhile.
            return inOrder(ungranted.filter { claims[$0]?.claim.within.contains(id) == true })
        }
        let asked = questions.values.filter { $0.claim == id }.compactMap { presenters[$0.presenter] }
        let awaited = asked.isEmpty ? [] : ungranted.filter { other in
            guard other != id, let claim = claims[other]?.claim else { return false }
            return asked.contains { answer(of: $0, waitsFor: claim, certainty) }
        }
        let blockers = entry.arrival < arrival ? entry.blockers : entry.blockers.filter { claims[$0]?.isGranted ?? false }
        return inOrder(blockers.union(awaited))
    }

    /// Whether a presenter's answer waits for the claim.
    func answer(of presenter: Presenter, waitsFor claim: Claim, _ certainty: Certainty) -> Bool {
        if claim.handling == presenter.id { return true }
        if certainty == .possible, claim.purpose == presenter.purpose { return true }
        guard claim.isPlain, let actor = claim.actor, let other = presenter.actor else { return false }
        return actor.isKin(of: other)
    }

    /// Whether one claim waits for another, however many others are between them.
    func reaches(_ start: ClaimID, _ goal: ClaimID) -> Bool { path(from: start, to: goal, .certain) != nil }

    /// The claims from one to another, each of which waits for the next, both ends included.
    func path(
        from start: ClaimID, to goal: ClaimID, _ certainty: Certainty, before arrival: UInt64 = .max
    ) -> [ClaimID]? {
        var cameFrom: [ClaimID: ClaimID] = [:]
        var open = [start]
        while let id = open.popLast() {
            for next in dependencies(of: id, certainty, before: arrival) {
                if next == goal {
                    var path = [goal, id]
                    while let last = path.last, last != start, let before = cameFrom[last] { path.append(before) }
                    return path.reversed()
                }
                if next != start, cameFrom[next] == nil {
                    cameFrom[next] = id
                    open.append(next)
                }
            }
        }
        return nil
    }

    /// Lets presenters be that wait for the very claim that asks them: what they show is not being touched meanwhile.
    /// - Returns: whether there was one.
    mutating func passOverWaitingPresenters(_ now: Int64) -> Bool {
        for (question, asked) in questions.sorted(by: { $0.key < $1.key }) {
            let isStuck = ungranted.contains { id in
                id != asked.claim && claims[id]?.claim.handling == asked.presenter && reaches(id, asked.claim)
            }
            guard isStuck else { continue }
            questions[question] = nil
            claims[asked.claim]?.steps[asked.presenter] = nil
            attention.insert(asked.claim)
            return true
        }
        return false
    }

    /// Fails the youngest claim of a ring, unless it is a plain program's, whose patience ends anyway.
    /// - Returns: whether there was one.
    mutating func breakRing() -> Bool {
        for id in inOrder(ungranted).reversed() {
            guard let ring = path(from: id, to: id, .certain)?.dropLast() else { continue }
            let waiting = ring.filter { claims[$0].map { !$0.isGranted && !$0.claim.isPlain } ?? false }
            guard let youngest = inOrder(waiting).last else { continue }
            let index = ring.firstIndex(of: youngest) ?? ring.startIndex
            fail(youngest, .deadlock((ring[index...] + ring[..<index]).compactMap { claims[$0]?.claim }))
            return true
        }
        return false
    }
}
