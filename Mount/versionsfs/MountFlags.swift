// The flags of a mount: those that root's mount takes over from the file system below (DESIGN 3.3), those that libfuse
// cannot be told, and the access times of the files beneath.

import CLinux
import Glibc
import Logging
import SystemPackage

enum MountFlags {
    /// MS_REMOUNT
    static let remount: UInt = 32

    /// The flags of the mount that shows a path, as statvfs(3) tells them. The C library names them for GNU programs
    /// only.
    static func present(at path: FilePath) -> UInt? {
        var below = statvfs()
        guard path.withPlatformString({ statvfs($0, &below) }) == 0 else { return nil }
        return UInt(below.f_flag)
    }

    /// Gives root's mount the flags that libfuse has not been told.
    static func complete(_ mountpoint: FilePath, _ options: MountTableOptions, _ logger: Logger) {
        guard geteuid() == 0 else { return }
        let flags = options.flags
        let result = mountpoint.withPlatformString { mount(nil, $0, nil, remount | flags, nil) }
        guard result != 0 else { return }
        logger.warning("\(mountpoint): not all mount options are in force: \(Errno(rawValue: errno))")
    }

    /// The tree that is served, if it is to have other access times than below. The kernel moves those by the mount
    /// that a file was opened through, so root's daemon opens all through a mount of its own, which has no name.
    /// - Returns: nil if that is not asked for, or cannot be had.
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
