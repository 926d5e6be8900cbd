// The live tree below the mount: which file a name stands for, where a node's file is, what it looks like.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// The root with the nodes that the kernel has looked up, and the lock of its names. It knows nothing of documents.
final class LiveTree: Sendable {
    static let stateName = Array(".versionsfs".utf8)
    static let browseName = Array(".versions".utf8)

    let root: SharedDescriptor
    let rootKey: BackingKey
    let identity: FileIdentity
    /// Held for each request that uses or changes names; the first of the container's locks.
    let names = ReadWriteLock()
    let nodes: NodeTable
    let directories: DirectoryDescriptors
    /// Whether requests come from other users than the daemon's: new files are then given to the caller's user.
    let servesOthers: Bool
    let survivors: Survivors

    /// - Parameters:
    ///   - root: stays the caller's to close.
    ///   - heldDirectories: how many directories' descriptors are kept at hand.
    ///   - survivors: hears of the files that are looked up.
    init(
        root: FileDescriptor, store: ContainerState, servesOthers: Bool, heldDirectories: Int, survivors: Survivors
    ) throws(Errno) {
        let stat = try Backing.stat(root.rawValue)
        let descriptor = try Backing.open(path: ".", in: root.rawValue, flags: linux_O_PATH | O_DIRECTORY)
        self.root = SharedDescriptor(descriptor)
        rootKey = stat.key
        identity = FileIdentity(container: store.identity.container, rootDevice: stat.key.device)
        nodes = NodeTable(root: stat)
        directories = DirectoryDescriptors(root: self.root, nodes: nodes, store: store, capacity: heldDirectories)
        (self.servesOthers, self.survivors) = (servesOthers, survivors)
    }

    // MARK: Names

    /// A name as a request may use it in a directory; the state directory does not exist for anyone, and `.versions`
    /// cannot be made, removed or renamed (DESIGN 3.2).
    /// - Parameter takesAway: it is to go from there: one that the directory had before it was mounted may.
    func name(
        _ bytes: [UInt8], in parent: Node, forChange: Bool = false, takesAway: Bool = false
    ) throws(Errno) -> FileName {
        guard bytes.count <= 255 else { throw .fileNameTooLong }
        guard let name = FileName(bytes: bytes) else { throw .invalidArgument }
        if parent.id == Node.rootID || parent.isNested, bytes == Self.stateName {
            throw forChange ? .permissionDenied : .noSuchFileOrDirectory
        }
        if forChange, bytes == Self.browseName, !takesAway || !hasOwnBrowseName(parent) { throw .permissionDenied }
        return name
    }

    /// Whether a directory has its own `.versions`, from before the mount, which then has precedence.
    private func hasOwnBrowseName(_ parent: Node) -> Bool {
        let found = try? names.reading { () throws(Errno) in
            let directory = try descriptor(of: parent)
            return try Backing.statIfPresent(Self.browseName, in: directory.raw)
        }
        return (found ?? nil) != nil
    }

    /// The path of a name in a directory, for people.
    func path(of name: FileName, in parent: Node) -> TreePath {
        (nodes.path(parent) ?? .root).appending(name)
    }

    // MARK: Nodes

    /// The node with this number; ESTALE if the kernel should not have it.
    func node(_ id: UInt64) throws(Errno) -> Node {
        guard let node = nodes[id] else { throw Errno(rawValue: ESTALE) }
        return node
    }

    /// A directory's descriptor for `at` calls.
    func descriptor(of directory: Node) throws(Errno) -> SharedDescriptor { try directories.descriptor(of: directory) }

    /// Where the node's file is; ENOENT if it is nowhere.
    func location(of node: Node) throws(Errno) -> Location { try directories.location(of: node) }

    /// Whether a node's file has its versions here, and still a name.
    func isLive(_ node: Node) -> Bool {
        if case .live = nodes.location(node).whereabouts { return !node.isForeign }
        return false
    }

    /// Finds a name in a directory and counts a look-up; nil if there is no such name.
    func lookup(parent: UInt64, name bytes: [UInt8]) throws(Errno) -> Found? {
        let parent = try node(parent)
        let name = try name(bytes, in: parent)
        return try names.reading { () throws(Errno) in
            let directory = try descriptor(of: parent)
            guard let stat = try Backing.statIfPresent(name.bytes, in: directory.raw) else { return nil }
            return found(stat, as: Node.Name(parent: parent, name: name))
        }
    }

    /// Makes the node of a file that was found under a name, with one look-up.
    func found(_ stat: FileStat, as name: Node.Name) -> Found {
        let node = intern(stat, as: name, lookups: 1)
        return Found(node: node.id, attributes: attributes(stat, of: node), nameValid: Validity.long)
    }

    /// The node of a file that was found under a name.
    func intern(_ stat: FileStat, as name: Node.Name, lookups: UInt64) -> Node {
        let node = nodes.intern(
            stat.key, file: fileID(stat), type: stat.type, standing: standing(of: stat, name), as: name,
            lookups: lookups, links: stat.links)
        survivors.lookedUp(node, nodes)
        return node
    }

    /// The file's identity: what the mount shows as `st_ino`.
    func fileID(_ stat: FileStat) -> FileID {
        stat.key == rootKey ? .root : identity.id(device: stat.key.device, inode: stat.key.inode, born: stat.born)
    }

    /// Takes look-ups back.
    /// - Returns: the node if the kernel does not know it any more.
    func forget(_ id: UInt64, lookups: UInt64) -> Node? {
        guard let node = nodes.forget(id, lookups: lookups) else { return nil }
        if node.isDirectory { directories.drop(id) }
        return node
    }

    // MARK: Attributes

    /// Attributes as the mount shows them.
    func attributes(_ stat: FileStat, of node: Node) -> FileAttributes {
        var links = stat.links
        var stat = stat
        switch nodes.whereabouts(node, seen: stat) {
        case .live: if node.id == Node.rootID { links -= min(links, 1) }
        // The name that is left is ours.
        case .kept, .deleted:
            links = node.isDirectory ? 0 : links - min(links, 1)
            // ext4 empties a directory that it removes.
            if node.isDirectory { stat.raw.size = 0 }
        case .gone: break
        }
        return FileAttributes(
            stat: stat.posix(inode: node.file.number, links: links), born: stat.raw.has_born != 0 ? stat.raw.born : nil,
            valid: validity(of: node))
    }

    /// For how long the kernel may keep attributes that were just looked at.
    private func validity(of node: Node) -> Double {
        // Noted before the writers are looked at: a writer that comes after that sees the note.
        if !node.isRegular { return Validity.long }
        node.hasLastingAttributes.store(true, ordering: .sequentiallyConsistent)
        return node.mayChange ? Validity.none : Validity.long
    }

    /// The node's own file as it is now.
    func stat(_ node: Node) throws(Errno) -> FileStat {
        try names.reading { () throws(Errno) in try statOwn(node) }
    }
}
