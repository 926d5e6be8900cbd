// An index of claims by place, so that rivals and moved claims are found without a pass over all claims.

import VersionModel

/// Claims by the paths and items of their accesses. It finds candidates; ``Arbiter/conflict(_:_:)`` decides whether two
/// claims exclude one another.
struct ClaimIndex: Sendable {
    private var paths: [TreePath: Set<ClaimID>] = [:]
    /// The same paths sorted by their bytes, so that the contents of a directory are adjacent.
    private var sorted: [TreePath] = []
    private var items: [ItemID: Set<ClaimID>] = [:]
    /// Claims on whole trees, by the root of the tree; rare.
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

    /// - Returns: whether the key has no claims left.
    private static func remove<Key>(_ id: ClaimID, at key: Key, from sets: inout [Key: Set<ClaimID>]) -> Bool {
        guard let place = sets.index(forKey: key), sets.values[place].remove(id) != nil, sets.values[place].isEmpty
        else { return false }
        sets.remove(at: place)
        return true
    }

    /// The claims with an access to an item.
    func claims(of item: ItemID) -> Set<ClaimID> { items[item] ?? [] }

    /// The claims with an access to a path, or to an item below it.
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

    /// Candidates for the rivals of an access: sets that may overlap and may contain other claims.
    /// - Parameter unit: the unit of the access: its path, or a package around it.
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

    /// The index of the first path that does not precede these bytes.
    private func firstIndex(from bytes: [UInt8]) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = low + (high - low) / 2
            if sorted[middle].bytes.lexicographicallyPrecedes(bytes) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
