// Directory entries in the kernel's layout, until the buffer is full.

import CFuse3
import Glibc

/// An answer to READDIR or READDIRPLUS in the making.
public struct Listing {
    /// Whether the kernel wants attributes with the names. Then each entry with attributes counts as a lookup.
    public let wantsAttributes: Bool
    private let buffer: UnsafeMutableRawBufferPointer
    /// Bytes laid out so far.
    public private(set) var used = 0

    /// Lays entries out in `buffer`, which must outlive the listing.
    public init(into buffer: UnsafeMutableRawBufferPointer, wantsAttributes: Bool) {
        self.buffer = buffer
        self.wantsAttributes = wantsAttributes
    }

    /// Adds an entry without attributes, as for `.` and `..`: it never counts as a lookup.
    ///
    /// The kernel passes `nextOffset` to continue behind this entry. Names that no directory can hold are left out.
    /// - Returns: false if the entry did not fit; the listing is then complete.
    public mutating func add(name: [UInt8], node: UInt64, mode: mode_t, nextOffset: off_t) -> Bool {
        append(name: name, inode: node, mode: mode, nextOffset: nextOffset, entry: nil)
    }

    /// Adds an entry; its attributes are used when the kernel wants them.
    ///
    /// - Returns: false if the entry did not fit: nothing was added and no lookup counts.
    public mutating func add(name: [UInt8], entry: Entry, nextOffset: off_t) -> Bool {
        let stat = entry.attributes.stat
        return append(name: name, inode: UInt64(stat.st_ino), mode: stat.st_mode, nextOffset: nextOffset, entry: entry)
    }

    private mutating func append(
        name: [UInt8], inode: UInt64, mode: mode_t, nextOffset: off_t, entry: Entry?
    ) -> Bool {
        guard (1...255).contains(name.count), !name.contains(0), !name.contains(UInt8(ascii: "/")) else { return true }
        let head = wantsAttributes ? MemoryLayout<wire_entry_out>.size : 0
        let record = head + MemoryLayout<wire_directory_entry>.size
        let padded = (record + name.count + 7) & ~7
        guard padded <= buffer.count - used else { return false }
        let place = UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + padded])
        place.initializeMemory(as: UInt8.self, repeating: 0)
        if wantsAttributes, let entry {
            place.storeBytes(of: wire_entry_out(entry), as: wire_entry_out.self)
        }
        let described = wire_directory_entry(
            inode: inode, offset: UInt64(bitPattern: Int64(nextOffset)), name_length: UInt32(name.count),
            type: UInt32(mode & S_IFMT) >> 12)
        place.storeBytes(of: described, toByteOffset: head, as: wire_directory_entry.self)
        name.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: place[record...]).copyMemory(from: $0) }
        used += padded
        return true
    }
}
