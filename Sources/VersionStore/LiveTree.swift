// The live tree for recovery: existing paths and their FileIDs.

import CLinux
import SystemPackage
import VersionModel

/// Looks below the root without following symbolic links. Caches directories, for one pass.
final class LiveTree {
    let root: FileDescriptor
    let identity: FileIdentity
    private var directories: [TreePath: FileID?] = [:]

    init(root: FileDescriptor, identity: FileIdentity) {
        self.root = root
        self.identity = identity
    }

    /// The status of a path; nil if it does not exist, or a part of the way is no directory.
    func status(_ path: TreePath) -> linux_stat? {
        guard path.names.first?.bytes != Array(StateDirectory.name.utf8) else { return nil }
        if let parent = path.parent, directory(parent) == nil { return nil }
        return try? System.extendedStatus(path.cName, in: root)
    }

    func id(of status: linux_stat) -> FileID {
        identity.id(device: status.device, inode: status.inode, born: status.birth)
    }

    /// The FileID of an existing directory.
    func directory(_ path: TreePath) -> FileID? {
        if path.bytes.isEmpty { return .root }
        if let known = directories[path] { return known }
        let id = status(path).flatMap { $0.isDirectory ? self.id(of: $0) : nil }
        directories[path] = .some(id)
        return id
    }

    /// The rows for a directory's path, without the root's.
    func rows(for path: TreePath) -> [Directory] {
        var rows: [Directory] = []
        var current = path
        while let name = current.name, let parent = current.parent {
            guard let id = directory(current), let above = directory(parent) else { return [] }
            rows.append(Directory(id: id, place: Place(directory: above, name: name)))
            current = parent
        }
        return rows
    }

    /// The place of a path in an existing directory.
    func place(_ path: TreePath) -> Place? {
        guard let name = path.name, let parent = path.parent, let id = directory(parent) else { return nil }
        return Place(directory: id, name: name)
    }

    /// A regular file at the path, in the catalog's form.
    func file(_ path: TreePath) -> (file: Item.LiveFile, status: linux_stat)? {
        guard let status = status(path), status.isRegular else { return nil }
        return (Item.LiveFile(id: id(of: status), size: status.size, modified: status.modification), status)
    }
}
