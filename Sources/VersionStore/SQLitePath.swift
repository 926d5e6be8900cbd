// Lets SQLite open a file below a descriptor, so that the catalog stays reachable under a mount over DIR.

import CLinux
internal import GRDBSQLite
import Glibc
import SystemPackage

/// SQLite takes only paths, and resolves symbolic links in them: `/proc/self/fd/N` would become the path of DIR, which
/// is the mount's after mounting. So its `lstat` is replaced by one that reports no links in `/proc`.
enum SQLitePath {
    /// The path of a file in a directory, for SQLite.
    static func path(of name: String, in directory: FileDescriptor) -> String {
        _ = installed
        return "/proc/self/fd/\(directory.rawValue)/\(name)"
    }

    /// Below a descriptor SQLite opens and removes only a regular file of exactly that name: a name in the state may be
    /// a link by now, and a journal may name any file for removal.
    private static let installed: Bool = {
        guard let vfs = sqlite3_vfs_find(nil), let set = vfs.pointee.xSetSystemCall else { return false }
        typealias Lstat = @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<stat>?) -> Int32
        let look: Lstat = { path, status in
            guard let path, let status else { return -1 }
            let result = lstat(path, status)
            let isDescriptor = strncmp(path, "/proc/self", 10) == 0
            if result == 0, isDescriptor, status.pointee.st_mode & S_IFMT == S_IFLNK {
                status.pointee.st_mode = S_IFDIR | 0o700
            }
            return result
        }
        typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
        let open: Open = { path, flags, mode in
            guard let path else { return -1 }
            guard let place = place(path), let name = place.name else {
                return linux_openat(AT_FDCWD, path, flags, mode_t(truncatingIfNeeded: mode))
            }
            do throws(Errno) {
                return try System.openRegular(
                    name, in: FileDescriptor(rawValue: place.directory), flags, mode: mode_t(truncatingIfNeeded: mode)
                ).rawValue
            } catch {
                errno = error.rawValue
                return -1
            }
        }
        typealias Unlink = @convention(c) (UnsafePointer<CChar>?) -> Int32
        let remove: Unlink = { path in
            guard let path, let place = place(path), let name = place.name else {
                errno = EPERM
                return -1
            }
            return unlinkat(place.directory, name, 0)
        }
        return set(vfs, "lstat", unsafeBitCast(look, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
            && set(vfs, "open", unsafeBitCast(open, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
            && set(vfs, "unlink", unsafeBitCast(remove, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
    }()

    /// The descriptor in a path of this form, and the one name after it; nil for other paths.
    private static func place(_ path: UnsafePointer<CChar>) -> (directory: Int32, name: UnsafePointer<CChar>?)? {
        let prefix = "/proc/self/fd/"
        let length = strlen(prefix)
        guard strncmp(path, prefix, length) == 0 else { return nil }
        var number: Int32 = 0
        var end = length
        while path[end] >= 48, path[end] <= 57, end < length + 9 {
            number = number * 10 + Int32(path[end] - 48)
            end += 1
        }
        guard end > length else { return nil }
        if path[end] == 0 { return (number, nil) }
        guard path[end] == 47, path[end + 1] != 0, strchr(path + end + 1, 47) == nil else { return nil }
        return (number, path + end + 1)
    }
}
