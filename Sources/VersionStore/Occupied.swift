// What one file takes on the disk, as a number that is the same whenever it is asked for.

import CLinux
import Glibc
import SystemPackage

/// Bytes on the disk, to be added when an entry comes and taken off when it goes.
///
/// `st_blocks` alone is no such number: while ext4 finds blocks for what was written (which we have it begin at once),
/// there are moments at which it has the same blocks twice, or not at all, and an attribute block may come later. So
/// what has no holes counts by its size.
public enum Occupied {
    private static let block: Int64 = 4096

    /// What a file of this size takes if it has no holes.
    public static func whole(_ size: UInt64) -> UInt64 {
        let block = UInt64(Self.block)
        let (bytes, over) = (size / block + (size % block == 0 ? 0 : 1)).multipliedReportingOverflow(by: block)
        return over ? .max : bytes
    }

    static func bytes(_ name: CName, in directory: FileDescriptor) throws(Errno) -> Int64 {
        let status = try System.status(name, in: directory)
        guard let whole = whole(status), blocks(status) < whole else { return whole(status) ?? blocks(status) }
        let file = try System.open(name, in: directory, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        defer { System.close(file) }
        return hasHoles(file, status) ? blocks(status) : whole
    }

    static func bytes(of file: FileDescriptor) throws(Errno) -> Int64 {
        let status = try System.status(file)
        guard let whole = whole(status), blocks(status) < whole else { return whole(status) ?? blocks(status) }
        return hasHoles(file, status) ? blocks(status) : whole
    }

    private static func blocks(_ status: stat) -> Int64 {
        Int64(status.st_blocks).multipliedReportingOverflow(by: 512).partialValue
    }

    /// What a file of this size takes if it has no holes; nil for directories and other things.
    private static func whole(_ status: stat) -> Int64? {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(clamping: whole(UInt64(max(0, status.st_size))))
    }

    /// Looks at the pages in memory, too, unlike `st_blocks`.
    private static func hasHoles(_ file: FileDescriptor, _ status: stat) -> Bool {
        lseek(file.rawValue, 0, linux_SEEK_HOLE) < status.st_size
    }
}
