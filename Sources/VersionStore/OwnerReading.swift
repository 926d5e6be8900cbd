// Files whose mode forbids their owner to read them, read by the owner's daemon.

import Glibc
import SystemPackage

public enum OwnerReading {
    /// Allows the owner to read a file for as long as `body` takes, which opens the file.
    /// - Parameter file: a descriptor of the file; one for its path alone will do.
    /// - Throws: EACCES if the mode allows reading already, or the daemon's user does not own the file.
    public static func allow<Result>(
        of file: Int32, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let (descriptor, path) = (FileDescriptor(rawValue: file), "/proc/self/fd/\(file)")
        let status = try System.status(descriptor)
        let (mode, readable) = (status.st_mode & 0o7777, status.st_mode & 0o7777 | S_IRUSR)
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), mode != readable else {
            throw .permissionDenied
        }
        try System.call { chmod(path, readable) }
        defer {
            // A program may have changed the mode meanwhile.
            let now = (try? System.status(descriptor)).map { $0.st_mode & 0o7777 }
            if now == readable { _ = chmod(path, mode) }
        }
        return try body()
    }
}
