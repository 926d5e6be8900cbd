// A file that is only appended to, written through memory where the file system allows that without a trap.

import CLinux
import Glibc
import SystemPackage

/// What was appended survives the process, as after write(2): the pages are the file's own. A window of the file beyond its
/// end is allocated and mapped at a time, so that appending costs no system call.
///
/// Only on file systems where what was allocated can always be written (ext4, xfs, tmpfs): elsewhere a full disk would
/// be a SIGBUS, and write(2) is used. Behind the end there are zeros. Not thread-safe.
final class AppendedFile {
    private static let window = 1 << 18

    private let file: FileDescriptor
    private let isMapped: Bool
    // `start` is where `memory` begins in the file, `end` where it ends; touched only below.
    private var memory: UnsafeMutableRawPointer?
    private var (start, end) = (0, 0)
    private(set) var length = 0
    /// Something could not be written. What came after it would be read as if nothing was missing, so nothing does.
    private(set) var isBroken = false

    /// Takes a new, empty file open for reading and writing; it is closed with this.
    init(_ file: FileDescriptor) {
        self.file = file
        isMapped = linux_may_append_in_memory(file.rawValue) == 1
    }

    deinit {
        unmap()
        _ = ftruncate(file.rawValue, off_t(length))
        System.close(file)
    }

    private func unmap() {
        if let memory { linux_unmap(memory, end - start) }
        memory = nil
    }

    /// Makes room for so many bytes at the end.
    private func extend(by count: Int) throws(Errno) {
        unmap()
        let page = Int(getpagesize())
        start = length / page * page
        let least = (length - start + count + page - 1) / page * page
        var size = max(Self.window, least)
        do throws(Errno) {
            try System.call { linux_fallocate(file.rawValue, 0, off_t(start), off_t(size)) }
        } catch {
            // On a full disk there may be room for this record.
            guard error == .noSpace, size > least else { throw error }
            size = least
            try System.call { linux_fallocate(file.rawValue, 0, off_t(start), off_t(least)) }
        }
        end = start + size
        guard let new = linux_map_shared(file.rawValue, off_t(start), size) else { throw Errno(rawValue: errno) }
        memory = new
    }

    /// Appends a record: its length, which is stored last, then the parts.
    ///
    /// A process that ends meanwhile leaves a record of length 0, which is none.
    func append(length record: UInt32, _ head: UInt64, _ body: UnsafeRawBufferPointer, _ tail: UInt32) throws(Errno) {
        guard !isBroken else { throw .ioError }
        let size = 4 + 8 + body.count + 4
        do throws(Errno) {
            guard isMapped else { return try write(record, head, body, tail, size) }
            if memory == nil || length + size > end { try extend(by: size) }
            guard let memory, let source = body.baseAddress else { throw .ioError }
            let place = memory + (length - start)
            (place + 4).storeBytes(of: head.littleEndian, as: UInt64.self)
            (place + 12).copyMemory(from: source, byteCount: body.count)
            (place + 12 + body.count).storeBytes(of: tail.littleEndian, as: UInt32.self)
            linux_store_release(place, record.littleEndian)
            length += size
        } catch {
            isBroken = true
            throw error
        }
    }

    private func write(
        _ record: UInt32, _ head: UInt64, _ body: UnsafeRawBufferPointer, _ tail: UInt32, _ size: Int
    ) throws(Errno) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        withUnsafeBytes(of: record.littleEndian) { bytes += $0 }
        withUnsafeBytes(of: head.littleEndian) { bytes += $0 }
        bytes += body
        withUnsafeBytes(of: tail.littleEndian) { bytes += $0 }
        try System.writeAll(bytes, to: file)
        length += size
    }
}
