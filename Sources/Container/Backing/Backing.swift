// System calls on the file system below, relative to directory descriptors, with names as bytes and typed errors.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// One system call each; the C function is named in the comment.
enum Backing {
    /// Runs a call that returns -1 and sets errno; repeats it after EINTR.
    @discardableResult
    static func check<Result: FixedWidthInteger>(_ call: () -> Result) throws(Errno) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let error = Errno(rawValue: errno)
            if error != .interrupted { throw error }
        }
    }

    /// `openat`; an empty name opens the descriptor's own file again.
    static func open(_ name: [UInt8], in directory: Int32, flags: Int32, mode: mode_t = 0) throws(Errno) -> Int32 {
        if name.isEmpty {
            return try open(path: reopening(directory), in: AT_FDCWD, flags: flags & ~O_NOFOLLOW, mode: mode)
        }
        return try CText.lend(name) { pointer throws(Errno) in
            try check { linux_openat(directory, pointer, flags | O_CLOEXEC, mode) }
        }
    }

    /// `openat` with a relative path from the daemon itself.
    static func open(path: String, in directory: Int32, flags: Int32, mode: mode_t = 0) throws(Errno) -> Int32 {
        try check { linux_openat(directory, path, flags | O_CLOEXEC, mode) }
    }

    /// Opens a regular file of the state safely, as another user may have planted one: it follows no symlink, and a
    /// FIFO does not block it. Another type of file is EILSEQ.
    static func openRegular(path: String, in directory: Int32, flags: Int32, mode: mode_t = 0) throws(Errno) -> Int32 {
        let file = try check { linux_open_beneath(directory, path, flags | O_NONBLOCK, mode) }
        do throws(Errno) {
            guard try stat(file).isRegular else { throw .illegalByteSequence }
            return file
        } catch {
            close(file)
            throw error
        }
    }

    /// The path of a descriptor's own file, for calls that take a path.
    static func reopening(_ descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    /// Opens a file once more for the daemon's own reads. A mode that forbids reading is no obstacle where the daemon's
    /// user owns the file: the mode allows reading for the moment of the opening.
    static func openToRead(_ descriptor: Int32, flags more: Int32 = 0) throws(Errno) -> Int32 {
        let (path, flags) = (reopening(descriptor), O_RDONLY | O_NONBLOCK | more)
        do throws(Errno) { return try open(path: path, in: AT_FDCWD, flags: flags) } catch {
            guard error == .permissionDenied else { throw error }
        }
        return try OwnerReading.allow(of: descriptor) { () throws(Errno) in
            try open(path: path, in: AT_FDCWD, flags: flags)
        }
    }

    /// Where an open file or directory is now; nil if that cannot be told.
    static func path(of descriptor: Int32) -> [UInt8]? {
        try? readLink(Array(reopening(descriptor).utf8), in: AT_FDCWD)
    }

    /// `statx` without following a symlink; an empty name is the descriptor's own file, as for the calls below.
    static func stat(_ name: [UInt8], in directory: Int32) throws(Errno) -> FileStat {
        var result = linux_stat()
        try CText.lend(name) { pointer throws(Errno) in
            _ = try check { linux_statx(directory, pointer, AT_SYMLINK_NOFOLLOW | linux_AT_EMPTY_PATH, &result) }
        }
        return FileStat(raw: result)
    }

    /// `statx` with a relative path from the daemon itself.
    static func stat(path: String, in directory: Int32) throws(Errno) -> FileStat {
        var result = linux_stat()
        try check { linux_statx(directory, path, AT_SYMLINK_NOFOLLOW, &result) }
        return FileStat(raw: result)
    }

    /// `statx` of an open file.
    static func stat(_ file: Int32) throws(Errno) -> FileStat {
        var result = linux_stat()
        try check { linux_statx(file, "", linux_AT_EMPTY_PATH, &result) }
        return FileStat(raw: result)
    }

    /// `statx`; nil if the name does not exist.
    static func statIfPresent(_ name: [UInt8], in directory: Int32) throws(Errno) -> FileStat? {
        do {
            return try stat(name, in: directory)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    /// `renameat2`
    static func rename(
        _ name: [UInt8], in directory: Int32, to newName: [UInt8], in newDirectory: Int32, flags: UInt32 = 0
    ) throws(Errno) {
        try CText.lend(name) { old throws(Errno) in
            try CText.lend(newName) { new throws(Errno) in
                _ = try check { linux_renameat2(directory, old, newDirectory, new, flags) }
            }
        }
    }

    /// `unlinkat`
    static func unlink(_ name: [UInt8], in directory: Int32, flags: Int32 = 0) throws(Errno) {
        try CText.lend(name) { pointer throws(Errno) in _ = try check { unlinkat(directory, pointer, flags) } }
    }

    /// `linkat`, of the name itself.
    static func link(_ name: [UInt8], in directory: Int32, to newName: [UInt8], in newDirectory: Int32) throws(Errno) {
        try CText.lend(name) { old throws(Errno) in
            try CText.lend(newName) { new throws(Errno) in
                _ = try check { linkat(directory, old, newDirectory, new, 0) }
            }
        }
    }

    /// `mkdirat`
    static func makeDirectory(_ name: [UInt8], in directory: Int32, mode: mode_t) throws(Errno) {
        try CText.lend(name) { pointer throws(Errno) in _ = try check { mkdirat(directory, pointer, mode) } }
    }

    /// `symlinkat`
    static func makeSymlink(_ name: [UInt8], in directory: Int32, target: [UInt8]) throws(Errno) {
        let terminated = target.map { CChar(bitPattern: $0) } + [0]
        try CText.lend(name) { pointer throws(Errno) in
            _ = try check { symlinkat(terminated, directory, pointer) }
        }
    }

    /// `mknodat`
    static func makeNode(_ name: [UInt8], in directory: Int32, mode: mode_t, device: dev_t) throws(Errno) {
        try CText.lend(name) { pointer throws(Errno) in _ = try check { mknodat(directory, pointer, mode, device) } }
    }

    /// `readlinkat`
    static func readLink(_ name: [UInt8], in directory: Int32) throws(Errno) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try CText.lend(name) { pointer throws(Errno) in
            let capacity = buffer.count
            return try check {
                buffer.withUnsafeMutableBytes { bytes in
                    guard let base = bytes.baseAddress else { return -1 }
                    return readlinkat(directory, pointer, base.assumingMemoryBound(to: CChar.self), capacity)
                }
            }
        }
        return Array(buffer.prefix(count))
    }

    /// `fchownat` without following a symlink; -1 leaves a side unchanged.
    static func chown(_ name: [UInt8], in directory: Int32, user: uid_t, group: gid_t) throws(Errno) {
        try CText.lend(name) { pointer throws(Errno) in
            _ = try check { fchownat(directory, pointer, user, group, AT_SYMLINK_NOFOLLOW | linux_AT_EMPTY_PATH) }
        }
    }

    /// `fchmodat`; it follows a symlink, so use it only for other files.
    static func chmod(_ name: [UInt8], in directory: Int32, mode: mode_t) throws(Errno) {
        if name.isEmpty {
            try check { Glibc.chmod(reopening(directory), mode) }
            return
        }
        try CText.lend(name) { pointer throws(Errno) in _ = try check { fchmodat(directory, pointer, mode, 0) } }
    }

    /// `utimensat` without following a symlink.
    static func setTimes(_ name: [UInt8], in directory: Int32, accessed: timespec, modified: timespec) throws(Errno) {
        try CText.lend(name) { pointer throws(Errno) in
            _ = try check {
                utimensat(directory, pointer, [accessed, modified], AT_SYMLINK_NOFOLLOW | linux_AT_EMPTY_PATH)
            }
        }
    }

    /// The names of a directory with their inode numbers and types (`getdents64`), without `.` and `..`.
    static func list(_ directory: Int32) throws(Errno) -> [RawEntry] {
        let file = try open(path: ".", in: directory, flags: O_RDONLY | O_DIRECTORY)
        defer { close(file) }
        var entries: [RawEntry] = []
        let size = 64 * 1024
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            let count = try check { linux_getdents(file, buffer.baseAddress, size) }
            guard count > 0 else { return entries }
            var offset = 0
            // struct linux_dirent64: u64 inode, s64 offset, u16 length, u8 type, name with NUL.
            while offset + 19 < count {
                let inode = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 16, as: UInt16.self))
                let type = buffer[offset + 18]
                guard length > 19, offset + length <= count else { break }
                let tail = buffer[(offset + 19)..<(offset + length)]
                if let name = FileName(bytes: Array(tail.prefix { $0 != 0 })) {
                    entries.append(RawEntry(name: name, inode: inode, type: UInt32(type) << 12))
                }
                offset += length
            }
        }
    }

    /// Whether a directory has no entries.
    static func isEmpty(_ directory: Int32) throws(Errno) -> Bool { try list(directory).isEmpty }

    /// Why a directory that has entries may not go: that it is immutable or append-only, or the directory that it lies
    /// in, comes first.
    static func refusal(ofFull directory: Int32, in parent: Int32) -> Errno {
        linux_protection(directory, "") > 0 || linux_protection(parent, "") > 0 ? .notPermitted : .directoryNotEmpty
    }

    /// `linkat` of a descriptor's own file.
    static func link(_ descriptor: Int32, to newName: [UInt8], in newDirectory: Int32) throws(Errno) {
        try CText.lend(newName) { new throws(Errno) in
            _ = try check { linkat(AT_FDCWD, reopening(descriptor), newDirectory, new, AT_SYMLINK_FOLLOW) }
        }
    }

    /// A path that the kernel resolves to a name in a directory, for calls without an `at` form.
    static func descriptorPath(_ directory: Int32, _ name: [UInt8]) -> [UInt8] {
        Array("/proc/self/fd/\(directory)/".utf8) + name
    }
}

/// One entry from `getdents64`; `type` as in `st_mode`, 0 if the file system does not report it.
struct RawEntry: Sendable {
    var name: FileName
    var inode: UInt64
    var type: UInt32
}

/// Bytes as C strings.
enum CText {
    /// Lends bytes with a NUL at the end.
    static func lend<Result, Failure: Error>(
        _ bytes: [UInt8], _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var outcome: Swift.Result<Result, Failure>?
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for index in bytes.indices { buffer[index] = CChar(bitPattern: bytes[index]) }
            buffer[bytes.count] = 0
            guard let base = buffer.baseAddress else { return }
            do throws(Failure) {
                outcome = .success(try body(UnsafePointer(base)))
            } catch {
                outcome = .failure(error)
            }
        }
        switch outcome {
        case .success(let value): return value
        case .failure(let error): throw error
        case nil: preconditionFailure("a temporary allocation has an address")
        }
    }
}

/// An open descriptor for several threads; closed when the last of them releases it. Take the number only from a
/// variable that holds this object: a descriptor from a temporary is closed as soon as the number is read.
final class SharedDescriptor: Sendable {
    let raw: Int32
    /// Whether the daemon may read through it, and leaves no access time by that.
    let isForReading: Bool
    private let isOwned: Bool

    /// - Parameter flags: those that it was opened with, as far as they matter.
    init(_ raw: Int32, flags: Int32 = O_WRONLY) {
        self.raw = raw
        isForReading = flags & O_ACCMODE != O_WRONLY && flags & linux_O_NOATIME != 0 && flags & linux_O_PATH == 0
        isOwned = true
    }

    /// A borrowed descriptor, which its owner closes after the last use of this object.
    init(borrowing raw: Int32) {
        self.raw = raw
        (isForReading, isOwned) = (false, false)
    }

    deinit { if isOwned { close(raw) } }
}

/// Opens a directory for use in `at` calls.
func linuxOpenDirectory(_ directory: Int32, _ name: UnsafePointer<CChar>) -> Int32 {
    linux_openat(directory, name, linux_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
}
