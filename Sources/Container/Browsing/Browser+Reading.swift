// Opening and reading versions and deleted files.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// An open version or deleted file.
final class BrowsedFile: Sendable {
    enum Source: Sendable {
        case version(VersionContent)
        case deletion(SharedDescriptor)
    }

    let node: BrowseNode
    let source: Source
    /// As they were when it was opened.
    let attributes: FileAttributes

    init(node: BrowseNode, source: Source, attributes: FileAttributes) {
        self.node = node
        self.source = source
        self.attributes = attributes
    }
}

extension Browser {
    /// Opens a file for reading. `flags` as in open(2).
    public func open(_ caller: Caller, node id: UInt64, flags: Int32) throws(Errno) -> OpenReply {
        let node = try node(id)
        guard flags & O_ACCMODE == O_RDONLY, flags & O_TRUNC == 0 else { throw .readOnlyFileSystem }
        let file: BrowsedFile
        let passed: SharedDescriptor?
        var isSettled = false
        subject: switch node.subject {
        case .version(_, _, let version):
            let version = try self.version(version)
            (file, passed) = try open(version, as: node)
            isSettled = version.flags.contains(.sealed)
        case .deletion(let deletion, _):
            let place: Location
            switch container.content(of: deletion) {
            case .version(let version):
                (file, passed) = try open(version, as: node)
                break subject
            case .file(let found): place = found
            }
            let descriptor = try open(place)
            let stat = Self.deleted(try Backing.stat(descriptor.raw), node.subject.inode(tree.identity))
            file = BrowsedFile(
                node: node, source: .deletion(descriptor), attributes: FileAttributes(stat: stat, valid: Validity.none))
            passed = descriptor
        default: throw .isDirectory
        }
        var reply = OpenReply(handle: files.add(file))
        reply.backing = register(node, passed)
        reply.keepsCache = reply.backing == 0 && isSettled
        reply.needsNoFlush = true
        return reply
    }

    private func open(
        _ version: Version, as node: BrowseNode
    ) throws(Errno) -> (file: BrowsedFile, passed: SharedDescriptor?) {
        let content = try VersionContent(version, in: container)
        let attributes = FileAttributes(
            stat: Self.stat(of: version, inode: node.subject.inode(tree.identity)), valid: Validity.none)
        return (BrowsedFile(node: node, source: .version(content), attributes: attributes), content.wholeFile)
    }

    private func version(_ id: VersionID) throws(Errno) -> Version {
        guard let version = try query({ history throws(StoreError) in try history.version(id) }) else {
            throw .noSuchFileOrDirectory
        }
        return version
    }

    private func open(_ place: Location) throws(Errno) -> SharedDescriptor {
        let name = place.path
        let stat = try Backing.stat(name, in: place.directory.raw)
        if stat.isDirectory { throw .isDirectory }
        guard stat.isRegular else { throw Errno(rawValue: ENXIO) }
        return SharedDescriptor(
            try Backing.open(name, in: place.directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
    }

    public func read(
        node: UInt64, handle: UInt64, into buffer: UnsafeMutableRawBufferPointer, offset: off_t
    ) throws(Errno) -> Int {
        guard let file = files[handle] else { throw .badFileDescriptor }
        switch file.source {
        case .version(let content): return try content.read(into: buffer, offset: offset)
        case .deletion(let descriptor):
            return try Backing.check { pread(descriptor.raw, buffer.baseAddress, buffer.count, offset) }
        }
    }

    /// lseek(2) for data and holes: everything up to the end counts as data.
    public func seek(node: UInt64, handle: UInt64, offset: off_t, whence: Int32) throws(Errno) -> off_t {
        guard let file = files[handle] else { throw .badFileDescriptor }
        let size = file.attributes.stat.st_size
        guard offset >= 0, offset < size else { throw Errno(rawValue: ENXIO) }
        switch whence {
        case linux_SEEK_DATA: return offset
        case linux_SEEK_HOLE: return size
        default: throw .invalidArgument
        }
    }

    public func release(node id: UInt64, handle: UInt64) {
        guard let file = files.remove(handle) else { return }
        let backing: Int32 = file.node.openings.state.withLock { state in
            state.closeReader()
            guard state.count == 0 else { return 0 }
            defer { state.backing = 0 }
            return state.backing
        }
        container.passthrough.unregister(backing)
    }

    /// Counts an opening and gives its registration for passthrough; 0 if reads come through us. All handles of a file
    /// open at one time must agree (fs/fuse/iomode.c).
    private func register(_ node: BrowseNode, _ file: SharedDescriptor?) -> Int32 {
        let known: Int32? = node.openings.state.withLock { state in
            state.readers += 1
            return state.cached || state.backing != 0 ? state.backing : nil
        }
        if let known { return known }
        var made: Int32 = 0
        if let file, let side = container.passthrough.kernel.side, side.passesThrough {
            made = (try? side.register(backing: file.raw)) ?? 0
        }
        let (chosen, surplus): (Int32, Int32) = node.openings.state.withLock { state in
            if state.cached || state.backing != 0 { return (state.backing, made) }
            state.backing = made
            if made == 0 { state.cached = true }
            return (made, 0)
        }
        container.passthrough.unregister(surplus)
        return chosen
    }
}
