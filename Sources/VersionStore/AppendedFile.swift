// A file that only grows by appends, written through memory where the file system allows that without a trap.

import CLinux
import Glibc
import SystemPackage

/// Appended data survives the process, as after write(2), because the pages belong to the file. So an append costs no
/// system call, and waits for no disk, as long as room was allocated in advance (``roomToMake``, ``makeRoom(_:)``).
///
/// Only for file systems where allocated blocks can always be written (ext4, xfs, tmpfs). Elsewhere a full disk would
/// cause a SIGBUS, so write(2) is used. Zeros follow the end. Not thread-safe, except ``makeRoom(_:)``.
final class AppendedFile: @unchecked Sendable {
    /// The size of one allocation. The next one starts when half of it is left.
    private static let window = 1 << 18
    /// The size of the mapping, mostly beyond the file's end: the longest possible file.
    private static let capacity = 1 << 26

    private let file: FileDescriptor
    // Only the part before `allocated` is ever touched. Nil also after the end.
    private var memory: UnsafeMutableRawPointer?
    private var hasEnded = false
    private var allocated = 0
    private(set) var length = 0
    /// Whether a write has failed. Later records would look complete without the missing one, so none is appended.
    private(set) var isBroken = false

    /// Takes a new, empty file that is open for reading and writing; the object closes it.
    init(_ file: FileDescriptor) {
        self.file = file
        memory = linux_may_append_in_memory(file.rawValue) == 1 ? linux_map_shared(file.rawValue, Self.capacity) : nil
    }

    deinit { end() }

    /// Cuts off the allocation in advance and closes the file; no append follows. Call it before the container's lock
    /// is released: another daemon may then map the same file.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        isBroken = true
        if let memory {
            linux_unmap(memory, Self.capacity)
            _ = ftruncate(file.rawValue, off_t(length))
        }
        memory = nil
        System.close(file)
    }

    // MARK: Room

    /// The next range to allocate, if it is time.
    var roomToMake: Range<Int>? {
        guard memory != nil, !isBroken, allocated - length < Self.window / 2, allocated + Self.window <= Self.capacity
        else { return nil }
        return allocated..<(allocated + Self.window)
    }

    /// Allocates a range and loads its pages; for a background thread, while others append.
    func makeRoom(_ range: Range<Int>) throws(Errno) {
        try System.call { linux_fallocate(file.rawValue, 0, off_t(range.lowerBound), off_t(range.count)) }
        if let memory { linux_populate(memory + range.lowerBound, range.count) }
    }

    /// Notes that the range is allocated.
    func hasRoom(_ range: Range<Int>) {
        if range.lowerBound <= allocated { allocated = max(allocated, range.upperBound) }
    }

    /// Allocates in the appending thread, because the background thread was too late.
    private func extend(to end: Int) throws(Errno) {
        let page = Int(getpagesize())
        let least = (end + page - 1) / page * page
        guard least <= Self.capacity else { throw .fileTooLarge }
        // A full disk may still have room for this record.
        for wanted in [min(Self.capacity, max(least, allocated + Self.window)), least] {
            do throws(Errno) {
                try System.call { linux_fallocate(file.rawValue, 0, off_t(allocated), off_t(wanted - allocated)) }
                allocated = wanted
                return
            } catch { if error != .noSpace || wanted == least { throw error } }
        }
    }

    // MARK: Appending

    /// Appends a record: first the parts, and its length last.
    ///
    /// A process that ends meanwhile leaves a record of length 0, which counts as the end.
    func append(length record: UInt32, _ head: UInt64, _ body: UnsafeRawBufferPointer, _ tail: UInt32) throws(Errno) {
        guard !isBroken else { throw .ioError }
        let size = 4 + 8 + body.count + 4
        do throws(Errno) {
            guard let memory else { return try write(record, head, body, tail, size) }
            if length + size > allocated { try extend(to: length + size) }
            let place = memory + length
            (place + 4).storeBytes(of: head.littleEndian, as: UInt64.self)
            if let source = body.baseAddress { (place + 12).copyMemory(from: source, byteCount: body.count) }
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
