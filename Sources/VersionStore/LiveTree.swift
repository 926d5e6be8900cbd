// The live tree as recovery looks at it: which paths exist, and which FileIDs they have.

import CLinux
import SystemPackage
import VersionModel

/// Looks below the root without following symbolic links. Remembers directories; made for one pass.
final class LiveTree {
    let root: FileDescriptor
    let identity: FileIdentity
    private var directories: [TreePath: FileID?] = [:]

    init(root: FileDescriptor, identity: FileIdentity) {
        self.root = root
        self.identity = identity
    }

    /// What is at a path; nil if nothing is, or a part of the way is not a directory.
    func status(_ path: TreePath) -> linux_stat? {
        guard path.names.first?.bytes != Array(StateDirectory.name.utf8) else { return nil }
        if let parent = path.parent, directory(parent) == nil { return nil }
        return try? System.extendedStatus(path.cName, in: root)
    }

    func id(of status: linux_stat) -> FileID {
        identity.id(device: status.device, inode: status.inode, born: status.birth)
    }

    /// The FileID of a directory that exists.
    func directory(_ path: TreePath) -> FileID? {
        if path.bytes.isEmpty { return .root }
        if let known = directories[path] { return known }
        let id = status(path).flatMap { $0.isDirectory ? self.id(of: $0) : nil }
        directories[path] = .some(id)
        return id
    }

    /// The rows that give a directory its path, the root's excepted.
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

    /// The place of a path whose directory exists.
    func place(_ path: TreePath) -> Place? {
        guard let name = path.name, let parent = path.parent, let id = directory(parent) else { return nil }
        return Place(directory: id, name: name)
    }

    /// A regular file at the path, as the catalog records it.
    func file(_ path: TreePath) -> (file: Item.LiveFile, status: linux_stat)? {
        guard let status = status(path), status.isRegular else { return nil }
        return (Item.LiveFile(id: id(of: status), size: status.size, modified: status.modification), status)
    }
}
