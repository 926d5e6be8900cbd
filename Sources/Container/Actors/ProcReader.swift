// The only access to /proc, so that tests can count and fake reads.

import CLinux
import Glibc

/// A source of facts about processes.
public protocol ProcReader: Sendable {
    /// The bytes of `/proc/` and this path; nil if the process is gone, or the file may not be read.
    func contents(of path: String) -> [UInt8]?
    /// The target of the symbolic link at `/proc/` and this path; nil likewise.
    func target(of path: String) -> [UInt8]?
    /// The file at `/proc/` and this path, for repeated reads; nil likewise.
    func file(_ path: String) -> (any ProcFile)?
    /// The symbolic link at `/proc/` and this path, likewise; the open does not follow it.
    func link(_ path: String) -> (any ProcFile)?
}

/// An open file or symbolic link of a process: another read costs less than another open. It always belongs to that
/// process, even if another one gets its number later.
public protocol ProcFile: Sendable {
    /// Reads its present content or target from the beginning, up to the size of the buffer.
    /// - Returns: the number of bytes; 0 if the process has ended.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int
}

/// The system's own /proc.
public struct SystemProcReader: ProcReader {
    public init() {}

    public func contents(of path: String) -> [UInt8]? { OpenProcFile(path)?.contents }

    public func file(_ path: String) -> (any ProcFile)? { OpenProcFile(path) }

    public func link(_ path: String) -> (any ProcFile)? { OpenProcLink(path) }

    public func target(of path: String) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = ("/proc/" + path).withCString { readlink($0, start, buffer.count) }
            return count > 0 ? Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])) : nil
        }
    }
}

private struct OpenProcFile: ProcFile {
    private static let block = 4096
    private let descriptor: SharedDescriptor

    init?(_ path: String) {
        guard let descriptor = SharedDescriptor(opening: path, O_RDONLY) else { return nil }
        self.descriptor = descriptor
    }

    var contents: [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            let chunk = [UInt8](unsafeUninitializedCapacity: Self.block) { buffer, count in
                count = read(into: UnsafeMutableRawBufferPointer(buffer), at: bytes.count)
            }
            bytes += chunk
            // These files are generated in one read, if it fits.
            if chunk.count < Self.block { return bytes.isEmpty ? nil : bytes }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int { read(into: buffer, at: 0) }

    private func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int) -> Int {
        while true {
            let result = pread(descriptor.raw, buffer.baseAddress, buffer.count, off_t(position))
            if result >= 0 || errno != EINTR { return max(0, result) }
        }
    }
}

private struct OpenProcLink: ProcFile {
    private let descriptor: SharedDescriptor

    init?(_ path: String) {
        guard let descriptor = SharedDescriptor(opening: path, linux_O_PATH | O_NOFOLLOW) else { return nil }
        self.descriptor = descriptor
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        // An empty path is the link itself (readlink(2)).
        return max(0, readlinkat(descriptor.raw, "", start, buffer.count))
    }
}

extension SharedDescriptor {
    fileprivate convenience init?(opening path: String, _ flags: Int32) {
        let descriptor = open("/proc/" + path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor)
    }
}
