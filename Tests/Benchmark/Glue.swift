// Small steps that the workloads share.

import Foundation
import Support

enum Glue {
    /// Empties a directory, or makes it. Returns its path.
    static func fresh(_ directory: String) throws -> String {
        try mustRun("rm", ["-rf", directory], seconds: 300)
        guard mkdir(directory, 0o755) == 0 else { throw Failure.call("mkdir \(directory)") }
        return directory
    }

    /// Seconds that something takes.
    static func time(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        let took = (ContinuousClock.now - start).components
        return Double(took.seconds) + Double(took.attoseconds) / 1e18
    }

    static func write(_ bytes: [UInt8], to path: String, _ flags: Int32) throws {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o644)
        guard descriptor >= 0 else { throw Failure.call(path) }
        defer { close(descriptor) }
        guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure.call("write \(path)")
        }
    }

    /// Bytes that begin with a number, so that no two saves are equal.
    static func stamped(_ bytes: [UInt8], _ number: Int) -> [UInt8] {
        var bytes = bytes
        for (index, digit) in String(number).utf8.enumerated() where index < bytes.count { bytes[index] = digit }
        return bytes
    }

    static func large(_ path: String, blocks: Int, _ block: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure.call(path) }
        defer { close(descriptor) }
        for _ in 0..<blocks {
            try expect(Foundation.write(descriptor, block, block.count), block.count, "write \(path)")
        }
    }

    /// A short write has no error: the file system is full.
    private static func expect(_ written: Int, _ count: Int, _ call: String) throws {
        if written >= 0, written < count { errno = ENOSPC }
        if written != count { throw Failure.call(call) }
    }

    static func overwrite(_ descriptor: Int32, blocks: Int, _ block: [UInt8]) throws {
        for index in 0..<blocks {
            try expect(pwrite(descriptor, block, block.count, index * block.count), block.count, "pwrite")
        }
    }

    static func readAll(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.call(path) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 { throw Failure.call("read \(path)") }
            if count == 0 { return }
        }
    }

    /// Forgets names and attributes (not dirty pages), as root; otherwise "cold" is only a word.
    static func dropCaches() {
        sync()
        let descriptor = open("/proc/sys/vm/drop_caches", O_WRONLY)
        guard descriptor >= 0 else { return }
        _ = Foundation.write(descriptor, "2", 1)
        close(descriptor)
    }
}
