// The graph of an item after the removal of versions: their children get their parents.

/// Removes versions from the graph of the parents and keeps the relations of all remaining versions.
///
/// For all remaining versions: one descends from another exactly if it did before, and ``MergeBase`` finds the same
/// version, unless that one is removed. Then it must not find an older one instead (docs/decisions/0014), so the
/// children of a branching point keep its name as a missing parent.
public enum Splice {
    /// The new parents of remaining versions that named a removed one.
    ///
    /// - Parameters:
    ///   - gone: the removed versions.
    ///   - nodes: all versions of the item, including the removed ones.
    public static func parents(
        without gone: Set<VersionID>, in nodes: some Collection<HistoryNode>
    ) -> [VersionID: [VersionID]] {
        var graph = Graph(nodes)
        // The newest first: after the removal of a line, its start is no branching point any more.
        let going = nodes.filter { gone.contains($0.id) }.sorted { $1.givesWay(to: $0) }
        for node in going { graph.remove(node.id) }
        return graph.parents.filter { graph.changed.contains($0.key) }
    }

    private struct Graph {
        var parents: [VersionID: [VersionID]]
        var children: [VersionID: Set<VersionID>] = [:]
        var changed: Set<VersionID> = []

        init(_ nodes: some Collection<HistoryNode>) {
            parents = Dictionary(nodes.map { ($0.id, $0.parents) }, uniquingKeysWith: { first, _ in first })
            for (id, named) in parents { for parent in named { children[parent, default: []].insert(id) } }
        }

        mutating func remove(_ id: VersionID) {
            guard let own = parents.removeValue(forKey: id)?.filter({ $0 != id }) else { return }
            let successors = (children.removeValue(forKey: id) ?? []).subtracting([id])
            // The children of a first version must not become first versions.
            let keepsName = own.isEmpty || successors.count > 1 && !haveMissingInCommon(successors, besides: id)
            for parent in own { children[parent]?.remove(id) }
            for successor in successors { replace(id, by: keepsName ? [id] + own : own, in: successor) }
        }

        private mutating func replace(_ id: VersionID, by own: [VersionID], in successor: VersionID) {
            let others = (parents[successor] ?? []).filter { $0 != id && $0 != successor }
            // A parent that another way leads to need not be named.
            let reached = others.isEmpty ? [] : ancestors(of: others)
            var named: [VersionID] = []
            for parent in parents[successor] ?? [] {
                for parent in parent == id ? own.filter({ !reached.contains($0) && $0 != successor }) : [parent]
                where !named.contains(parent) { named.append(parent) }
            }
            if named.isEmpty { named = [id] }
            parents[successor] = named
            for parent in named { children[parent, default: []].insert(successor) }
            changed.insert(successor)
        }

        /// Whether all of these versions name one missing version, which already prevents their merge.
        private func haveMissingInCommon(_ versions: Set<VersionID>, besides id: VersionID) -> Bool {
            guard let first = versions.first else { return false }
            let missing = (parents[first] ?? []).filter { parents[$0] == nil && $0 != id }
            return missing.contains { name in versions.allSatisfy { parents[$0]?.contains(name) ?? false } }
        }

        private func ancestors(of starts: [VersionID]) -> Set<VersionID> {
            var found: Set<VersionID> = []
            var pending = starts
            while let next = pending.popLast() {
                if found.insert(next).inserted { pending += parents[next] ?? [] }
            }
            return found
        }
    }
}
