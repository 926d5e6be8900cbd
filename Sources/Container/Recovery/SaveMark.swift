// A mark on files that take a name and may not be whole yet.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// An extended attribute that tells, when the catalog's end is lost, whether a file that took a name is a whole save. On
/// file systems without user attributes there is none.
enum SaveMark: Equatable {
    /// It was created under a name whose document had just gone away, and is not saved yet.
    case created
    /// It had that size (0 if it had holes) and, if it was small, that hash when it was renamed over the name, or saved
    /// first after it was created: what it held may reach the disk after its name does (docs/decisions/0003).
    case saved(size: UInt64, hash: [UInt8]?)

    private static let attribute = "user.versionsfs.unfinished"

    func set(on file: Int32) {
        var value: [UInt8] = []
        if case .saved(let size, let hash) = self {
            value = withUnsafeBytes(of: size.littleEndian) { Array($0) } + (hash ?? [])
        }
        _ = linux_fsetxattr(file, Self.attribute, value, value.count, 0)
    }

    /// For a file that is whole now.
    static func whole(_ file: Int32, size: UInt64, hash: [UInt8]?) -> SaveMark {
        .saved(size: hash != nil || isWithoutHoles(file, size: size) ? size : 0, hash: hash)
    }

    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }

    init?(of file: Int32) {
        var value = [UInt8](repeating: 0, count: 64)
        let count = linux_fgetxattr(file, Self.attribute, &value, value.count)
        guard count >= 0 else { return nil }
        guard count >= 8 else {
            self = .created
            return
        }
        let size = value.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self = .saved(size: size, hash: count == 40 ? Array(value[8..<40]) : nil)
    }

    /// Whether a file of that size is all that it was to be.
    func isWhole(_ file: Int32, size: UInt64) -> Bool {
        guard case .saved(let whole, let hash) = self, size >= whole else { return false }
        if let hash { return ContentHash.sha256(of: file, size: whole) == hash }
        return Self.isWithoutHoles(file, size: whole)
    }

    /// What has not arrived is a hole.
    static func isWithoutHoles(_ file: Int32, size: UInt64) -> Bool {
        size == 0 || lseek(file, 0, linux_SEEK_HOLE) >= off_t(clamping: size)
    }
}
