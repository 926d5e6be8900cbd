// Attributes of files: looking at them, and changing all but the size.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// The requests for a file's metadata. A ``ContentKeeper`` knows what they mean for its content.
final class MetadataRequests: Sendable {
    private struct Link { weak var keeper: (any ContentKeeper)? }

    let tree: LiveTree
    let callers: Callers
    let kernel: KernelLink
    private let files: OpenFileTable
    private let link = RankedMutex(Link())

    init(_ tree: LiveTree, callers: Callers, files: OpenFileTable, kernel: KernelLink) {
        (self.tree, self.callers, self.files) = (tree, callers, files)
        self.kernel = kernel
    }

    /// Says who knows what a change means for the content.
    func connect(_ keeper: any ContentKeeper) { link.withLock { $0.keeper = keeper } }

    /// - Throws: EIO once the container is not in use any more.
    func keeper() throws(Errno) -> any ContentKeeper {
        guard let keeper = link.withLock({ $0.keeper }) else { throw .ioError }
        return keeper
    }

    // MARK: Looking

    func attributes(_ id: UInt64, handle: UInt64?) throws(Errno) -> FileAttributes {
        let node = try tree.node(id)
        return tree.attributes(try stat(node, handle: handle), of: node)
    }

    /// The file below as it is now, through an open handle if there is one.
    func stat(_ node: Node, handle: UInt64?) throws(Errno) -> FileStat {
        if let handle, let file = files[handle] { return try Backing.stat(file.descriptor.raw) }
        return try tree.stat(node)
    }

    /// The same for who holds the name lock already.
    func statLocked(_ node: Node, handle: UInt64?) throws(Errno) -> FileStat {
        if let handle, let file = files[handle] { return try Backing.stat(file.descriptor.raw) }
        return try tree.statOwn(node)
    }

    /// The target of a symlink.
    func readLink(_ id: UInt64) throws(Errno) -> [UInt8] {
        let node = try tree.node(id)
        return try tree.names.reading { () throws(Errno) in
            try tree.withOwn(node) { file throws(Errno) in try Backing.readLink([], in: file) }
        }
    }

    // MARK: Changing

    func setAttributes(
        _ caller: Caller, _ id: UInt64, handle: UInt64?, _ edit: AttributeEdit
    ) throws(Errno) -> FileAttributes {
        let node = try tree.node(id)
        callers.learn(caller)
        let keeper = try keeper()
        if let size = edit.size { try keeper.resize(node, handle, to: size, by: caller) }
        if edit.modified != nil { keeper.timeWillChange(of: node) }
        let (attributes, isTold) = try tree.names.reading { () throws(Errno) in
            let place = try reach(node)
            defer { withExtendedLifetime(place) {} }
            let before = try look(at: place, handle)
            guard edit.changesMetadata else { return (tree.attributes(before, of: node), false) }
            let change = MetadataChange(
                node: node, setsModified: edit.modified != nil, before: before, caller: caller)
            let after = try keeper.make(change, look: { () throws(Errno) in try look(at: place, handle) }) {
                () throws(Errno) in try apply(edit, to: place, before, caller)
            }
            return (tree.attributes(after, of: node), change.isTold(after))
        }
        if isTold { keeper.attributesChanged(of: node, by: caller) }
        return attributes
    }

    /// The node's own file: a writer's descriptor spares three calls. Called with the name lock held.
    private func reach(_ node: Node) throws(Errno) -> Location {
        guard tree.isLive(node), let writer = node.writers.first else { return try tree.ownFile(of: node) }
        return Location(directory: writer.descriptor, path: [])
    }

    private func look(at place: Location, _ handle: UInt64?) throws(Errno) -> FileStat {
        if let handle, let file = files[handle] { return try Backing.stat(file.descriptor.raw) }
        return try Backing.stat(place.path, in: place.directory.raw)
    }

    /// - Parameter before: the file as it is.
    private func apply(
        _ edit: AttributeEdit, to place: Location, _ before: FileStat, _ caller: Caller
    ) throws(Errno) {
        let dropsSetID = edit.dropsSetID && before.hasSetID
        let isBound = dropsSetID && SetIDRule.isBound(before, caller)
        if edit.user != nil || edit.group != nil {
            try Backing.chown(place.path, in: place.directory.raw, user: edit.user ?? .max, group: edit.group ?? .max)
        }
        if let mode = edit.mode {
            try Backing.chmod(place.path, in: place.directory.raw, mode: mode & 0o7777)
        } else if dropsSetID {
            let stat = try Backing.stat(place.path, in: place.directory.raw)
            let kept = SetIDRule.afterChange(stat.permissions, byStranger: isBound)
            if kept != stat.permissions {
                try Backing.chmod(place.path, in: place.directory.raw, mode: mode_t(kept))
            }
        }
        if edit.accessed != nil || edit.modified != nil {
            let omit = timespec(tv_sec: 0, tv_nsec: Int(linux_UTIME_OMIT))
            try Backing.setTimes(
                place.path, in: place.directory.raw, accessed: edit.accessed ?? omit, modified: edit.modified ?? omit)
        }
    }
}
