// The effects of passing time: plain programs' opens continue; silent presenters and dead holders are named, then
// skipped.

extension Arbiter {
    /// Handles the passing of time.
    public mutating func tick(now: Int64) -> [Effect] {
        for id in inOrder(plainWaiting) {
            guard let entry = claims[id], let patience = entry.claim.patience, entry.since + patience <= now
            else { continue }
            grant(id, .impatient)
        }
        nameAndRevokePresenters(now)
        for id in inOrder(ungranted) { nameHolders(of: id, now) }
        revokeDead(now)
        return settle(now)
    }

    /// The time of the next necessary ``tick(now:)``; nil while nothing waits.
    public var nextDeadline: Int64? {
        var next: Int64?
        func consider(_ time: Int64) { next = min(next ?? time, time) }
        for asked in questions.values {
            let isNamed = claims[asked.claim]?.named.contains(.presenter(asked.presenter)) ?? true
            if !isNamed { consider(asked.since + limits.notice) }
        }
        for asked in outstanding.values where !revoked.contains(asked.presenter) {
            consider(asked.since + limits.deadline)
        }
        for entry in plainWaiting.lazy.compactMap({ claims[$0] }) {
            if let patience = entry.claim.patience { consider(entry.since + patience) }
        }
        for (holder, waiting) in dependents where !ungranted.contains(holder) {
            guard let held = claims[holder] else { continue }
            for other in waiting {
                guard let entry = claims[other] else { continue }
                guard entry.named.contains(.holder(holder)) else {
                    consider(entry.since + limits.notice)
                    continue
                }
                if let connection = held.claim.connection { consider(pulseDeadline(connection)) }
            }
        }
        return next
    }

    private func pulseDeadline(_ connection: ConnectionID) -> Int64 {
        guard let pulse = pulses[connection] else { return 0 }
        if let asked = pulse.asked { return asked + limits.deadline - limits.notice }
        return (pulse.answered ?? 0) + limits.notice
    }

    private mutating func nameAndRevokePresenters(_ now: Int64) {
        for (_, asked) in questions.sorted(by: { $0.key < $1.key }) {
            if asked.since + limits.notice <= now,
                claims[asked.claim]?.named.insert(.presenter(asked.presenter)).inserted == true
            {
                effects.append(.slow(asked.claim, .presenter(asked.presenter)))
            }
        }
        for (_, asked) in outstanding.sorted(by: { $0.key < $1.key }) {
            guard asked.since + limits.deadline <= now, revoked.insert(asked.presenter).inserted else { continue }
            effects.append(.presenterRevoked(asked.presenter))
            letBe(asked.presenter)
        }
    }

    /// Names the holders to a claim that has waited for a while, and probes whether they run.
    private mutating func nameHolders(of id: ClaimID, _ now: Int64) {
        guard let entry = claims[id], entry.since + limits.notice <= now else { return }
        for holder in inOrder(entry.blockers.subtracting(ungranted)) {
            guard let held = claims[holder] else { continue }
            if claims[id]?.named.insert(.holder(holder)).inserted == true { effects.append(.slow(id, .holder(holder))) }
            guard let connection = held.claim.connection else { continue }
            let pulse = pulses[connection, default: Pulse()]
            guard pulse.asked == nil, pulse.answered.map({ $0 + limits.notice <= now }) ?? true else { continue }
            pulses[connection] = Pulse(asked: now, answered: pulse.answered)
            effects.append(.probe(connection))
        }
    }

    /// Ends the claims of clients that did not answer the probe, if other claims wait for them.
    private mutating func revokeDead(_ now: Int64) {
        let dead = pulses.filter { $0.value.asked.map { $0 + limits.deadline - limits.notice <= now } ?? false }
        for connection in dead.keys.sorted() {
            pulses[connection] = nil
            let ids = claims.values.filter { $0.claim.connection == connection && dependents[$0.claim.id] != nil }
            for id in inOrder(ids.map(\.claim.id)) {
                guard let entry = claims[id] else { continue }
                if entry.isGranted {
                    effects.append(.claimRevoked(entry.claim))
                    end(id)
                } else {
                    fail(id, .unresponsive)
                }
            }
        }
    }

}
