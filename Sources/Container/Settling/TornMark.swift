// A mark on a file that is to give way to an older version, because a power cut has left it in parts.

import CLinux
import Glibc

/// An extended attribute without a value: the file is judged once, and gives way when requests can be made. A kill in
/// between leaves the mark. File systems without user attributes have none.
enum TornMark {
    private static let attribute = "user.versionsfs.torn".utf8.map { CChar(bitPattern: $0) } + [0]

    static func set(on file: Int32) { _ = linux_fsetxattr(file, attribute, "", 0, 0) }
    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }
    static func isSet(on file: Int32) -> Bool { linux_fgetxattr(file, attribute, nil, 0) >= 0 }
}
