// Labels: the descriptions of objects and deleted entries, from which a scan can rebuild a lost catalog.

import VersionModel

/// The binary form of labels: format version, kind, number of records, the records, a checksum.
///
///     byte  0      format version (1, or 2 for contents with facts)
///     byte  1      1: contents, 2: a deletion
///     count n      records: for contents, version + path + place each; for a deletion, one
///     4 bytes      FNV-1a of everything before, little-endian
///
/// In format 2 each record begins with a byte: 1 for one of format 1, 2 for epoch + path + facts.
enum LabelCoding {
    /// The extended attribute that holds a label.
    static let attribute: CName = "user.versionsfs.label".utf8.map { CChar(bitPattern: $0) } + [0]
    static let formatVersion: UInt8 = 1
    private static let factsVersion: UInt8 = 2
    private static let contentsTag: UInt8 = 1
    private static let deletionTag: UInt8 = 2

    static func encode(_ labels: [ContentStore.Label]) -> [UInt8] {
        var writer = ByteWriter()
        let version = labels.allSatisfy { $0.facts == nil } ? formatVersion : factsVersion
        writer.byte(version)
        writer.byte(contentsTag)
        writer.list(labels) { writer, label in
            if version == factsVersion { writer.byte(label.facts == nil ? formatVersion : factsVersion) }
            if let facts = label.facts { return facts.write(to: &writer) }
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
        let version = bytes.first == factsVersion ? factsVersion : formatVersion
        var reader = try opened(bytes, tag: contentsTag, version)
        var labels: [ContentStore.Label] = []
        for _ in 0..<(try reader.count(ofAtLeast: 64)) {
            switch version == formatVersion ? formatVersion : try reader.byte() {
            case formatVersion:
                labels.append(
                    ContentStore.Label(
                        version: try reader.version(), path: try reader.path(), place: try reader.place()))
            case factsVersion: labels.append(try ContentStore.Label(FactLabel.read(&reader)))
            default: throw CodingError()
            }
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

    private static func opened(
        _ bytes: [UInt8], tag: UInt8, _ version: UInt8 = formatVersion
    ) throws(CodingError) -> ByteReader {
        guard bytes.count >= 7, bytes[0] == version, bytes[1] == tag else { throw CodingError() }
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
