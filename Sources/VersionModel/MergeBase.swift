// From which version two others parted: the base of a three-way merge, found in the graph of an item's versions (DESIGN
// 6.2, 6.3).

/// The nearest common ancestor in a graph of versions.
///
/// Nothing but an ancestor of both will do. Merged with a version that only one side goes back to, what that version
/// has and the other side never had looks as if the other side had taken it out: its lines would be lost.
public enum MergeBase {
    /// The newest version that both go back to; a version goes back to itself.
    ///
    /// - Parameter nodes: what is known of the graph. Of a version that is missing (thinned, purged) it is not known
    ///   what it went back to.
    /// - Returns: nil if they have none in common, or if the nearest may be one that is missing. Then there is nothing
    ///   to merge with.
    public static func of(
        _ one: VersionID, and other: VersionID, in nodes: some Collection<HistoryNode>
    ) -> VersionID? {
        of([one], and: other, in: nodes)
    }

    /// The same for what has been merged from several already: it goes back to whatever one of them goes back to.
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
        // What another shared one goes back to is further away: on the way there all are shared, so that one names it.
        let nearest = shared.subtracting(shared.flatMap { graph[$0]?.parents ?? [] })
        let known = nearest.compactMap { graph[$0] }
        // After a criss-cross there are several, and each would do.
        return known.count == nearest.count ? known.max { $0.givesWay(to: $1) }?.id : nil
    }

    /// From which version each unresolved loser and the current version parted, as far as that is known.
    /// - Parameter versions: all of one item.
    public static func ofConflicts(in versions: some Collection<Version>) -> [VersionID: VersionID] {
        guard let current = versions.first(where: { $0.kind == .current }) else { return [:] }
        let losers = versions.filter { $0.kind == .conflict }
        if losers.isEmpty { return [:] }
        let graph = graph(of: versions.map { HistoryNode($0) })
        let own = ancestors(of: [current.id], in: graph)
        let bases = losers.map { ($0.id, nearest(own, ancestors(of: [$0.id], in: graph), in: graph)) }
        return Dictionary(bases, uniquingKeysWith: { first, _ in first }).compactMapValues { $0 }
    }

    private static func graph(of nodes: some Collection<HistoryNode>) -> [VersionID: HistoryNode] {
        Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Versions and all they go back to.
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
