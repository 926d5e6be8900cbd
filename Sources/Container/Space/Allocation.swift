// What an allocation needs, and how a call says that there is no room.

import CLinux
import Glibc
import SystemPackage

extension Errno {
    /// The file system, or the user's quota, is full.
    var isFull: Bool { self == .noSpace || rawValue == Glibc.EDQUOT }
}

/// fallocate(2) on a range of a file.
enum Allocation {
    /// The bytes of a range that have no blocks yet. Where the file system does not tell, as few as may be: those
    /// behind the end of the file.
    static func lacking(_ file: Int32, mode: Int32, offset: off_t, length: off_t) -> UInt64 {
        guard offset >= 0, length > 0, mode & ~linux_FALLOC_FL_KEEP_SIZE == 0 else { return 0 }
        let (end, isBeyond) = offset.addingReportingOverflow(length)
        guard !isBeyond else { return 0 }
        let present = linux_allocated(file, offset, length, 0)
        if present >= 0 { return UInt64(max(0, length - off_t(present))) }
        guard let stat = try? Backing.stat(file) else { return 0 }
        return UInt64(max(0, end - max(offset, off_t(clamping: stat.size))))
    }
}
