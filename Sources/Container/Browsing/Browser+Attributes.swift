// Modes, owners, sizes and times of what is under `.versions`.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension Browser {
    /// For how many seconds the kernel may keep attributes of what changes rarely.
    private static let settled: Double = 1
    private static let writeBits: UInt32 = 0o222

    func attributes(of subject: BrowseSubject, in directory: Node) throws(Errno) -> FileAttributes {
        let inode = subject.inode(tree.identity)
        switch subject {
        case .document(let place) where place.directory != directory.file,
            .section(let place, _) where place.directory != directory.file:
            return FileAttributes(stat: try gone(place, inode), valid: Validity.none)
        case .top, .document, .section(_, .history), .section(_, .base):
            var result = try tree.stat(directory).posix(inode: inode, links: 2)
            result.st_mode &= ~mode_t(Self.writeBits)
            return FileAttributes(stat: result, valid: Validity.none)
        case .section(let place, .conflicts):
            return FileAttributes(stat: try conflicts(of: place, in: directory, inode), valid: Validity.none)
        case .deletions:
            // A caller that may change the directory can move its entries out.
            return FileAttributes(
                stat: try tree.stat(directory).posix(inode: inode, links: 2), valid: Validity.none)
        case .version(_, _, let id):
            guard let version = try query({ history throws(StoreError) in try history.version(id) }) else {
                throw .noSuchFileOrDirectory
            }
            return Self.attributes(of: version, inode: inode)
        case .deletion(let id, _): return FileAttributes(stat: try deleted(id, inode), valid: Validity.none)
        case .deletedTop(let id, _):
            var result = try deleted(id, inode)
            result.st_mode &= ~mode_t(Self.writeBits)
            return FileAttributes(stat: result, valid: Validity.none)
        case .socket:
            guard let path = container.socketPath else { throw .noSuchFileOrDirectory }
            var result = try tree.stat(directory).posix(inode: inode, links: 1)
            result.st_mode = mode_t(S_IFLNK) | 0o777
            result.st_size = off_t(path.utf8.count)
            return FileAttributes(stat: result, valid: Validity.none)
        }
    }

    /// The losers' directory belongs to the document's owner. A caller that may write the document may change it.
    private func conflicts(of place: Place, in directory: Node, _ inode: UInt64) throws(Errno) -> stat {
        guard let document = try document(at: place, in: directory) else { return try gone(place, inode) }
        var result = document.posix(inode: inode, links: 2)
        var mode = mode_t(S_IFDIR)
        for shift in [mode_t(0), 3, 6] {
            mode |= mode_t(Self.directoryAccess(UInt16(truncatingIfNeeded: result.st_mode >> shift & 7))) << shift
        }
        result.st_mode = mode
        return result
    }

    /// A caller's rights on a document's losers, from its rights on the document.
    static func directoryAccess(_ access: UInt16) -> UInt16 {
        (access & 4 != 0 ? 5 : 0) | (access & 2 != 0 ? 3 : 0)
    }

    private func document(at place: Place, in directory: Node) throws(Errno) -> FileStat? {
        try tree.names.reading { () throws(Errno) in
            let descriptor = try tree.descriptor(of: directory)
            return try Backing.statIfPresent(place.name.bytes, in: descriptor.raw)
        }
    }

    /// A directory of versions whose document is deleted. Its owner may list it, others find in it what they know: no
    /// directory tells any more who else might.
    private func gone(_ place: Place, _ inode: UInt64) throws(Errno) -> stat {
        guard let item = try documents(at: place).first,
            let deletion = try query({ history throws(StoreError) in try history.deletions(of: item) }).first
        else { throw .noSuchFileOrDirectory }
        var result = Glibc.stat()
        result.st_ino = ino_t(inode)
        result.st_mode = mode_t(S_IFDIR) | 0o511
        result.st_nlink = 2
        result.st_uid = deletion.attributes.owner
        result.st_gid = deletion.attributes.group
        result.st_blksize = 4096
        result.st_mtim = deletion.deleted.timespec
        result.st_atim = result.st_mtim
        result.st_ctim = result.st_mtim
        return result
    }

    static func attributes(of version: Version, inode: UInt64) -> FileAttributes {
        FileAttributes(
            stat: stat(of: version, inode: inode), valid: version.flags.contains(.sealed) ? settled : Validity.none)
    }

    /// A version as a read-only file of its time. Set-id bits are not given: an old program must not keep its powers.
    static func stat(of version: Version, inode: UInt64) -> stat {
        var result = Glibc.stat()
        result.st_ino = ino_t(inode)
        result.st_mode = mode_t(S_IFREG) | mode_t(version.attributes.mode & 0o777 & ~writeBits)
        result.st_nlink = 1
        result.st_uid = version.attributes.owner
        result.st_gid = version.attributes.group
        result.st_size = off_t(clamping: version.size)
        result.st_blocks = blkcnt_t(clamping: version.size / 512 + (version.size % 512 == 0 ? 0 : 1))
        result.st_blksize = 4096
        result.st_mtim = version.modified.timespec
        result.st_atim = result.st_mtim
        result.st_ctim = version.saved.timespec
        return result
    }

    /// A deleted entry: what it was; files less the write and set-id bits. Directories keep theirs, which the kernel
    /// wants to see when one is moved out.
    private func deleted(_ id: DeletionID, _ inode: UInt64) throws(Errno) -> stat {
        switch container.content(of: id) {
        case .version(let version): return Self.stat(of: version, inode: inode)
        case .file(let place): return Self.deleted(try Backing.stat(place.path, in: place.directory.raw), inode)
        }
    }

    static func deleted(_ below: FileStat, _ inode: UInt64) -> stat {
        var result = below.posix(inode: inode, links: below.isDirectory ? 2 : 1)
        if below.isRegular { result.st_mode &= ~mode_t(writeBits | 0o6000) }
        return result
    }
}
