// What versions go back to for their users.

import VersionModel

/// The ancestors of versions in one state of the facts. Each document is read once, for all of its versions.
public struct Ancestry {
    private let facts: Facts
    /// The versions of documents that have successors.
    private var succeeded: [DocumentNumber: Set<VersionNumber>] = [:]

    public init(_ facts: Facts) { self.facts = facts }

    /// A version's parents, and a loser that a user has given up for it. In place of those that are gone, the nearest
    /// before them that remain.
    public mutating func ancestors(of version: VersionRow) -> [VersionNumber] {
        var (pending, found, seen) = (before(version), [VersionNumber](), Set([version.number]))
        while !pending.isEmpty {
            let next = pending.removeFirst()
            guard seen.insert(next).inserted, let row = facts[next] else { continue }
            if row.isForgotten {
                pending = [row.parents.first, row.parents.second].compactMap(\.self) + pending
            } else {
                found.append(next)
            }
        }
        return found
    }

    /// What a version goes back to, whether that remains or not.
    private mutating func before(_ version: VersionRow) -> [VersionNumber] {
        let parents = [version.parents.first, version.parents.second].compactMap(\.self)
        guard let loser = version.loser, facts.isSettled(loser), !parents.contains(loser), !hasSuccessor(loser) else {
            return parents
        }
        return parents + [loser]
    }

    /// Whether a version of its document goes back to this one: its author has gone on from it, or it was merged or
    /// chosen. Its winner is no merge of it then.
    private mutating func hasSuccessor(_ version: VersionNumber) -> Bool {
        guard let document = facts.document(of: version) else { return false }
        if let known = succeeded[document] { return known.contains(version) }
        var found: Set<VersionNumber> = []
        for row in facts.versions(of: document) {
            if let first = row.parents.first { found.insert(first) }
            if let second = row.parents.second { found.insert(second) }
        }
        succeeded[document] = found
        return found.contains(version)
    }

    /// The first of the ancestors of each of these versions, which were forgotten.
    mutating func nearest(before gone: [VersionNumber]) -> [VersionNumber: VersionNumber] {
        var (nearest, isKnown): ([VersionNumber: VersionNumber], Set<VersionNumber>) = ([:], [])
        for number in gone.sorted() {
            isKnown.insert(number)
            guard let row = facts[number] else { continue }
            for parent in before(row) {
                guard let before = facts[parent] else { continue }
                let found = !before.isForgotten ? parent
                    : isKnown.contains(parent) ? nearest[parent] : ancestors(of: before).first
                guard let found else { continue }
                nearest[number] = found
                break
            }
        }
        return nearest
    }
}
