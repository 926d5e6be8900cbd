// Deleted entries as people think of them: a directory, and what went with it.

import ArgumentParser
import ControlProtocol
import VersionModel

/// In what order deleted entries are listed.
enum DeletedOrder: String, CaseIterable, ExpressibleByArgument {
    case time, name, size
}

/// A deleted entry with those that were deleted along with it from below it.
struct DeletedNode: Hashable, Sendable {
    var entry: DeletedEntry
    var children: [DeletedNode] = []
    /// How many entries lie below it, how many of those are directories, and how long the files among them are.
    var count = 0
    var directories = 0
    var size: UInt64 = 0

    /// What sorting by size looks at.
    private var total: UInt64 { entry.type == .directory ? size : entry.size }

    // MARK: Building

    /// The entries, those below a directory of the same group at that directory.
    /// - Parameter opened: what the listing is about. If it is a deleted directory itself, its entries are listed.
    static func nodes(_ entries: [DeletedEntry], opened: Path? = nil) -> [DeletedNode] {
        var nodes: [DeletedNode] = []
        for group in Dictionary(grouping: entries, by: \.group).values {
            for node in grouped(group) {
                if node.entry.path == opened { nodes += node.children }
                var top = node
                if node.entry.path == opened { top.children = [] }
                nodes.append(top)
            }
        }
        return nodes
    }

    private static func grouped(_ entries: [DeletedEntry]) -> [DeletedNode] {
        // What lies in a directory goes before it does.
        let entries = entries.sorted { one, other in
            one.deleted == other.deleted ? one.path.bytes.count > other.path.bytes.count : one.deleted < other.deleted
        }
        var children: [[Int]] = Array(repeating: [], count: entries.count)
        var isTaken = Array(repeating: false, count: entries.count)
        var waiting: [Path: [Int]] = [:]
        for (index, entry) in entries.enumerated() {
            if entry.type == .directory {
                children[index] = (waiting.removeValue(forKey: entry.path) ?? []).filter { !isTaken[$0] }
                for child in children[index] { isTaken[child] = true }
            }
            let bytes = entry.path.bytes
            for place in bytes.indices where bytes[place] == 47 {
                waiting[Path(bytes: bytes[..<place]), default: []].append(index)
            }
        }
        var nodes: [DeletedNode] = []
        for (index, entry) in entries.enumerated() {
            var node = DeletedNode(entry: entry)
            // Children come before their directory.
            node.children = children[index].map { nodes[$0] }
            for child in node.children {
                node.count += 1 + child.count
                node.directories += (child.entry.type == .directory ? 1 : 0) + child.directories
                node.size = sum(node.size, sum(child.size, child.entry.type == .file ? child.entry.size : 0))
            }
            nodes.append(node)
        }
        return nodes.indices.filter { !isTaken[$0] }.map { nodes[$0] }
    }

    private static func sum(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = one.addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    // MARK: Order

    /// The nodes in an order, each with those below it behind it if all are asked for.
    static func listed(_ nodes: [DeletedNode], _ order: DeletedOrder, showsAll: Bool) -> [DeletedNode] {
        nodes.sorted { isBefore($0, $1, order) }.flatMap { node in
            [node] + (showsAll ? listed(node.children, order, showsAll: true) : [])
        }
    }

    private static func isBefore(_ one: DeletedNode, _ other: DeletedNode, _ order: DeletedOrder) -> Bool {
        let (first, second) = (one.entry, other.entry)
        if order == .size, one.total != other.total { return one.total > other.total }
        if order != .time, first.path != second.path {
            return first.path.bytes.lexicographicallyPrecedes(second.path.bytes)
        }
        if first.deleted != second.deleted { return first.deleted > second.deleted }
        if first.path != second.path { return first.path.bytes.lexicographicallyPrecedes(second.path.bytes) }
        return first.id.hex < second.id.hex
    }
}
