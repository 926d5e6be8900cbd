// Listing directories under `.versions`.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// An open virtual directory, as it was when its listing began.
final class BrowsedListing: Sendable {
    let node: BrowseNode
    let entries = RankedMutex<[BrowseChild]?>(nil)

    init(node: BrowseNode) { self.node = node }
}

extension Browser {
    public func openDirectory(_ caller: Caller, node id: UInt64) throws(Errno) -> UInt64 {
        let node = try node(id)
        switch node.subject {
        case .version, .socket: throw .notDirectory
        default: return listings.add(BrowsedListing(node: node))
        }
    }

    public func releaseDirectory(node: UInt64, handle: UInt64) { _ = listings.remove(handle) }

    /// Gives entries behind `offset` to `take` until it answers false.
    public func list(
        _ caller: Caller, node id: UInt64, handle: UInt64, offset: off_t, withAttributes: Bool,
        take: (ListedEntry) -> Bool
    ) throws(Errno) {
        guard let open = listings[handle] else { throw .badFileDescriptor }
        let entries = try snapshot(of: open, renew: offset == 0)
        var position = max(0, Int(clamping: offset))
        while position < entries.count + 2 {
            let next = off_t(position + 1)
            if position < 2 {
                guard take(dots(position, open.node, next)) else { return }
            } else if let entry = listed(entries[position - 2], in: open.node, next, withAttributes) {
                guard take(entry) else {
                    if let found = entry.found { forget(found.node, lookups: 1) }
                    return
                }
            }
            position += 1
        }
    }

    private func snapshot(of open: BrowsedListing, renew: Bool) throws(Errno) -> [BrowseChild] {
        if !renew, let known = open.entries.withLock({ $0 }) { return known }
        let entries = try children(of: open.node)
        open.entries.withLock { $0 = entries }
        return entries
    }

    private func dots(_ position: Int, _ node: BrowseNode, _ next: off_t) -> ListedEntry {
        var inode = node.subject.inode(tree.identity)
        if position == 1 { inode = node.parent?.subject.inode(tree.identity) ?? node.directory.file.number }
        return ListedEntry(
            name: position == 0 ? [46] : [46, 46], inode: inode, type: UInt32(S_IFDIR), nextOffset: next)
    }

    /// nil for an entry that vanished since the snapshot.
    private func listed(
        _ child: BrowseChild, in parent: BrowseNode, _ next: off_t, _ withAttributes: Bool
    ) -> ListedEntry? {
        var entry = ListedEntry(
            name: child.name.bytes, inode: child.subject.inode(tree.identity), type: child.type, nextOffset: next)
        guard withAttributes else { return entry }
        guard let found = try? found(child.subject, in: parent.directory, parent: parent) else { return nil }
        entry.found = found
        entry.type = UInt32(found.attributes.stat.st_mode) & UInt32(S_IFMT)
        return entry
    }

    /// `.versions` itself as an entry of the root's listing, for the mount option `list-versions`.
    public func rootEntry(withAttributes: Bool, nextOffset: off_t) -> ListedEntry? {
        let root = tree.nodes.root
        let subject = BrowseSubject.top(root.file)
        var entry = ListedEntry(
            name: Self.name, inode: subject.inode(tree.identity), type: UInt32(S_IFDIR), nextOffset: nextOffset)
        guard withAttributes else { return entry }
        guard let found = try? found(subject, in: root, parent: nil) else { return nil }
        entry.found = found
        return entry
    }
}
