// SQLite's write-ahead log: the pages of a database that its committed transactions have changed
// (sqlite.org/fileformat2).

/// The committed part of a log. A reader sees the database with these pages.
public struct WriteAheadLog: Hashable, Sendable {
    /// The database's page size in bytes.
    public var pageSize: Int
    /// The number of the database's pages after the last commit.
    public var pageCount: UInt32
    /// The offset in the log of the newest content of each changed page.
    public var pages: [UInt32: UInt64]

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// Reads a log.
    ///
    /// - Parameter read: returns this many bytes from an offset on, or fewer at the end.
    /// - Returns: nil for a log without a commit.
    public init?(_ read: (_ offset: UInt64, _ count: Int) -> [UInt8]) {
        let header = read(0, Self.headerSize)
        guard header.count == Self.headerSize, Self.word(header, 0) & 0xFFFF_FFFE == 0x377F_0682,
            Self.word(header, 4) == 3_007_000
        else { return nil }
        let isBigEndian = Self.word(header, 0) & 1 == 1
        let size = Self.word(header, 8)
        // 1 stands for 65,536 in a database's header, but not here.
        guard size >= 512, size <= 65_536, size & (size - 1) == 0 else { return nil }
        pageSize = Int(size)
        (pageCount, pages) = (0, [:])
        var sum: (UInt32, UInt32) = (0, 0)
        Self.add(header[..<24], &sum, isBigEndian)
        guard sum == (Self.word(header, 24), Self.word(header, 28)) else { return nil }
        var offset = UInt64(Self.headerSize)
        var uncommitted: [UInt32: UInt64] = [:]
        while true {
            let frame = read(offset, Self.frameHeaderSize + pageSize)
            // The salts distinguish frames of this log from remains of an earlier one.
            guard frame.count == Self.frameHeaderSize + pageSize, frame[8..<16] == header[16..<24] else { break }
            Self.add(frame[..<8], &sum, isBigEndian)
            Self.add(frame[24...], &sum, isBigEndian)
            guard sum == (Self.word(frame, 16), Self.word(frame, 20)), Self.word(frame, 0) > 0 else { break }
            uncommitted[Self.word(frame, 0)] = offset + UInt64(Self.frameHeaderSize)
            let count = Self.word(frame, 4)
            if count > 0 {
                pages.merge(uncommitted) { $1 }
                pageCount = count
                uncommitted = [:]
            }
            offset += UInt64(frame.count)
        }
        guard pageCount > 0 else { return nil }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func add(_ bytes: ArraySlice<UInt8>, _ sum: inout (UInt32, UInt32), _ isBigEndian: Bool) {
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let second = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                sum.0 &+= (isBigEndian ? UInt32(bigEndian: first) : UInt32(littleEndian: first)) &+ sum.1
                sum.1 &+= (isBigEndian ? UInt32(bigEndian: second) : UInt32(littleEndian: second)) &+ sum.0
            }
        }
    }
}
