// What is mounted where, and waiting for that to change: the kernel tells poll(2) of every change of
// /proc/self/mountinfo.

import CTestSupport
import Glibc

/// The mounts of this process's namespace.
public enum Mounts {
    /// One line of mountinfo.
    public struct Entry: Sendable {
        public let path: String
        public let type: String
        public let source: String
    }

    /// All mounts, in the order in which they were made; of several on one path the last is the visible one.
    public static func all() throws -> [Entry] {
        let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.call("/proc/self/mountinfo") }
        defer { close(descriptor) }
        return try entries(descriptor)
    }

    /// The mount that is visible at exactly this path.
    public static func at(_ path: String) throws -> Entry? {
        try all().last { $0.path == path }
    }

    /// Waits until something holds for the list of mounts.
    ///
    /// - Parameter watching: a process whose end makes waiting pointless.
    /// - Returns: whether it came to hold before the deadline and before that process ended.
    public static func wait(_ deadline: Deadline, watching child: Child? = nil, until holds: ([Entry]) -> Bool) throws
        -> Bool
    {
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard table >= 0 else { throw Failure.call("/proc/self/mountinfo") }
        defer { close(table) }
        let handle: Int32 =
            try child.map { child in
                if child.poll() != nil { return -1 }
                let handle = pidfd_open(child.pid, 0)
                guard handle >= 0 else { throw Failure.call("pidfd_open") }
                return handle
            } ?? -1
        defer { if handle >= 0 { close(handle) } }
        while true {
            if holds(try entries(table)) { return true }
            if let child, child.poll() != nil { return false }
            guard deadline.poll([(table, POLLPRI), (handle, POLLIN)]) != nil else { return false }
        }
    }

    private static func entries(_ descriptor: Int32) throws -> [Entry] {
        lseek(descriptor, 0, SEEK_SET)
        var bytes: [UInt8] = []
        while true {
            let more = try readSome(from: descriptor)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes.split(separator: 10).compactMap { line in
            let words = line.split(separator: 32).map { String(decoding: $0, as: UTF8.self) }
            guard let dash = words.firstIndex(of: "-"), words.count > dash + 2, words.count > 4 else { return nil }
            return Entry(path: unescaped(words[4]), type: words[dash + 1], source: unescaped(words[dash + 2]))
        }
    }

    /// mountinfo writes blanks and backslashes as three octal digits.
    private static func unescaped(_ word: String) -> String {
        var result: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                result.append(code)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Takes a mount away even if it hangs: aborts its connection (as root), then detaches it.
    static func abort(_ path: String) {
        umount2(path, VFS_MNT_FORCE)
        if umount2(path, VFS_MNT_DETACH) != 0, getuid() != 0 {
            _ = try? run("fusermount3", ["-uz", path], seconds: 10)
        }
    }
}
