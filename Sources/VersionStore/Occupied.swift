// The disk usage of one file, as a stable number.

import CLinux
import Glibc
import SystemPackage

/// Bytes on the disk, added when an entry comes and subtracted when it goes.
///
/// `st_blocks` alone is not stable. While ext4 allocates blocks for written data (which the daemon starts at once), it
/// may count the same blocks twice, or not at all, and an attribute block may come later. So a file without holes
/// counts by its size.
public enum Occupied {
    private static let block: Int64 = 4096

    /// The usage of a file of this size without holes.
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

    /// The usage of a file of this size without holes; nil for directories and other types.
    private static func whole(_ status: stat) -> Int64? {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(clamping: whole(UInt64(max(0, status.st_size))))
    }

    /// Considers the pages in memory, too, unlike `st_blocks`.
    private static func hasHoles(_ file: FileDescriptor, _ status: stat) -> Bool {
        lseek(file.rawValue, 0, linux_SEEK_HOLE) < status.st_size
    }
}
