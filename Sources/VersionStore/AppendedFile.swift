// A file that is only appended to, written through memory where the file system allows that without a trap.

import CLinux
import Glibc
import SystemPackage

/// What was appended survives the process, as after write(2): the pages are the file's own. So appending costs no
/// system call, and waits for no disk, as long as room was made in advance (``roomToMake``, ``makeRoom(_:)``).
///
/// Only on file systems where what was allocated can always be written (ext4, xfs, tmpfs): elsewhere a full disk would
/// be a SIGBUS, and write(2) is used. Behind the end there are zeros. Not thread-safe, but for ``makeRoom(_:)``.
final class AppendedFile: @unchecked Sendable {
    /// So much is allocated at a time, and begun to be when half of it is left.
    private static let window = 1 << 18
    /// What is mapped, nearly all of it beyond the file's end: as long as such a file may become.
    private static let capacity = 1 << 26

    private let file: FileDescriptor
    // Only what lies before `allocated` is ever touched. Nil also after the end.
    private var memory: UnsafeMutableRawPointer?
    private var hasEnded = false
    private var allocated = 0
    private(set) var length = 0
    /// Something could not be written. What came after it would be read as if nothing was missing, so nothing does.
    private(set) var isBroken = false

    /// Takes a new, empty file open for reading and writing; it is closed with this.
    init(_ file: FileDescriptor) {
        self.file = file
        memory = linux_may_append_in_memory(file.rawValue) == 1 ? linux_map_shared(file.rawValue, Self.capacity) : nil
    }

    deinit { end() }

    /// Cuts off what was allocated in advance, and closes the file; nothing is appended afterwards. Before the
    /// container's lock is given up: another daemon may have the same file in its memory from then on.
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

    /// What should be allocated next, if it is time to.
    var roomToMake: Range<Int>? {
        guard memory != nil, !isBroken, allocated - length < Self.window / 2, allocated + Self.window <= Self.capacity
        else { return nil }
        return allocated..<(allocated + Self.window)
    }

    /// Allocates it and has its pages at hand; for a thread that nobody waits for, while others append.
    func makeRoom(_ range: Range<Int>) throws(Errno) {
        try System.call { linux_fallocate(file.rawValue, 0, off_t(range.lowerBound), off_t(range.count)) }
        if let memory { linux_populate(memory + range.lowerBound, range.count) }
    }

    /// The range may be used.
    func hasRoom(_ range: Range<Int>) {
        if range.lowerBound <= allocated { allocated = max(allocated, range.upperBound) }
    }

    /// Nobody has made room in time.
    private func extend(to end: Int) throws(Errno) {
        let page = Int(getpagesize())
        let least = (end + page - 1) / page * page
        guard least <= Self.capacity else { throw .fileTooLarge }
        // On a full disk there may be room for this record.
        for wanted in [min(Self.capacity, max(least, allocated + Self.window)), least] {
            do throws(Errno) {
                try System.call { linux_fallocate(file.rawValue, 0, off_t(allocated), off_t(wanted - allocated)) }
                allocated = wanted
                return
            } catch { if error != .noSpace || wanted == least { throw error } }
        }
    }

    // MARK: Appending

    /// Appends a record: its length, which is stored last, then the parts.
    ///
    /// A process that ends meanwhile leaves a record of length 0, which is none.
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
