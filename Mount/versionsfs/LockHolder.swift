// The process that has a container open, as far as its lock reveals it.

import CFuse3
import CLinux
import ControlProtocol
import Dispatch
import Glibc
import Synchronization
import SystemPackage
import VersionStore

/// A process that has a container open.
struct LockHolder {
    let process: Int32
    let program: String
    /// It serves a command of `versionsctl`, without a mount.
    let isOffline: Bool
    /// The daemon is no longer mounted, and writes its last changes.
    let isEnding: Bool

    /// Reads the kernel's table of locks.
    /// - Parameter root: the container's directory.
    /// - Returns: nil if the table does not show the process: it is on another machine or in another process namespace,
    ///   or there is none.
    init?(of root: FileDescriptor) {
        var format = stat()
        guard fstatat(root.rawValue, ".versionsfs/format", &format, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        let locks = Self.lines("/proc/locks")
        let holders = locks.compactMap { Self.holder($0, of: format) }
        // A file system of several devices may have another number there; the program's name must then do.
        let holder = holders.first { $0.isSameDevice } ?? holders.first { Self.program($0.process) == "versionsfs" }
        guard let holder else { return nil }
        process = holder.process
        program = Self.program(process)
        var staging = stat()
        isEnding = fstatat(root.rawValue, ".versionsfs/staging", &staging, AT_SYMLINK_NOFOLLOW) == 0
            && locks.contains { Self.holder($0, of: staging)?.process == holder.process }
        isOffline = Self.content("/proc/\(process)/cmdline").split(separator: 0).contains {
            $0.elementsEqual("--offline".utf8)
        }
    }

    /// `1: FLOCK  ADVISORY  WRITE 19283 fe:00:6766670 0 EOF`: the device in hexadecimal digits, the file's number not.
    private static func holder(_ line: String, of file: stat) -> (process: Int32, isSameDevice: Bool)? {
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0 else { return nil }
        let numbers = fields[5].split(separator: ":")
        guard numbers.count == 3, UInt64(numbers[2]) == UInt64(file.st_ino) else { return nil }
        let device = UInt64(file.st_dev)
        // makedev(3)
        let major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
        let minor = (device & 0xFF) | (device >> 12 & ~0xFF)
        return (process, UInt64(numbers[0], radix: 16) == major && UInt64(numbers[1], radix: 16) == minor)
    }

    private static func program(_ process: Int32) -> String {
        lines("/proc/\(process)/comm").first ?? "?"
    }

    private static func lines(_ path: String) -> [String] {
        content(path).split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func content(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}

extension LockHolder {
    /// Whether a locked container may be free soon: its daemon has lost its mount, or has none yet.
    static func mayEnd(_ path: FilePath, _ root: FileDescriptor) -> Bool {
        guard let holder = LockHolder(of: root) else { return true }
        if holder.isEnding { return true }
        return !holder.isOffline && FileSystemsBelow.points(of: path).isEmpty
            && FileSystemsBelow.points(of: path, seenBy: holder.process).isEmpty
    }

    /// Waits until a container's lock is free or may be free: the file with the lock is replaced now and then.
    /// - Returns: false if the lock is held all that time, or the wait is impossible.
    static func wait(for root: FileDescriptor, atMost patience: Duration) -> Bool {
        let file = openLock(root)
        guard file >= 0 else { return false }
        let waiting = Waiting()
        // The thread ends when the lock is free, or with the process.
        ThreadStart {
            var result = linux_flock(file, LOCK_EX)
            while result != 0, errno == EINTR { result = linux_flock(file, LOCK_EX) }
            close(file)
            // If the file system refuses, another try would be refused at once too.
            if result == 0 { waiting.isFree.store(true, ordering: .releasing) }
            waiting.isOver.signal()
        }.run()
        let (seconds, rest) = patience.components
        let deadline = DispatchTime.now() + Double(seconds) + Double(rest) * 1e-18
        return waiting.isOver.wait(timeout: deadline) == .success && waiting.isFree.load(ordering: .acquiring)
    }

    /// NFS grants this lock only on a file that is open for writing.
    private static func openLock(_ root: FileDescriptor) -> Int32 {
        let flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = openat(root.rawValue, ".versionsfs/format", O_RDWR | flags)
        guard file < 0, errno == EROFS || errno == EACCES else { return file }
        return openat(root.rawValue, ".versionsfs/format", O_RDONLY | flags)
    }

    private final class Waiting: Sendable {
        let isOver = DispatchSemaphore(value: 0)
        let isFree = Atomic(false)
    }

    /// The error for a container that cannot be opened because of its lock, with a hint.
    static func diagnostic(_ path: FilePath, _ root: FileDescriptor) -> Diagnostic {
        func say(_ what: String, _ hint: String) -> Diagnostic { Diagnostic("\(path)", what, hint: hint) }
        guard let holder = LockHolder(of: root) else {
            return say(
                "\(StoreError.inUse): a daemon that is ending, or one on another machine or in another process "
                    + "namespace",
                "try again in a moment")
        }
        let name = "\(holder.program) (\(holder.process))"
        if holder.isOffline {
            return say("in use by \(name), which serves a versionsctl command", "try again when that is done")
        }
        if holder.isEnding {
            return say("in use by \(name): it is unmounted, and its daemon is ending", "try again when that is done")
        }
        if let point = FileSystemsBelow.points(of: path).last {
            let shown = String(decoding: point, as: UTF8.self)
            return say("already mounted at \(shown) by \(name)", "`versionsctl status \(shown)` shows the mount")
        }
        if let point = FileSystemsBelow.points(of: path, seenBy: holder.process).last {
            let shown = String(decoding: point, as: UTF8.self)
            return say(
                "mounted at \(shown) in another mount namespace by \(name)",
                "unmount it there, or run `kill \(holder.process)`")
        }
        return say(
            "not mounted here, but in use by \(name)",
            "try again in a moment; `kill \(holder.process)` ends it and cuts off the programs that have files open "
                + "there")
    }
}
