// Labels: the descriptions of objects and deleted entries, from which a scan can rebuild a lost catalog.

import VersionModel

/// The binary form of labels: format version, kind, number of records, the records, a checksum.
///
///     byte  0      format version (1)
///     byte  1      1: contents, 2: a deletion
///     count n      records: for contents, version + path + place each; for a deletion, one
///     4 bytes      FNV-1a of everything before, little-endian
enum LabelCoding {
    /// The extended attribute that holds a label.
    static let attribute: CName = "user.versionsfs.label".utf8.map { CChar(bitPattern: $0) } + [0]
    static let formatVersion: UInt8 = 1
    private static let contentsTag: UInt8 = 1
    private static let deletionTag: UInt8 = 2

    static func encode(_ labels: [ContentStore.Label]) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(formatVersion)
        writer.byte(contentsTag)
        writer.count(UInt64(labels.count))
        for label in labels {
            writer.version(label.version)
            writer.string(label.path.bytes)
            writer.place(label.place)
        }
        return sealed(writer)
    }

    static func encode(_ deletion: Deletion) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(formatVersion)
        writer.byte(deletionTag)
        writer.count(1)
        writer.deletion(deletion)
        return sealed(writer)
    }

    /// The versions in an object's label; throws for all but a complete label of contents.
    static func contents(_ bytes: [UInt8]) throws(CodingError) -> [ContentStore.Label] {
        var reader = try opened(bytes, tag: contentsTag)
        var labels: [ContentStore.Label] = []
        for _ in 0..<(try reader.count(ofAtLeast: 64)) {
            labels.append(
                ContentStore.Label(version: try reader.version(), path: try reader.path(), place: try reader.place()))
        }
        guard reader.remaining == 4 else { throw CodingError() }
        return labels
    }

    static func deletion(_ bytes: [UInt8]) throws(CodingError) -> Deletion {
        var reader = try opened(bytes, tag: deletionTag)
        guard try reader.count() == 1 else { throw CodingError() }
        let deletion = try reader.deletion()
        guard reader.remaining == 4 else { throw CodingError() }
        return deletion
    }

    private static func opened(_ bytes: [UInt8], tag: UInt8) throws(CodingError) -> ByteReader {
        guard bytes.count >= 7, bytes[0] == formatVersion, bytes[1] == tag else { throw CodingError() }
        var tail = ByteReader(bytes, from: bytes.count - 4)
        guard try tail.fixed32() == checksum(bytes.dropLast(4)) else { throw CodingError() }
        return ByteReader(bytes, from: 2)
    }

    private static func sealed(_ writer: consuming ByteWriter) -> [UInt8] {
        var writer = writer
        writer.fixed(writer.withBytes { checksum($0) })
        return writer.bytes
    }

    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.withUnsafeBytes { checksum($0) } }

    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var sum: UInt32 = 2_166_136_261
        for byte in bytes { sum = (sum ^ UInt32(byte)) &* 16_777_619 }
        return sum
    }
}
