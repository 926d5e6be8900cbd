// Versions that are their own ancestors: no save and no resolution makes such a graph, but a former release did.

/// Finds circles in the graph of the parents. A version in a circle has no beginning, so versions after it have no base
/// (``MergeBase``).
public enum Circles {
    /// The parents to remove so that no version is its own ancestor: a parent in one circle with its child that is not
    /// older than the child. The rest has no circle, because each circle has at least one version whose parent is not
    /// older.
    ///
    /// - Returns: no entry for versions that keep all their parents.
    public static func parents(in nodes: some Collection<HistoryNode>) -> [VersionID: Set<VersionID>] {
        let known = Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let suspects = withoutBeginning(known)
        if suspects.isEmpty { return [:] }
        var found: [VersionID: Set<VersionID>] = [:]
        for id in suspects {
            guard let node = known[id] else { continue }
            let later = node.parents.filter { parent in
                guard suspects.contains(parent), let other = known[parent], !other.givesWay(to: node)
                else { return false }
                return parent == id || HeadRule.goesBack(parent, to: id, in: nodes)
            }
            if !later.isEmpty { found[id] = Set(later) }
        }
        return found
    }

    /// The versions in a circle or after one: a walk along their parents need not end.
    private static func withoutBeginning(_ known: [VersionID: HistoryNode]) -> Set<VersionID> {
        var open = known.mapValues { node in Set(node.parents).filter { known[$0] != nil }.count }
        var children: [VersionID: [VersionID]] = [:]
        for node in known.values { for parent in Set(node.parents) { children[parent, default: []].append(node.id) } }
        var ready = open.filter { $0.value == 0 }.map(\.key)
        while let next = ready.popLast() {
            open[next] = nil
            for child in children[next] ?? [] {
                guard let left = open[child] else { continue }
                open[child] = left - 1
                if left == 1 { ready.append(child) }
            }
        }
        return Set(open.keys)
    }
}
