// The results of a query and the changes of each step. The daemon keeps no results, so the client does.

import ControlProtocol
import VersionModel

/// The changes of one step of a query.
public struct QueryStep: Sendable {
    /// An entry that differs from its last report.
    public struct Changed: Hashable, Sendable {
        public var item: QueryItem
        /// Its former path, if it has moved.
        public var from: Path?

        public init(item: QueryItem, from: Path? = nil) {
            self.item = item
            self.from = from
        }
    }

    public var added: [QueryItem] = []
    public var changed: [Changed] = []
    public var removed: [QueryItem] = []
    /// The first set is complete with this step.
    public var isGathered = false
    /// The position to continue a live query from; nil while the first set is incomplete.
    public var sequence: UInt64?

    public init(
        added: [QueryItem] = [], changed: [Changed] = [], removed: [QueryItem] = [], isGathered: Bool = false,
        sequence: UInt64? = nil
    ) {
        self.added = added
        self.changed = changed
        self.removed = removed
        self.isGathered = isGathered
        self.sequence = sequence
    }

    public var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty && !isGathered }
}

/// The results of one query. A tree of names, so that a removed directory removes everything below it at once.
public struct QueryResults: Sendable {
    private struct Node: Sendable {
        var item: QueryItem?
        var children: [[UInt8]: Node] = [:]
    }

    private var root = Node()
    /// The former reports of the entries in this step.
    private var before: [Path: QueryItem?] = [:]
    private var isGathered = false
    /// Whether a first set replaces earlier results.
    private var isRepeating = false
    public private(set) var count = 0

    public init() {}

    /// All results, in the order of their paths.
    public var items: [QueryItem] {
        var found: [QueryItem] = []
        found.reserveCapacity(count)
        Self.collect(root) { found.append($0) }
        return found.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
    }

    /// Expects a new first set, because changes were missed: results that do not come again are gone.
    public mutating func beginAgain() {
        remove(Path(""))
        isRepeating = isGathered
        isGathered = false
    }

    /// Takes a page from the daemon.
    /// - Returns: the changes at the end of a step; for the first set after each page.
    public mutating func take(_ piece: QueryResultsNotification) -> QueryStep? {
        for path in piece.gone { remove(path) }
        for path in piece.unmatched { update(path, to: nil) }
        for item in piece.items { update(item.path, to: item) }
        if piece.gathered ?? false {
            (isGathered, isRepeating) = (true, false)
        } else if piece.sequence == nil, isGathered || isRepeating {
            return nil
        }
        var step = finishStep()
        step.isGathered = piece.gathered ?? false
        step.sequence = piece.sequence
        return step
    }

    // MARK: Helpers

    private mutating func finishStep() -> QueryStep {
        var step = QueryStep()
        var gone: [String: [QueryItem]] = [:]
        var appeared: [QueryItem] = []
        for (path, old) in before {
            switch (old, item(at: path)) {
            case (let old?, let now?): if old != now { step.changed.append(QueryStep.Changed(item: now)) }
            case (let old?, nil): gone[old.id, default: []].append(old)
            case (nil, let now?): appeared.append(now)
            case (nil, nil): break
            }
        }
        before = [:]
        // An entry that is gone from one path and new at another was renamed.
        for item in appeared {
            if let old = gone[item.id]?.popLast() {
                step.changed.append(QueryStep.Changed(item: item, from: old.path))
            } else {
                step.added.append(item)
            }
        }
        step.removed = gone.values.flatMap { $0 }
        func inOrder(_ left: QueryItem, _ right: QueryItem) -> Bool {
            left.path.bytes.lexicographicallyPrecedes(right.path.bytes)
        }
        step.added.sort(by: inOrder)
        step.removed.sort(by: inOrder)
        step.changed.sort { inOrder($0.item, $1.item) }
        return step
    }

    /// The result at a path.
    public func item(at path: Path) -> QueryItem? {
        var node = root
        for name in path.bytes.split(separator: 47) {
            guard let next = node.children[Array(name)] else { return nil }
            node = next
        }
        return node.item
    }

    private mutating func note(_ path: Path, _ item: QueryItem?) {
        if before[path] == nil { before[path] = .some(item) }
    }

    private mutating func update(_ path: Path, to item: QueryItem?) {
        let old = self.item(at: path)
        guard old != nil || item != nil else { return }
        note(path, old)
        count += (item == nil ? 0 : 1) - (old == nil ? 0 : 1)
        Self.change(&root, path.bytes.split(separator: 47)[...]) { $0.item = item }
    }

    /// Removes a path with all below it.
    private mutating func remove(_ path: Path) {
        var removed = Node()
        Self.change(&root, path.bytes.split(separator: 47)[...]) { node in
            swap(&removed, &node)
        }
        var items: [QueryItem] = []
        Self.collect(removed) { items.append($0) }
        for item in items { note(item.path, item) }
        count -= items.count
    }

    /// Changes the node at the end of a path and removes it if it is empty afterwards.
    private static func change(
        _ node: inout Node, _ names: ArraySlice<ArraySlice<UInt8>>, _ body: (inout Node) -> Void
    ) {
        guard let first = names.first else { return body(&node) }
        let name = Array(first)
        change(&node.children[name, default: Node()], names.dropFirst(), body)
        if let child = node.children[name], child.item == nil, child.children.isEmpty { node.children[name] = nil }
    }

    private static func collect(_ node: Node, _ body: (QueryItem) -> Void) {
        if let item = node.item { body(item) }
        for child in node.children.values { collect(child, body) }
    }
}
