// The common ancestor of two versions: the base of a three-way merge, found in the graph of an item's versions (DESIGN
// 6.2, 6.3).

/// The nearest common ancestor in a graph of versions.
///
/// Only an ancestor of both is right. With a version that only one side descends from, lines that the other side never
/// had would look deleted by it, and be lost.
public enum MergeBase {
    /// The newest common ancestor. A version counts as its own ancestor.
    ///
    /// - Parameter nodes: the known graph. The ancestors of a missing version (thinned, purged) are unknown.
    /// - Returns: nil if there is no common ancestor, or if the nearest one may be missing. Then a merge is impossible.
    public static func of(
        _ one: VersionID, and other: VersionID, in nodes: some Collection<HistoryNode>
    ) -> VersionID? {
        of([one], and: other, in: nodes)
    }

    /// The same for the merge of several versions: its ancestors are theirs.
    public static func of(
        _ merged: some Collection<VersionID>, and other: VersionID, in nodes: some Collection<HistoryNode>
    ) -> VersionID? {
        let graph = graph(of: nodes)
        return nearest(ancestors(of: merged, in: graph), ancestors(of: [other], in: graph), in: graph)
    }

    private static func nearest(
        _ one: Set<VersionID>, _ other: Set<VersionID>, in graph: [VersionID: HistoryNode]
    ) -> VersionID? {
        let shared = one.intersection(other)
        // Ancestors of a shared one are further away: on the way to them all versions are shared, so one of these names
        // them.
        let nearest = shared.subtracting(shared.flatMap { graph[$0]?.parents ?? [] })
        let known = nearest.compactMap { graph[$0] }
        // After a criss-cross there are several, and each is right.
        return known.count == nearest.count ? known.max { $0.givesWay(to: $1) }?.id : nil
    }

    /// The common ancestor of each unresolved loser and the current version, if it is known.
    /// - Parameter versions: all versions of one item.
    public static func ofConflicts(in versions: some Collection<Version>) -> [VersionID: VersionID] {
        guard let current = versions.first(where: { $0.kind == .current }) else { return [:] }
        let losers = versions.filter { $0.kind == .conflict }
        if losers.isEmpty { return [:] }
        let graph = graph(of: versions.map { HistoryNode($0) })
        let own = ancestors(of: [current.id], in: graph)
        let bases = losers.map { ($0.id, nearest(own, to: $0.id, in: graph)) }
        return Dictionary(bases, uniquingKeysWith: { first, _ in first }).compactMapValues { $0 }
    }

    /// The nearest of some versions and all their ancestors to another version. Most are a step away: a walk up from
    /// there ends at the first of them, and only if it meets several are all ancestors compared.
    private static func nearest(
        _ own: Set<VersionID>, to start: VersionID, in graph: [VersionID: HistoryNode]
    ) -> VersionID? {
        var (met, seen, pending): (Set<VersionID>, Set<VersionID>, [VersionID]) = ([], [], [start])
        while let next = pending.popLast() {
            guard seen.insert(next).inserted else { continue }
            if own.contains(next) { met.insert(next) } else { pending += graph[next]?.parents ?? [] }
        }
        if let only = met.first, met.count == 1 { return graph[only] == nil ? nil : only }
        return nearest(own, ancestors(of: [start], in: graph), in: graph)
    }

    private static func graph(of nodes: some Collection<HistoryNode>) -> [VersionID: HistoryNode] {
        Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Versions and all their ancestors.
    private static func ancestors(
        of starts: some Collection<VersionID>, in graph: [VersionID: HistoryNode]
    ) -> Set<VersionID> {
        var found: Set<VersionID> = []
        var pending = Array(starts)
        while let next = pending.popLast() {
            guard found.insert(next).inserted else { continue }
            pending += graph[next]?.parents ?? []
        }
        return found
    }
}
