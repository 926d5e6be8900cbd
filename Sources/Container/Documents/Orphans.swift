// Files that lost their names while they were open for writing.

import Synchronization
import VersionModel

/// The former document of a nameless file's writer.
struct Orphan: Sendable {
    let document: Document
    /// The directory of its former name.
    let parent: Node
    let name: FileName
    /// The file's stamp when it lost its name; nil if it was being changed then.
    var stamp: Stamp?
    /// The version that the writer started from.
    let base: VersionID?

    /// Whether its content has changed since. The loss of the name itself changes `st_ctim`.
    func isChanged(_ stat: FileStat) -> Bool {
        stamp.map { $0.size != stat.size || $0.modified != stat.modified } ?? true
    }
}

/// The orphans by node. Lock order: last except for ``Openings``: the search for other writers holds the lock.
final class Orphans: Sendable {
    private let orphans = RankedMutex<[UInt64: Orphan]>([:], .orphans)

    func add(_ orphan: Orphan, _ node: Node) { orphans.withLock { $0[node.id] = orphan } }
    func hold(_ document: Document) -> Bool { orphans.withLock { $0.values.contains { $0.document === document } } }
    func document(of node: Node) -> Document? { orphans.withLock { $0[node.id]?.document } }
    func document(of item: ItemID) -> Document? {
        orphans.withLock { $0.values.first { $0.document.item == item }?.document }
    }
    func take(_ node: Node) -> Orphan? { orphans.withLock { $0.removeValue(forKey: node.id) } }

    /// Adds one if there is none: a further opening of the file, which is already among the open ones, shares it.
    func addIfAbsent(_ node: Node, _ make: () -> Orphan?) {
        orphans.withLock { orphans in
            if orphans[node.id] == nil { orphans[node.id] = make() }
        }
    }

    /// Removes it for its last save, unless `isShared`: called with the lock held, so that no opening joins in between.
    func take(_ node: Node, unless isShared: () -> Bool) -> Orphan? {
        orphans.withLock { orphans in
            guard orphans[node.id] != nil, !isShared() else { return nil }
            return orphans.removeValue(forKey: node.id)
        }
    }
}
