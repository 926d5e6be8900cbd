// The claims that exclude one another, in either order of arrival.

import VersionModel

extension Arbiter {
    /// Whether two claims exclude one another, in either order.
    func conflict(_ one: Entry, _ other: Entry) -> Bool {
        if one.claim.isPreparation || other.claim.isPreparation { return false }
        if let purpose = one.claim.purpose, purpose == other.claim.purpose { return false }
        // Plain programs take turns by separate rules (``WriterClaims``).
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

    /// Whether one process is the other, or of its lineage.
    static func areKin(_ one: Claim, _ other: Claim) -> Bool {
        guard let first = one.actor, let second = other.actor else { return false }
        return first.isKin(of: second)
    }

    /// The claims that a claim excludes, or that exclude it.
    func findRivals(of entry: Entry) -> Set<ClaimID> {
        var rivals: Set<ClaimID> = []
        for (access, unit) in zip(entry.claim.accesses, entry.units) {
            let isPackage = unit.name.map { packages.isPackage($0) } ?? false
            for candidates in index.candidates(for: access, on: unit, isPackage: isPackage) {
                rivals.reserveCapacity(candidates.count)
                let isFirst = rivals.isEmpty
                for other in candidates where other != entry.claim.id && (isFirst || !rivals.contains(other)) {
                    guard let place = claims.index(forKey: other), conflict(claims.values[place], entry)
                    else { continue }
                    rivals.insert(other)
                }
            }
        }
        return rivals
    }

    /// Computes a claim's rivals: at its arrival, and after its item has moved.
    /// - Returns: the other claims with a change in their rivals.
    @discardableResult
    mutating func setRivals(of id: ClaimID) -> Set<ClaimID> {
        guard let entry = claims[id] else { return [] }
        let rivals = findRivals(of: entry)
        guard rivals != entry.rivals else { return [] }
        let changed = entry.rivals.isEmpty ? rivals : entry.rivals.symmetricDifference(rivals)
        for other in changed {
            guard let place = claims.index(forKey: other) else { continue }
            if rivals.contains(other) {
                claims.values[place].rivals.insert(id)
            } else {
                claims.values[place].rivals.remove(id)
            }
        }
        claims[id]?.rivals = rivals
        return changed
    }

    /// The same after claims have moved. It also computes the blockers of these claims and of all affected ones.
    mutating func setRivals(ofAll ids: some Sequence<ClaimID>) {
        var changed: Set<ClaimID> = []
        for id in ids {
            let others = setRivals(of: id)
            guard !others.isEmpty else { continue }
            changed.formUnion(others)
            changed.insert(id)
        }
        for id in changed where ungranted.contains(id) { setBlockers(of: id, above: nil) }
    }
}
