// The waits between claims, and the rings of waits that may arise.

import VersionModel

/// A wait for a claim that came later, or that is in no queue before this one.
struct ForwardEdge {
    /// The waiting claim: its presenter must answer, or another claim is nested in it.
    var waiter: ClaimID
    var other: ClaimID
}

extension Arbiter {
    /// Computes the blockers of a claim: the granted rivals, and the rivals before it, except those that wait for it.
    /// - Parameter above: the claims that wait for it independently of arrival, or through the claims before it.
    mutating func setBlockers(of id: ClaimID, above: WaitGraph.Waiters?) {
        guard let entry = claims[id] else { return }
        var blockers = Set<ClaimID>(minimumCapacity: entry.rivals.count)
        var passed: Set<ClaimID> = []
        for rival in entry.rivals {
            guard let place = claims.index(forKey: rival) else { continue }
            let isGranted = claims.values[place].isGranted
            guard isGranted || claims.values[place].arrival < entry.arrival else { continue }
            if !isGranted, above?.contains(rival) ?? false { passed.insert(rival) } else { blockers.insert(rival) }
        }
        guard blockers != entry.blockers || passed != entry.passed else { return }
        for blocker in entry.blockers.subtracting(blockers) { removeDependent(id, of: blocker) }
        for blocker in blockers.subtracting(entry.blockers) { dependents[blocker, default: []].insert(id) }
        claims[id]?.blockers = blockers
        claims[id]?.passed = passed
        if passed.isEmpty { passers.remove(id) } else { passers.insert(id) }
        if blockers.isEmpty { attention.insert(id) }
    }

    /// Computes the blockers of claims for which the order of arrival is not enough. Each takes into account the
    /// blockers of the claims before it and the waits independent of arrival. Claims behind it may pass it.
    ///
    /// Only such a claim can be waited for by an earlier one. All other claims wait for the rivals before them, which
    /// stays right as claims come and go.
    mutating func refreshBlockers() {
        let edges = forwardEdges(.possible)
        guard !edges.isEmpty || !passers.isEmpty else { return }
        guard !edges.isEmpty else {
            for id in passers { setBlockers(of: id, above: nil) }
            return
        }
        var concerned = passers.union(edges.map(\.other))
        let (waiting, holders) = (inOrder(ungranted), holdersOfNested)
        var graph = WaitGraph(waiting + holders)
        for edge in edges { graph.add(edge.waiter, waitsFor: edge.other) }
        if !holders.isEmpty {
            for id in waiting { graph.add(id, waitsFor: claims[id]?.blockers.intersection(holders) ?? []) }
        }
        for id in waiting {
            if concerned.remove(id) != nil { setBlockers(of: id, above: graph.waiters(for: id)) }
            if concerned.isEmpty { return }
            graph.add(id, waitsFor: claims[id]?.blockers ?? [])
        }
    }

    mutating func addBlocker(_ blocker: ClaimID, to id: ClaimID) {
        claims[id]?.blockers.insert(blocker)
        dependents[blocker, default: []].insert(id)
    }

    mutating func removeDependent(_ id: ClaimID, of blocker: ClaimID) {
        guard let place = dependents.index(forKey: blocker) else { return }
        dependents.values[place].remove(id)
        if dependents.values[place].isEmpty { dependents.remove(at: place) }
    }

    // MARK: Waits independent of arrival

    /// The certainty that a presenter's answer waits for a claim.
    enum Certainty {
        /// Its client says so, or it is a plain open by the presenter's process.
        case certain
        /// It has the presenter's purpose, so it may be part of the presenter's save.
        case possible
    }

    /// The waits for another reason than the order of arrival. Without them no ring is possible, and no claim may be
    /// passed.
    func forwardEdges(_ certainty: Certainty) -> [ForwardEdge] {
        var edges: [ForwardEdge] = []
        for id in nested {
            // A holder waits for the claims nested in its own.
            for holder in claims[id]?.claim.within ?? [] { edges.append(ForwardEdge(waiter: holder, other: id)) }
        }
        guard !questions.isEmpty, !handled.isEmpty || !plainWaiting.isEmpty || certainty == .possible
        else { return edges }
        var asking: [PresenterID: Set<ClaimID>] = [:]
        for asked in questions.values { asking[asked.presenter, default: []].insert(asked.claim) }
        for (id, askers) in asking {
            guard let presenter = presenters[id] else { continue }
            var others = certainty == .possible ? waitingOfPurpose[presenter.purpose] ?? [] : []
            for other in handled where claims[other]?.claim.handling == id { others.insert(other) }
            for other in plainWaiting {
                if let claim = claims[other]?.claim, answer(of: presenter, waitsFor: claim, .certain) {
                    others.insert(other)
                }
            }
            for other in others {
                for asker in askers where asker != other { edges.append(ForwardEdge(waiter: asker, other: other)) }
            }
        }
        return edges
    }

    /// Granted claims with nested claims.
    private var holdersOfNested: Set<ClaimID> {
        nested.reduce(into: []) { $0.formUnion(claims[$1]?.claim.within ?? []) }
    }

    /// Whether a presenter's answer waits for the claim.
    func answer(of presenter: Presenter, waitsFor claim: Claim, _ certainty: Certainty) -> Bool {
        if claim.handling == presenter.id { return true }
        if certainty == .possible, claim.purpose == presenter.purpose { return true }
        guard claim.isPlain, let actor = claim.actor, let other = presenter.actor else { return false }
        return actor.isKin(of: other)
    }

    // MARK: Rings

    /// The claims that must end or be granted before this one can.
    private func dependencies(of id: ClaimID) -> [ClaimID] {
        guard let entry = claims[id] else { return [] }
        // Its holder waits for the nested claims.
        if entry.isGranted { return inOrder(nested.filter { claims[$0]?.claim.within.contains(id) == true }) }
        var found = entry.blockers
        let asked = questions.values.filter { $0.claim == id }.compactMap { presenters[$0.presenter] }
        for other in handled.union(plainWaiting) where other != id && !asked.isEmpty {
            guard let claim = claims[other]?.claim else { continue }
            if asked.contains(where: { answer(of: $0, waitsFor: claim, .certain) }) { found.insert(other) }
        }
        return inOrder(found)
    }

    /// The chain of claims from one to another, each waiting for the next, both ends included.
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

    /// Breaks one wait that would never end.
    /// - Returns: whether there was one.
    mutating func untie(_ now: Int64) -> Bool {
        let edges = forwardEdges(.certain)
        guard !edges.isEmpty else { return false }
        let waiting = inOrder(ungranted)
        var graph = WaitGraph(waiting + holdersOfNested)
        for edge in edges { graph.add(edge.waiter, waitsFor: edge.other) }
        for id in waiting { graph.add(id, waitsFor: claims[id]?.blockers ?? []) }
        if passOverWaitingPresenters(graph, now) { return true }
        // Every ring goes through one of these.
        guard Set(edges.map(\.other)).contains(where: { graph.isTied($0) }) else { return false }
        return breakRing(graph, waiting)
    }

    /// Skips presenters that wait for the very claim whose question they have: their items are not being changed
    /// meanwhile.
    /// - Returns: whether there was one.
    private mutating func passOverWaitingPresenters(_ graph: WaitGraph, _ now: Int64) -> Bool {
        guard !handled.isEmpty else { return false }
        for (question, asked) in questions.sorted(by: { $0.key < $1.key }) {
            let handling = handled.filter { $0 != asked.claim && claims[$0]?.claim.handling == asked.presenter }
            guard !handling.isEmpty else { continue }
            let waiters = graph.waiters(for: asked.claim)
            guard handling.contains(where: { waiters.contains($0) }) else { continue }
            questions[question] = nil
            claims[asked.claim]?.steps[asked.presenter] = nil
            attention.insert(asked.claim)
            return true
        }
        return false
    }

    /// Fails the youngest claim of a ring, except a plain program's, whose patience ends anyway.
    /// - Returns: whether there was one.
    private mutating func breakRing(_ graph: WaitGraph, _ ungranted: [ClaimID]) -> Bool {
        for id in ungranted.reversed() where graph.isTied(id) {
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
