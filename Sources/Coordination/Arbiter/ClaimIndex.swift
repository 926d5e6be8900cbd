// Where claims are: so that whom a claim excludes, and what a move takes along, is found without going through all.

import VersionModel

/// Claims by the paths and items of their accesses. It finds candidates: whether two exclude one another is
/// ``Arbiter/conflict(_:_:)``'s to say.
struct ClaimIndex: Sendable {
    private var paths: [TreePath: Set<ClaimID>] = [:]
    /// The same paths in the order of their bytes: what is in a directory stands together.
    private var sorted: [TreePath] = []
    private var items: [ItemID: Set<ClaimID>] = [:]
    /// Claims that take trees, by what they take; few, and seldom any.
    private var takers: [TreePath: Set<ClaimID>] = [:]

    mutating func insert(_ entry: Arbiter.Entry) {
        let id = entry.claim.id
        for (access, unit) in zip(entry.claim.accesses, entry.units) {
            if paths[access.path]?.insert(id) == nil {
                paths[access.path] = [id]
                sorted.insert(access.path, at: firstIndex(from: access.path.bytes))
            }
            if let item = access.item { items[item, default: []].insert(id) }
            if access.kind.strength == .takesTree { takers[unit, default: []].insert(id) }
        }
    }

    mutating func remove(_ entry: Arbiter.Entry) {
        let id = entry.claim.id
        for (access, unit) in zip(entry.claim.accesses, entry.units) {
            if Self.remove(id, at: access.path, from: &paths) {
                let index = firstIndex(from: access.path.bytes)
                if index < sorted.count, sorted[index] == access.path { sorted.remove(at: index) }
            }
            if let item = access.item { _ = Self.remove(id, at: item, from: &items) }
            if access.kind.strength == .takesTree { _ = Self.remove(id, at: unit, from: &takers) }
        }
    }

    /// - Returns: whether nothing is left under the key.
    private static func remove<Key>(_ id: ClaimID, at key: Key, from sets: inout [Key: Set<ClaimID>]) -> Bool {
        guard let place = sets.index(forKey: key), sets.values[place].remove(id) != nil, sets.values[place].isEmpty
        else { return false }
        sets.remove(at: place)
        return true
    }

    /// The claims with an access of an item.
    func claims(of item: ItemID) -> Set<ClaimID> { items[item] ?? [] }

    /// The claims with an access of what has a path, or of anything in it.
    func claims(within path: TreePath) -> Set<ClaimID> {
        guard !path.bytes.isEmpty else { return paths.values.reduce(into: []) { $0.formUnion($1) } }
        var found = paths[path] ?? []
        var index = firstIndex(from: path.bytes + [47])
        while index < sorted.count, sorted[index].isWithin(path) {
            found.formUnion(paths[sorted[index]] ?? [])
            index += 1
        }
        return found
    }

    /// The claims that an access may exclude or be excluded by, and perhaps others: sets that may overlap.
    /// - Parameter unit: what the access is on, if that is not its path, a package.
    func candidates(for access: Access, on unit: TreePath, isPackage: Bool) -> [Set<ClaimID>] {
        var found: [Set<ClaimID>] = []
        if isPackage || access.kind.strength == .takesTree {
            found.append(claims(within: unit))
        } else if let same = paths[unit] {
            found.append(same)
        }
        if let item = access.item, let same = items[item], same != found.first { found.append(same) }
        if !takers.isEmpty { found += takers(around: unit) }
        return found
    }

    private func takers(around unit: TreePath) -> [Set<ClaimID>] {
        let depth = unit.bytes.count { $0 == 47 } + 1
        if takers.count <= depth { return takers.filter { unit.isWithin($0.key) }.map(\.value) }
        var found: [Set<ClaimID>] = []
        var names: [FileName] = []
        for name in unit.names {
            names.append(name)
            if let claims = takers[TreePath(names: names)] { found.append(claims) }
        }
        return found
    }

    /// Where the first path is that does not come before these bytes.
    private func firstIndex(from bytes: [UInt8]) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = low + (high - low) / 2
            if sorted[middle].bytes.lexicographicallyPrecedes(bytes) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
