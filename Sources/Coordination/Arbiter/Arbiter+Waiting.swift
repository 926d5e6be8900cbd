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
                let relation = ClaimMatrix.relation(
                    ofLater: second, on: otherUnit, toEarlier: first, on: unit)
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

    /// Finds out anew which claims exclude one: when it comes, and when its item has another place.
    mutating func setRivals(of id: ClaimID) {
        guard let entry = claims[id] else { return }
        var rivals = Set<ClaimID>(minimumCapacity: claims.count)
        // Not `indices`: they hold the dictionary, which would be copied when it is changed.
        var place = claims.startIndex
        while place != claims.endIndex {
            defer { claims.formIndex(after: &place) }
            guard claims.keys[place] != id, conflict(claims.values[place], entry) else { continue }
            rivals.insert(claims.keys[place])
            claims.values[place].rivals.insert(id)
        }
        for gone in entry.rivals.subtracting(rivals) { claims[gone]?.rivals.remove(id) }
        claims[id]?.rivals = rivals
    }

    /// Finds out anew whom a claim waits for: the granted ones that it excludes, and those before it, but for those
    /// that wait for it themselves.
    /// - Parameter above: who waits for it, whatever the order of arrival, or because those before it do.
    private mutating func setBlockers(of id: ClaimID, above: Set<ClaimID>) {
        guard let entry = claims[id] else { return }
        var blockers = Set<ClaimID>(minimumCapacity: entry.rivals.count)
        var passed: Set<ClaimID> = []
        for rival in entry.rivals {
            guard let place = claims.index(forKey: rival) else { continue }
            let isGranted = claims.values[place].isGranted
            guard isGranted || claims.values[place].arrival < entry.arrival else { continue }
            if !isGranted, above.contains(rival) { passed.insert(rival) } else { blockers.insert(rival) }
        }
        guard blockers != entry.blockers || passed != entry.passed else { return }
        for blocker in entry.blockers.subtracting(blockers) { dependents[blocker]?.remove(id) }
        for blocker in blockers.subtracting(entry.blockers) { dependents[blocker, default: []].insert(id) }
        claims[id]?.blockers = blockers
        claims[id]?.passed = passed
        if passed.isEmpty { passers.remove(id) } else { passers.insert(id) }
        if blockers.isEmpty { attention.insert(id) }
    }

    /// The blockers of a claim that has just come.
    mutating func setBlockers(of id: ClaimID) {
        if mayHaveRings { return refreshBlockers() }
        setBlockers(of: id, above: [])
    }

    /// The blockers of all that wait, in the order of arrival, where more than that order counts: of each what those
    /// before it have been found to wait for, and what anybody waits for whatever the order. Those behind it will pass
    /// it, if need be.
    mutating func refreshBlockers() {
        guard mayHaveRings || hasPassed else { return }
        var waiting: [ClaimID: [ClaimID]] = [:]
        for id in ungranted { for other in certainDependencies(of: id, .possible) { waiting[other, default: []].append(id) } }
        for id in claims.keys where claims[id]?.isGranted == true {
            for other in certainDependencies(of: id, .possible) { waiting[other, default: []].append(id) }
        }
        for id in inOrder(ungranted) {
            setBlockers(of: id, above: Self.closure(of: id, in: waiting))
            for blocker in claims[id]?.blockers ?? [] where ungranted.contains(blocker) {
                waiting[blocker, default: []].append(id)
            }
        }
    }

    /// The same for all after a move.
    mutating func setAllRivals() {
        for id in claims.keys { setRivals(of: id) }
        guard !mayHaveRings, !hasPassed else { return refreshBlockers() }
        for id in ungranted { setBlockers(of: id, above: []) }
    }

    private var hasPassed: Bool { !passers.isEmpty }

    private static func closure(of start: ClaimID, in edges: [ClaimID: [ClaimID]]) -> Set<ClaimID> {
        var found: Set<ClaimID> = []
        var open = [start]
        while let id = open.popLast() {
            for next in edges[id] ?? [] where found.insert(next).inserted { open.append(next) }
        }
        return found
    }

    mutating func addBlocker(_ blocker: ClaimID, to id: ClaimID) {
        claims[id]?.blockers.insert(blocker)
        dependents[blocker, default: []].insert(id)
    }

    // MARK: Rings

    /// Whether anything but the order of arrival keeps claims waiting: without it nothing can go round.
    var mayHaveRings: Bool { !questions.isEmpty || !nested.isEmpty }

    /// How sure it is that a presenter's answer waits for a claim.
    enum Certainty {
        /// Its client says so, or it is a plain program's open of the presenter's process.
        case certain
        /// It has the presenter's purpose: it may be how the presenter saves.
        case possible
    }

    /// What a claim waits for to end or to be granted, whatever the order of arrival.
    private func certainDependencies(of id: ClaimID, _ certainty: Certainty) -> [ClaimID] {
        guard let entry = claims[id] else { return [] }
        // Its holder waits for what it has asked for meanwhile.
        if entry.isGranted { return ungranted.filter { claims[$0]?.claim.within.contains(id) == true } }
        var found = entry.blockers.filter { claims[$0]?.isGranted ?? false }
        guard !entry.steps.isEmpty else { return Array(found) }
        let asked = questions.values.filter { $0.claim == id }.compactMap { presenters[$0.presenter] }
        for other in ungranted where other != id {
            guard let claim = claims[other]?.claim else { continue }
            if asked.contains(where: { answer(of: $0, waitsFor: claim, certainty) }) { found.insert(other) }
        }
        return Array(found)
    }

    /// What a claim waits for to end or to be granted.
    private func dependencies(of id: ClaimID) -> [ClaimID] {
        inOrder((claims[id]?.blockers ?? []).union(certainDependencies(of: id, .certain)))
    }

    /// Whether a presenter's answer waits for the claim.
    func answer(of presenter: Presenter, waitsFor claim: Claim, _ certainty: Certainty) -> Bool {
        if claim.handling == presenter.id { return true }
        if certainty == .possible, claim.purpose == presenter.purpose { return true }
        guard claim.isPlain, let actor = claim.actor, let other = presenter.actor else { return false }
        return actor.isKin(of: other)
    }

    /// Whether one claim waits for another, however many others are between them.
    func reaches(_ start: ClaimID, _ goal: ClaimID) -> Bool { path(from: start, to: goal) != nil }

    /// The claims from one to another, each of which waits for the next, both ends included.
    func path(from start: ClaimID, to goal: ClaimID) -> [ClaimID]? {
        var cameFrom: [ClaimID: ClaimID] = [:]
        var open = [start]
        while let id = open.popLast() {
            for next in dependencies(of: id) {
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
            guard let ring = path(from: id, to: id)?.dropLast() else { continue }
            let waiting = ring.filter { claims[$0].map { !$0.isGranted && !$0.claim.isPlain } ?? false }
            guard let youngest = inOrder(waiting).last else { continue }
            let index = ring.firstIndex(of: youngest) ?? ring.startIndex
            fail(youngest, .deadlock((ring[index...] + ring[..<index]).compactMap { claims[$0]?.claim }))
            return true
        }
        return false
    }
}
