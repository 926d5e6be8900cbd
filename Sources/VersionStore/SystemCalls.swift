// System calls for the store: names as C strings, failures as thrown errnos. Without decisions of their own.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// A name or path for C, including NUL.
typealias CName = [CChar]

extension FileName {
    var cName: CName {
        CName(unsafeUninitializedCapacity: bytes.count + 1) { name, count in
            for index in bytes.indices { name[index] = CChar(bitPattern: bytes[index]) }
            name[bytes.count] = 0
            count = bytes.count + 1
        }
    }
}

extension TreePath {
    /// For `…at` calls relative to the root.
    var cName: CName { bytes.isEmpty ? [46, 0] : bytes.map { CChar(bitPattern: $0) } + [0] }
}

enum System {
    /// Throws the `errno` of a failed call; repeats the call while a signal interrupts it.
    @discardableResult
    static func call<Value: SignedInteger>(_ body: () -> Value) throws(Errno) -> Value {
        while true {
            let result = body()
            if result != -1 { return result }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }

    static func open(
        _ name: UnsafePointer<CChar>, in directory: FileDescriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(Errno) -> FileDescriptor {
        FileDescriptor(
            rawValue: try call { linux_openat(directory.rawValue, name, flags | O_CLOEXEC, mode) })
    }

    /// Opens a file or directory of a state directory: follows no symlink and never leaves the directory (openat2(2)).
    static func openBeneath(
        _ name: UnsafePointer<CChar>, in directory: FileDescriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(Errno) -> FileDescriptor {
        FileDescriptor(rawValue: try call { linux_open_beneath(directory.rawValue, name, flags, mode) })
    }

    /// The same for a regular file: another type is EILSEQ. A FIFO does not block it.
    static func openRegular(
        _ name: UnsafePointer<CChar>, in directory: FileDescriptor, _ flags: Int32, mode: mode_t = 0
    ) throws(Errno) -> FileDescriptor {
        let file: FileDescriptor
        // Truncated only after the check that it is a regular file.
        let opening = flags & ~O_TRUNC
        do throws(Errno) {
            file = try openBeneath(name, in: directory, opening | O_NONBLOCK, mode: mode)
        } catch .wouldBlock {
            // A lease must be broken first, and only regular files have one: the same file is opened again, with a
            // wait.
            let found = try openBeneath(name, in: directory, linux_O_PATH)
            defer { close(found) }
            guard try status(found).st_mode & S_IFMT == S_IFREG else { throw .illegalByteSequence }
            file = try open("/proc/self/fd/\(found.rawValue)", in: found, opening & ~(O_NOFOLLOW | O_CREAT | O_EXCL))
        } catch {
            throw error == Errno(rawValue: ENXIO) || error == .tooManySymbolicLinkLevels ? .illegalByteSequence : error
        }
        do throws(Errno) {
            guard try status(file).st_mode & S_IFMT == S_IFREG else { throw .illegalByteSequence }
            if flags & O_TRUNC != 0 { try call { ftruncate(file.rawValue, 0) } }
            return file
        } catch {
            close(file)
            throw error
        }
    }

    static func makeDirectory(_ name: UnsafePointer<CChar>, in directory: FileDescriptor) throws(Errno) {
        do throws(Errno) { try call { mkdirat(directory.rawValue, name, 0o700) } } catch .fileExists {}
    }

    static func rename(
        _ name: UnsafePointer<CChar>, in directory: FileDescriptor, to newName: UnsafePointer<CChar>,
        in newDirectory: FileDescriptor
    ) throws(Errno) {
        try call { renameat(directory.rawValue, name, newDirectory.rawValue, newName) }
    }

    static func unlink(_ name: UnsafePointer<CChar>, in directory: FileDescriptor, flags: Int32 = 0) throws(Errno) {
        try call { unlinkat(directory.rawValue, name, flags) }
    }

    static func exists(_ name: String, in directory: FileDescriptor) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try status(name, in: directory)
            return true
        } catch .noSuchFileOrDirectory { return false }
    }

    static func status(_ name: UnsafePointer<CChar>, in directory: FileDescriptor) throws(Errno) -> stat {
        var status = stat()
        try call { fstatat(directory.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) }
        return status
    }

    static func status(_ file: FileDescriptor) throws(Errno) -> stat {
        var status = stat()
        try call { fstat(file.rawValue, &status) }
        return status
    }

    /// The statx(2) of a name, without following a symlink; of the directory itself if the name is empty.
    static func extendedStatus(_ name: UnsafePointer<CChar>, in directory: FileDescriptor) throws(Errno) -> linux_stat {
        var status = linux_stat()
        try call {
            linux_statx(directory.rawValue, name, AT_SYMLINK_NOFOLLOW | linux_AT_EMPTY_PATH, &status)
        }
        return status
    }

    /// A path for calls that have no `…at` form. It goes through the descriptor, so it survives a mount over it.
    static func path(_ name: CName, in directory: FileDescriptor) -> CName {
        "/proc/self/fd/\(directory.rawValue)/".utf8.map { CChar(bitPattern: $0) } + name
    }

    /// The names in a directory, without `.` and `..`.
    static func names(in directory: FileDescriptor) throws(Errno) -> [FileName] {
        try entries(in: directory).map(\.name)
    }

    /// The names in a directory with their types (`DT_...`).
    static func entries(in directory: FileDescriptor) throws(Errno) -> [(name: FileName, type: UInt8)] {
        let copy = try open(".", in: directory, O_RDONLY | O_DIRECTORY)
        guard let stream = fdopendir(copy.rawValue) else {
            let error = Errno(rawValue: errno)
            try? copy.close()
            throw error
        }
        defer { closedir(stream) }
        var entries: [(name: FileName, type: UInt8)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Errno(rawValue: errno) }
                return entries
            }
            let type = entry.pointee.d_type
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if let name = FileName(bytes: bytes) { entries.append((name, type)) }
        }
    }

    /// Closes a file in a place where an error would have no consequence.
    static func close(_ file: FileDescriptor) { _ = Glibc.close(file.rawValue) }

    /// All bytes of a small file; throws `.fileTooLarge` beyond `limit`.
    static func contents(
        of name: UnsafePointer<CChar>, in directory: FileDescriptor, limit: Int = 1 << 20
    ) throws(Errno) -> [UInt8] {
        let file = try openRegular(name, in: directory, O_RDONLY)
        defer { close(file) }
        return try contents(of: file, limit: limit)
    }

    /// All bytes of an open file from its current offset.
    static func contents(of file: FileDescriptor, limit: Int) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = try call { read(file.rawValue, &buffer, buffer.count) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            if bytes.count > limit { throw .fileTooLarge }
        }
    }

    static func writeAll(_ bytes: [UInt8], to file: FileDescriptor) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let start = done
            done += try call {
                bytes.withUnsafeBytes { write(file.rawValue, $0.baseAddress.map { $0 + start }, $0.count - start) }
            }
        }
    }
}

extension linux_stat {
    /// The file's `st_dev`, as in stat(2).
    var device: UInt64 { linux_makedev(device_major, device_minor) }

    /// The birth time; 0 if the file system has none.
    var birth: Timestamp {
        has_born == 0 ? Timestamp(nanoseconds: 0) : Timestamp(seconds: born.tv_sec, nanoseconds: born.tv_nsec)
    }

    /// `st_mtim`.
    var modification: Timestamp { Timestamp(seconds: modified.tv_sec, nanoseconds: modified.tv_nsec) }

    /// `st_ctim`.
    var change: Timestamp { Timestamp(seconds: changed.tv_sec, nanoseconds: changed.tv_nsec) }

    /// The bytes on the disk.
    var allocated: Int64 { Int64(clamping: blocks).multipliedReportingOverflow(by: 512).partialValue }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }
    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
}
