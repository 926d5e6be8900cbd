// Files that lost their names while somebody had them open for writing.

import Synchronization
import VersionModel

/// What a writer of a nameless file still belongs to.
struct Orphan: Sendable {
    let document: Document
    /// The name that it had.
    let parent: Node
    let name: FileName
    /// The file when it lost its name; nil if it was being changed then.
    var stamp: Stamp?
    /// What the writer started from.
    let base: VersionID?

    /// Whether its content has changed since. Losing the name has changed `st_ctim` by itself.
    func isChanged(_ stat: FileStat) -> Bool {
        stamp.map { $0.size != stat.size || $0.modified != stat.modified } ?? true
    }
}

/// The orphans by node. Lock order: last but for ``Openings``: who else writes is asked with the lock held.
final class Orphans: Sendable {
    private let orphans = Mutex<[UInt64: Orphan]>([:])

    func add(_ orphan: Orphan, _ node: Node) { orphans.withLock { $0[node.id] = orphan } }
    func hold(_ document: Document) -> Bool { orphans.withLock { $0.values.contains { $0.document === document } } }
    func document(of node: Node) -> Document? { orphans.withLock { $0[node.id]?.document } }
    func document(of item: ItemID) -> Document? {
        orphans.withLock { $0.values.first { $0.document.item == item }?.document }
    }
    func take(_ node: Node) -> Orphan? { orphans.withLock { $0.removeValue(forKey: node.id) } }

    /// Adds one unless there is one: a further opening of the file, which is among the open by now, belongs to that.
    func addIfAbsent(_ node: Node, _ make: () -> Orphan?) {
        orphans.withLock { orphans in
            if orphans[node.id] == nil { orphans[node.id] = make() }
        }
    }

    /// Takes it out to be settled, unless `isShared`: asked with the lock held, so that nobody joins in between.
    func take(_ node: Node, unless isShared: () -> Bool) -> Orphan? {
        orphans.withLock { orphans in
            guard orphans[node.id] != nil, !isShared() else { return nil }
            return orphans.removeValue(forKey: node.id)
        }
    }
}
