// A mark on files that take a name and may be incomplete.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// An extended attribute that shows, if the catalog's end is lost, whether a file that took a name is a complete save.
/// File systems without user attributes have no mark.
enum SaveMark: Equatable {
    /// The file was created under a name whose document had just gone, and is not saved yet.
    case created
    /// The file had this size (0 with holes) and, if it was small, this hash at this time, when it was renamed over the
    /// name, or first saved after its creation: its content may reach the disk after its name does
    /// (docs/decisions/0003).
    case saved(Timestamp, size: UInt64, hash: [UInt8]?)

    private static let attribute = "user.versionsfs.unfinished".utf8.map { CChar(bitPattern: $0) } + [0]

    /// - Returns: whether the mark exists, and distinguishes an arrived save from a lost one.
    @discardableResult
    func set(on file: Int32) -> Bool {
        var value: [UInt8] = []
        value.reserveCapacity(48)
        if case .saved(let time, let size, let hash) = self {
            for number in [size, UInt64(bitPattern: time.nanoseconds)] {
                withUnsafeBytes(of: number.littleEndian) { value += $0 }
            }
            if let hash { value += hash }
        }
        guard linux_fsetxattr(file, Self.attribute, value, value.count, 0) == 0 else { return false }
        if case .saved(_, size: 0, _) = self { return false }
        return true
    }

    /// The mark of a file that is complete now.
    static func whole(_ file: Int32, size: UInt64, hash: [UInt8]?, now: Timestamp) -> SaveMark {
        .saved(now, size: hash != nil || isWithoutHoles(file, size: size) ? size : 0, hash: hash)
    }

    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }

    init?(of file: Int32) {
        var value = [UInt8](repeating: 0, count: 64)
        let count = linux_fgetxattr(file, Self.attribute, &value, value.count)
        guard count >= 0 else { return nil }
        guard count == 16 || count == 48 else {
            self = .created
            return
        }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        let time = Timestamp(nanoseconds: Int64(bitPattern: number(value[8..<16])))
        self = .saved(time, size: number(value[..<8]), hash: count == 48 ? Array(value[16..<48]) : nil)
    }

    /// Whether the mark is from a save after a version. In the version's own file it is from an earlier save, and gives
    /// no information about later writes.
    func isNewer(than version: Version) -> Bool {
        switch self {
        case .created: true
        case .saved(let time, _, _): time > version.saved
        }
    }

    /// Whether a file of this size is complete.
    func isWhole(_ file: Int32, size: UInt64) -> Bool {
        guard case .saved(_, let whole, let hash) = self, size >= whole else { return false }
        if let hash { return ContentHash.sha256(of: file, size: whole) == hash }
        return Self.isWithoutHoles(file, size: whole)
    }

    /// Data that has not arrived is a hole.
    static func isWithoutHoles(_ file: Int32, size: UInt64) -> Bool {
        size == 0 || lseek(file, 0, linux_SEEK_HOLE) >= off_t(clamping: size)
    }
}
