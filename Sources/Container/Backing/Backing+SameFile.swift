// Opens exactly the file that was examined: a program may have given its name to another file below the mount.

import CLinux
import Glibc
import SystemPackage

extension Backing {
    /// A name's file as an O_PATH descriptor, for calls with an empty name.
    /// - Parameter key: the expected file.
    /// - Throws: ESTALE if the name has another file.
    static func hold(_ name: [UInt8], in directory: Int32, _ key: BackingKey) throws(Errno) -> SharedDescriptor {
        let file = SharedDescriptor(try open(name, in: directory, flags: linux_O_PATH | O_NOFOLLOW))
        return try withExtendedLifetime(file) { () throws(Errno) in
            guard try stat(file.raw).key == key else { throw Errno(rawValue: ESTALE) }
            return file
        }
    }

    /// Opens a file to copy or hash it: for reading, and without an update of its access time where that is allowed. A
    /// FIFO under the name does not block it.
    /// - Parameter key: the expected file; nil for any regular file.
    /// - Throws: ESTALE if the name has another file.
    static func openQuietly(
        _ name: [UInt8], in directory: Int32, _ key: BackingKey?
    ) throws(Errno) -> Int32 {
        let file = try openWithoutWaiting(name, in: directory)
        do throws(Errno) {
            let stat = try stat(file)
            guard stat.isRegular, key == nil || stat.key == key else { throw Errno(rawValue: ESTALE) }
            return file
        } catch {
            close(file)
            throw error
        }
    }

    private static func openWithoutWaiting(_ name: [UInt8], in directory: Int32) throws(Errno) -> Int32 {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        do {
            return try open(name, in: directory, flags: flags | linux_O_NOATIME)
        } catch .notPermitted {
            return try open(name, in: directory, flags: flags)
        } catch .resourceTemporarilyUnavailable {
            // Another program has a lease on it, which only a regular file can have.
            let file = SharedDescriptor(try open(name, in: directory, flags: linux_O_PATH | O_NOFOLLOW))
            return try withExtendedLifetime(file) { () throws(Errno) in
                guard try stat(file.raw).isRegular else { throw Errno(rawValue: ESTALE) }
                return try open([], in: file.raw, flags: O_RDONLY)
            }
        }
    }

    /// Opens a path of several names, without symlinks and never out of the directory.
    static func open(beneath path: [UInt8], in directory: Int32, flags: Int32) throws(Errno) -> Int32 {
        try CText.lend(path) { pointer throws(Errno) in
            try check { linux_open_beneath(directory, pointer, flags, 0) }
        }
    }
}
