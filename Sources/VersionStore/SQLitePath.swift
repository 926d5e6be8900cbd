// Lets SQLite open a file below a descriptor, so that the catalog stays reachable when DIR is mounted over.

internal import GRDBSQLite
import Glibc
import SystemPackage

/// SQLite takes paths only, and resolves symbolic links in them: `/proc/self/fd/N` would become the path of DIR again,
/// which is the mount's after mounting. So its `lstat` is replaced by one to which nothing in `/proc` is a link.
enum SQLitePath {
    /// The path of a file in a directory, for SQLite.
    static func path(of name: String, in directory: FileDescriptor) -> String {
        _ = installed
        return "/proc/self/fd/\(directory.rawValue)/\(name)"
    }

    private static let installed: Bool = {
        guard let vfs = sqlite3_vfs_find(nil), let set = vfs.pointee.xSetSystemCall else { return false }
        typealias Lstat = @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<stat>?) -> Int32
        let replacement: Lstat = { path, status in
            guard let path, let status else { return -1 }
            let result = lstat(path, status)
            let isDescriptor = strncmp(path, "/proc/self", 10) == 0
            if result == 0, isDescriptor, status.pointee.st_mode & S_IFMT == S_IFLNK {
                status.pointee.st_mode = S_IFDIR | 0o700
            }
            return result
        }
        return set(vfs, "lstat", unsafeBitCast(replacement, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
    }()
}
