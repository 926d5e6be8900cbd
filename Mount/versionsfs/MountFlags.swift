// The flags of a mount: the flags that root's mount inherits from the file system below (DESIGN 3.3), the flags that
// libfuse has no option for, and the access times of the files below.

import CLinux
import Glibc
import Logging
import SystemPackage

enum MountFlags {
    /// MS_REMOUNT
    static let remount: UInt = 32

    /// The flags of the mount at a path, from statvfs(3). The C library names them for GNU programs only.
    static func present(at path: FilePath) -> UInt? {
        var below = statvfs()
        guard path.withPlatformString({ statvfs($0, &below) }) == 0 else { return nil }
        return UInt(below.f_flag)
    }

    /// Sets the flags of root's mount that libfuse has no option for.
    static func complete(_ mountpoint: FilePath, _ options: MountTableOptions, _ logger: Logger) {
        guard geteuid() == 0 else { return }
        let flags = options.flags
        let result = mountpoint.withPlatformString { mount(nil, $0, nil, remount | flags, nil) }
        guard result != 0 else { return }
        logger.warning("\(mountpoint): not all mount options are in force: \(Errno(rawValue: errno))")
    }

    /// The served tree, if the options ask for access times other than below. The kernel chooses access times by the
    /// mount of each open, so root's daemon opens all files through a mount of its own without a name.
    /// - Returns: nil if the options do not ask for this, or it is impossible.
    static func tree(of root: FileDescriptor, _ options: MountTableOptions, _ logger: Logger) -> FileDescriptor? {
        guard options.accessTimes != nil || options.sparesDirectories != nil, geteuid() == 0 else { return nil }
        let times: Int32? = switch options.accessTimes {
        case .never: linux_tree_times_never
        case .relative: linux_tree_times_relative
        case .strict: linux_tree_times_strict
        case nil: nil
        }
        let tree = linux_clone_tree(root.rawValue, times ?? -1, options.sparesDirectories.map { $0 ? 1 : 0 } ?? -1)
        guard tree >= 0 else {
            logger.warning("access times are those of the file system below: \(Errno(rawValue: errno))")
            return nil
        }
        return FileDescriptor(rawValue: tree)
    }
}
