// Opening, listing and synchronizing directories.

import Glibc
import SystemPackage
import Synchronization
import VersionModel
import VersionStore

/// A directory as it was when its listing began.
final class OpenDirectory: Sendable {
    let node: Node
    /// Taken at the first read, so that a listing is whole whatever happens meanwhile.
    let entries = RankedMutex<[RawEntry]?>(nil)

    init(node: Node) { self.node = node }
}

/// The open directories by handle. Lock order: last.
final class OpenDirectoryTable: Sendable {
    private struct State {
        var directories: [UInt64: OpenDirectory] = [:]
        var next: UInt64 = 1
    }
    private let state = RankedMutex(State())

    subscript(handle: UInt64) -> OpenDirectory? { state.withLock { $0.directories[handle] } }

    func add(_ directory: OpenDirectory) -> UInt64 {
        state.withLock { state in
            state.directories[state.next] = directory
            state.next += 1
            return state.next - 1
        }
    }

    func remove(_ handle: UInt64) { state.withLock { _ = $0.directories.removeValue(forKey: handle) } }
}

/// One entry of a listing.
public struct ListedEntry {
    public var name: [UInt8]
    /// The inode number that the mount shows.
    public var inode: UInt64
    /// `st_mode & S_IFMT`
    public var type: UInt32
    /// Where the listing goes on behind this entry.
    public var nextOffset: off_t
    /// The looked-up node, if that was asked for; its look-up counts if the entry is taken.
    public var found: Found?
}

/// The requests for directories, which change nothing.
final class DirectoryRequests: Sendable {
    private let tree: LiveTree
    private let passthrough: Passthrough
    private let store: ContainerState
    private let opened = OpenDirectoryTable()

    /// - Parameter store: its contents have to be durable before a directory is.
    init(_ tree: LiveTree, passthrough: Passthrough, store: ContainerState) {
        (self.tree, self.passthrough, self.store) = (tree, passthrough, store)
    }

    /// - Returns: the handle.
    func open(_ id: UInt64) throws(Errno) -> UInt64 {
        let node = try tree.node(id)
        guard node.isDirectory else { throw .notDirectory }
        return opened.add(OpenDirectory(node: node))
    }

    func release(_ handle: UInt64) { opened.remove(handle) }

    /// Whether the kernel may keep a directory's listing: every change of it comes through the mount.
    func mayCacheListing(_ id: UInt64) -> Bool { tree.nodes[id].map { !$0.isForeign } ?? false }

    /// Gives entries behind `offset` to `take` until it answers false.
    func list(
        _ handle: UInt64, offset: off_t, withAttributes: Bool, take: (ListedEntry) -> Bool
    ) throws(Errno) {
        guard let open = opened[handle] else { throw .badFileDescriptor }
        let node = open.node
        try tree.names.reading { () throws(Errno) in
            let directory = try tree.descriptor(of: node)
            let entries = try snapshot(of: open, directory, renew: offset == 0)
            var position = Int(clamping: offset)
            while position < entries.count + 2 {
                let next = off_t(position + 1)
                if position < 2 {
                    guard take(dots(position, node, next)) else { return }
                } else if let entry = listed(entries[position - 2], node, directory, next, withAttributes) {
                    guard take(entry) else {
                        if let found = entry.found { forget(found) }
                        return
                    }
                }
                position += 1
            }
        }
    }

    private func forget(_ found: Found) {
        if let node = tree.forget(found.node, lookups: 1) { passthrough.dropForgotten(node) }
    }

    private func snapshot(of open: OpenDirectory, _ directory: SharedDescriptor, renew: Bool) throws(Errno)
        -> [RawEntry]
    {
        if !renew, let known = open.entries.withLock({ $0 }) { return known }
        var entries = try Backing.list(directory.raw)
        if open.node.id == Node.rootID || open.node.isNested {
            entries.removeAll { $0.name.bytes == LiveTree.stateName }
        }
        open.entries.withLock { $0 = entries }
        return entries
    }

    private func dots(_ position: Int, _ node: Node, _ next: off_t) -> ListedEntry {
        let inode = position == 0 ? node.file : tree.nodes.location(node).name?.parent.file ?? node.file
        return ListedEntry(
            name: position == 0 ? [46] : [46, 46], inode: inode.number, type: UInt32(S_IFDIR), nextOffset: next)
    }

    /// nil for an entry that vanished since the snapshot.
    private func listed(
        _ entry: RawEntry, _ parent: Node, _ directory: SharedDescriptor, _ next: off_t, _ withAttributes: Bool
    ) -> ListedEntry? {
        let key = BackingKey(device: parent.key.device, inode: entry.inode)
        if !withAttributes, entry.type != 0, let known = tree.nodes.node(key), known.type == entry.type {
            return ListedEntry(
                name: entry.name.bytes, inode: known.file.number, type: entry.type, nextOffset: next)
        }
        // The kernel is not told again of a file that it knows under this name.
        if withAttributes, entry.type != 0,
            let known = tree.nodes.file(key, type: entry.type, as: entry.name, in: parent)
        {
            return ListedEntry(name: entry.name.bytes, inode: known.number, type: entry.type, nextOffset: next)
        }
        guard let stat = try? Backing.stat(entry.name.bytes, in: directory.raw) else { return nil }
        let found = withAttributes ? tree.found(stat, as: Node.Name(parent: parent, name: entry.name)) : nil
        return ListedEntry(
            name: entry.name.bytes, inode: tree.fileID(stat).number, type: stat.type, nextOffset: next, found: found)
    }

    func synchronize(_ id: UInt64) throws(Errno) {
        let node = try tree.node(id)
        let file = try tree.names.reading { () throws(Errno) in
            let directory = try tree.descriptor(of: node)
            return SharedDescriptor(try Backing.open(path: ".", in: directory.raw, flags: O_RDONLY | O_DIRECTORY))
        }
        try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(file.raw) } }
    }
}
