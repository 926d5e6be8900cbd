// Small steps on file descriptors that every part of the fixture needs.

import CTestSupport
import Glibc

/// A pipe whose ends no child inherits by accident.
public func makePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure.call("pipe") }
    return (ends[0], ends[1])
}

/// Writes all bytes, or throws.
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            throw Failure.call("write to a child")
        }
        rest = rest.dropFirst(count)
    }
}

/// Reads what is there, at most 64 KiB; empty at the end of the stream.
public func readSome(from descriptor: Int32) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count >= 0 { return Array(buffer[..<count]) }
        // A terminal whose last program has gone answers EIO: its end of the stream.
        if errno == EIO { return [] }
        if errno != EINTR { throw Failure.call("read from a child") }
    }
}
