// The version in the file: a pure function of an item's heads, the same on every device (DESIGN 6.2).

/// A version as a node of an item's graph, or a deletion of the item.
public struct HistoryNode: Hashable, Sendable {
    public var id: VersionID
    public var parents: [VersionID]
    public var time: HybridTime
    public var device: DeviceID
    /// Whether the item was deleted. An edit wins over a deletion.
    public var isDeletion: Bool
    /// Whether its content is empty.
    public var isEmpty: Bool

    public init(
        id: VersionID, parents: [VersionID], time: HybridTime, device: DeviceID, isDeletion: Bool, isEmpty: Bool
    ) {
        self.id = id
        self.parents = parents
        self.time = time
        self.device = device
        self.isDeletion = isDeletion
        self.isEmpty = isEmpty
    }

    /// The node of a version.
    public init(_ version: Version) {
        self.init(
            id: version.id, parents: version.parents, time: version.time, device: version.device, isDeletion: false,
            isEmpty: version.size == 0)
    }

    /// A new file without a write yet.
    fileprivate var isEmptyCreation: Bool { isEmpty && parents.isEmpty && !isDeletion }

    /// Whether this node gives way to the other. A total order: empty creations rank below all contents, so that three
    /// heads never form a ring.
    func givesWay(to other: HistoryNode) -> Bool {
        if isDeletion != other.isDeletion { return isDeletion }
        if isEmptyCreation != other.isEmptyCreation { return isEmptyCreation }
        return (time, device, id) < (other.time, other.device, other.id)
    }
}

/// The graph of an item's versions.
public enum HeadRule {
    /// The nodes that are no other node's parent. More than one is a conflict.
    public static func heads(of nodes: some Collection<HistoryNode>) -> [HistoryNode] {
        let superseded = Set(nodes.flatMap(\.parents))
        return nodes.filter { !superseded.contains($0.id) }
    }

    /// The head in the file; nil only without heads. It is a deletion only if all heads are.
    public static func current(of heads: some Collection<HistoryNode>) -> HistoryNode? {
        heads.max { $0.givesWay(to: $1) }
    }

    /// Whether a version descends from another, along the known parents.
    public static func goesBack(
        _ version: VersionID, to ancestor: VersionID, in nodes: some Collection<HistoryNode>
    ) -> Bool {
        let graph = Dictionary(nodes.map { ($0.id, $0.parents) }, uniquingKeysWith: { first, _ in first })
        var found: Set<VersionID> = []
        var pending = graph[version] ?? []
        while let next = pending.popLast() {
            if next == ancestor { return true }
            if found.insert(next).inserted { pending += graph[next] ?? [] }
        }
        return false
    }
}
