// Opening the very file that was looked at: a name may stand for another one by now, where a program reaches the tree
// below.

import CLinux
import Glibc
import SystemPackage

extension Backing {
    /// The file of a name as an O_PATH descriptor, which calls with an empty name work on.
    /// - Parameter key: which file it has to be.
    /// - Throws: ESTALE if another one has the name.
    static func hold(_ name: [UInt8], in directory: Int32, _ key: BackingKey) throws(Errno) -> SharedDescriptor {
        let file = SharedDescriptor(try open(name, in: directory, flags: linux_O_PATH | O_NOFOLLOW))
        return try withExtendedLifetime(file) { () throws(Errno) in
            guard try stat(file.raw).key == key else { throw Errno(rawValue: ESTALE) }
            return file
        }
    }

    /// Opens a file to copy or hash it: for reading, and without a trace in its access time where that is allowed. A
    /// FIFO that has taken the name is not waited for.
    /// - Parameter key: which file it has to be; nil for any that is regular.
    /// - Throws: ESTALE if another one has the name.
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

    /// A path of several names, passing no symlink and leading nowhere outside.
    static func open(beneath path: [UInt8], in directory: Int32, flags: Int32) throws(Errno) -> Int32 {
        try CText.lend(path) { pointer throws(Errno) in
            try check { linux_open_beneath(directory, pointer, flags, 0) }
        }
    }
}
