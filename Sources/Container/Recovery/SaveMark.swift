// A mark on files that take a name and may not be whole yet.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// An extended attribute that tells, when the catalog's end is lost, whether a file that took a name is a whole save:
///
/// - Without a value: it was created under a name whose document had just gone away, and is not saved yet; the first
///   save removes it.
/// - With a size: it was renamed over the name when it had that size, and was not synchronised before. Once its length
///   on the disk is that, its data is there too (docs/decisions/0009).
///
/// On file systems without user attributes every file counts as whole.
enum SaveMark {
    private static let attribute = "user.versionsfs.unfinished"
    /// What was written longer ago is on the disk.
    static let lifetimeNanoseconds: Int64 = 60_000_000_000

    static func set(on file: Int32) { _ = linux_fsetxattr(file, attribute, "", 0, 0) }

    static func set(on file: Int32, size: UInt64) {
        var value = size.littleEndian
        _ = linux_fsetxattr(file, attribute, &value, 8, 0)
    }

    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }

    /// Whether a file of that size is all that it was to be.
    static func isWhole(_ file: Int32, size: UInt64) -> Bool {
        var value: UInt64 = 0
        switch linux_fgetxattr(file, attribute, &value, 8) {
        case 8: return size >= UInt64(littleEndian: value)
        case 0: return false
        default: return true
        }
    }
}
