// Versions that go back to themselves: no save and no resolution makes such a graph, but a former release did.

/// Finds circles in the graph that the parents make. A version in one has no beginning, so nothing that has parted from
/// it has a base (``MergeBase``).
public enum Circles {
    /// The parents by which versions go back to themselves and that are to be given up: those in one circle with the
    /// version that names them which are not older than it. What is left has no circle, since along each there would be
    /// a version at least whose parent is not older.
    ///
    /// - Returns: nothing of versions that may keep all their parents.
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

    /// The versions that are in a circle or come after one: whoever follows their parents need not come to an end.
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
