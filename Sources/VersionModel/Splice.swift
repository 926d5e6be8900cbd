// What is left of an item's graph when versions go: those that went back to them go back to what they went back to.

/// Takes versions out of the graph that the parents make, so that everything which remains is related as it was.
///
/// For all versions that remain: one goes back to another exactly if it did before, and ``MergeBase`` finds the same,
/// unless what it would have found is gone. Then it must not find an older one instead (docs/decisions/0014), so the
/// name of a version from which several part stays with them as a parent that is missing.
public enum Splice {
    /// The parents of what remains, of those that named a version that goes.
    ///
    /// - Parameters:
    ///   - gone: the versions that go.
    ///   - nodes: all versions of the item, with those that go.
    public static func parents(
        without gone: Set<VersionID>, in nodes: some Collection<HistoryNode>
    ) -> [VersionID: [VersionID]] {
        var graph = Graph(nodes)
        // The newest first: where a line goes, nothing parts any more from where it began.
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
            let heirs = (children.removeValue(forKey: id) ?? []).subtracting([id])
            // What began with something is not a beginning once that is gone.
            let keepsName = own.isEmpty || heirs.count > 1 && !haveMissingInCommon(heirs, besides: id)
            for parent in own { children[parent]?.remove(id) }
            for heir in heirs { replace(id, by: keepsName ? [id] + own : own, in: heir) }
        }

        private mutating func replace(_ id: VersionID, by own: [VersionID], in heir: VersionID) {
            let others = (parents[heir] ?? []).filter { $0 != id && $0 != heir }
            // Where another way leads to it anyway it need not be named.
            let reached = others.isEmpty ? [] : ancestors(of: others)
            var named: [VersionID] = []
            for parent in parents[heir] ?? [] {
                for parent in parent == id ? own.filter({ !reached.contains($0) && $0 != heir }) : [parent]
                where !named.contains(parent) { named.append(parent) }
            }
            if named.isEmpty { named = [id] }
            parents[heir] = named
            for parent in named { children[parent, default: []].insert(heir) }
            changed.insert(heir)
        }

        /// Whether some name a missing one all alike, which keeps them from being merged as it is.
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
