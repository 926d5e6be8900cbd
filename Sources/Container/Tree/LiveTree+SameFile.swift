// A call is carried out on the very file that the kernel has looked up. Its name may stand for another one by now: with
// `-o source-open`, an old working directory or a second mount namespace programs reach the tree below.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension LiveTree {
    /// The node's own file, as a descriptor (O_PATH) with an empty path behind it. Called with the name lock held.
    /// - Throws: ESTALE if another file has its name: the kernel looks the name up again.
    func ownFile(of node: Node) throws(Errno) -> Location {
        let place = try location(of: node)
        guard !place.path.isEmpty else { return place }
        let flags = linux_O_PATH | O_NOFOLLOW
        let file = SharedDescriptor(try Backing.open(place.path, in: place.directory.raw, flags: flags))
        return try withExtendedLifetime(file) { () throws(Errno) in
            try requireSame(try Backing.stat(file.raw), as: node)
            return Location(directory: file, path: [])
        }
    }

    /// Opens the node's own file; for a regular file or a directory.
    func openOwn(_ node: Node, flags: Int32) throws(Errno) -> SharedDescriptor {
        try withOwn(node) { file throws(Errno) in SharedDescriptor(try Backing.open([], in: file, flags: flags)) }
    }

    /// The same for a regular file, by its name: three calls fewer, because each save in place opens its file. Another
    /// file that has the name by now is opened too, and closed unused. Neither a FIFO nor a lease makes the daemon
    /// wait.
    func openOwnByName(_ node: Node, flags: Int32) throws(Errno) -> SharedDescriptor {
        let place = try location(of: node)
        guard !place.path.isEmpty else { return try openOwn(node, flags: flags) }
        let quick = flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let opened: Int32? = withExtendedLifetime(place.directory) {
            try? Backing.open(place.path, in: place.directory.raw, flags: quick)
        }
        // The slow way waits for a lease, and gives the error that the file itself has.
        guard let opened else { return try openOwn(node, flags: flags) }
        let file = SharedDescriptor(opened, flags: quick)
        try requireSame(try Backing.stat(file.raw), as: node)
        return file
    }

    /// Works on the node's own file: with calls that take an empty name, or by its path in /proc.
    func withOwn<Result>(_ node: Node, _ body: (Int32) throws(Errno) -> Result) throws(Errno) -> Result {
        let place = try ownFile(of: node)
        return try withExtendedLifetime(place.directory) { () throws(Errno) in try body(place.directory.raw) }
    }

    /// The node's own file as it is now. Called with the name lock held.
    func statOwn(_ node: Node) throws(Errno) -> FileStat {
        let place = try location(of: node)
        let stat = try withExtendedLifetime(place.directory) { () throws(Errno) in
            try Backing.stat(place.path, in: place.directory.raw)
        }
        if !place.path.isEmpty { try requireSame(stat, as: node) }
        return stat
    }

    private func requireSame(_ stat: FileStat, as node: Node) throws(Errno) {
        // In the state, which no other program uses, a file may have been copied.
        guard case .live = nodes.location(node).whereabouts else { return }
        let key = nodes.key(of: node)
        // Some other file systems give a file another number when it is first written to.
        let isSame = node.isForeign ? stat.type == node.type && stat.key.device == key.device : stat.key == key
        guard isSame else { throw Errno(rawValue: ESTALE) }
    }

    /// A directory by its path, passing no symlink. Called with the name lock held.
    func directory(beneath path: TreePath) throws(Errno) -> SharedDescriptor {
        guard !path.names.isEmpty else { return root }
        let flags = linux_O_PATH | O_DIRECTORY
        return SharedDescriptor(try Backing.open(beneath: path.bytes, in: root.raw, flags: flags))
    }
}
