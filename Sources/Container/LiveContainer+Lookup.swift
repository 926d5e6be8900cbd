// Finding files: look-ups, where a node's file is, its attributes.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// The answer to a look-up.
public struct Found: Sendable {
    public var node: UInt64
    public var attributes: FileAttributes
    /// Seconds for which the kernel may keep the name.
    public var nameValid: Double
}

/// A file's attributes and for how many seconds the kernel may keep them.
public struct FileAttributes: Sendable {
    public var stat: stat
    /// When the file came to be, where the file system below remembers it.
    public var born: timespec?
    public var valid: Double
}

/// How long the kernel may keep what it was told, in seconds. All changes come through the mount, so: long.
enum Validity {
    static let long: Double = 86_400
    /// Attributes: while a mapping may change the file unseen. Names: of a file of several documents.
    static let none: Double = 0
}

extension LiveContainer {
    static let stateName = Array(".versionsfs".utf8)
    static let browseName = Array(".versions".utf8)

    /// For how many seconds the kernel may keep that a name does not exist.
    public static let missingNameValid = Validity.long
    /// A time that stands for the moment of the call (UTIME_NOW).
    public static var timeNow: timespec { timespec(tv_sec: 0, tv_nsec: Int(linux_UTIME_NOW)) }

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

    /// The node with this number; ESTALE if the kernel should not have it.
    func node(_ id: UInt64) throws(Errno) -> Node {
        guard let node = nodes[id] else { throw Errno(rawValue: ESTALE) }
        return node
    }

    /// A directory's descriptor for `at` calls.
    func descriptor(of directory: Node) throws(Errno) -> SharedDescriptor { try directories.descriptor(of: directory) }

    /// Where the node's file is; ENOENT if it is nowhere.
    func location(of node: Node) throws(Errno) -> Location { try directories.location(of: node) }

    /// Finds a name in a directory and counts a look-up.
    public func lookup(_ caller: Caller, parent: UInt64, name bytes: [UInt8]) throws(Errno) -> Found? {
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
            lookups: lookups)
        noteSurvivor(node)
        return node
    }

    /// The file's identity: what the mount shows as `st_ino`.
    func fileID(_ stat: FileStat) -> FileID {
        stat.key == rootKey ? .root : identity.id(device: stat.key.device, inode: stat.key.inode, born: stat.born)
    }

    public func forget(_ id: UInt64, lookups: UInt64) {
        guard let node = nodes.forget(id, lookups: lookups) else { return }
        if node.isDirectory { directories.drop(id) }
        serving.passthrough.dropForgotten(node)
    }

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

    /// The kernel asks for a file's attributes whenever they are wanted, from now on: a mapping may change them unseen.
    /// Called with the writer among the file's. It may be called within a request for the file: no lock of the kernel's
    /// is wanted for attributes alone.
    func endAttributes(of node: Node) {
        guard node.hasLastingAttributes.exchange(false, ordering: .sequentiallyConsistent) else { return }
        serving.passthrough.kernel.side?.invalidate(node: node.id, data: false)
    }

    public func attributes(_ caller: Caller, node id: UInt64, handle: UInt64?) throws(Errno) -> FileAttributes {
        let node = try node(id)
        return attributes(try stat(node, handle: handle), of: node)
    }

    /// The file below as it is now, through an open handle if there is one.
    func stat(_ node: Node, handle: UInt64? = nil) throws(Errno) -> FileStat {
        if let handle, let file = serving.files[handle] { return try Backing.stat(file.descriptor.raw) }
        return try names.reading { () throws(Errno) in try statOwn(node) }
    }
}
