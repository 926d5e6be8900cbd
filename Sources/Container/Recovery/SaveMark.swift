// A mark on files that take a name back and are not saved yet.

import CLinux
import Glibc

/// An extended attribute of a file that was created under a name whose document had just gone away, until its first
/// save. A file that is renamed over a name was finished elsewhere and has none: that tells the two apart when the
/// catalog's end is lost. On file systems without user attributes the file counts as finished.
enum SaveMark {
    private static let attribute = "user.versionsfs.unfinished"

    static func set(on file: Int32) { _ = linux_fsetxattr(file, attribute, "", 0, 0) }
    static func remove(from file: Int32) { _ = linux_fremovexattr(file, attribute) }
    static func exists(on file: Int32) -> Bool { linux_fgetxattr(file, attribute, nil, 0) >= 0 }
}
