// The attributes of a file below the mount.

import CLinux
import Glibc
import VersionModel

/// The identity of a file below the mount. Linux reuses inode numbers; ``FileID`` does not.
struct BackingKey: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
}

/// A file's attributes from statx(2).
struct FileStat: Sendable {
    var raw: linux_stat

    var key: BackingKey { BackingKey(device: linux_makedev(raw.device_major, raw.device_minor), inode: raw.inode) }
    var mode: UInt32 { raw.mode }
    var type: UInt32 { raw.mode & UInt32(S_IFMT) }
    var permissions: UInt32 { raw.mode & 0o7777 }
    var isRegular: Bool { type == UInt32(S_IFREG) }
    var isDirectory: Bool { type == UInt32(S_IFDIR) }
    var size: UInt64 { raw.size }
    var links: UInt32 { raw.links }
    var accessed: Timestamp { Timestamp(raw.accessed) }
    var modified: Timestamp { Timestamp(raw.modified) }
    var changed: Timestamp { Timestamp(raw.changed) }
    var born: Timestamp { raw.has_born != 0 ? Timestamp(raw.born) : Timestamp(nanoseconds: 0) }

    var entryType: EntryType {
        switch type {
        case UInt32(S_IFREG): .file
        case UInt32(S_IFDIR): .directory
        case UInt32(S_IFLNK): .symlink
        case UInt32(S_IFIFO): .fifo
        case UInt32(S_IFSOCK): .socket
        default: .device
        }
    }

    /// The same as a C `stat`, with the inode number and link count that the mount shows.
    func posix(inode: UInt64, links: UInt32) -> stat {
        var result = stat()
        result.st_ino = ino_t(inode)
        result.st_mode = raw.mode
        result.st_nlink = nlink_t(links)
        result.st_uid = raw.user
        result.st_gid = raw.group
        result.st_rdev = dev_t(linux_makedev(raw.special_major, raw.special_minor))
        result.st_size = off_t(truncatingIfNeeded: raw.size)
        result.st_blocks = blkcnt_t(truncatingIfNeeded: raw.blocks)
        result.st_blksize = blksize_t(truncatingIfNeeded: raw.block_size)
        result.st_atim = raw.accessed
        result.st_mtim = raw.modified
        result.st_ctim = raw.changed
        return result
    }
}

/// The fields that show a change of a file without a read. On kernels with multigrain times (6.13) a stamp that was
/// read never equals one after a later write.
struct Stamp: Hashable, Sendable {
    /// The file, because two files written at the same moment may have equal other fields.
    var file: BackingKey
    var size: UInt64
    var modified: Timestamp
    var changed: Timestamp

    init(_ stat: FileStat) {
        file = stat.key
        size = stat.size
        modified = stat.modified
        changed = stat.changed
    }
}

extension Timestamp {
    init(_ time: timespec) { self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec) }

    /// The time for system calls.
    var timespec: timespec {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0
            ? Glibc.timespec(tv_sec: Int(seconds) - 1, tv_nsec: Int(rest) + 1_000_000_000)
            : Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    }
}
