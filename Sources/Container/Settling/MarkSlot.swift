import VersionModel

/// The bytes of a mark.
struct MarkSlot {
    enum Kind: UInt8 {
        case boot = 1
        case place, file, content
    }

    var kind: Kind
    var first: UInt64
    var second: UInt64
    var name: [UInt8] = []

    init(kind: Kind, first: UInt64, second: UInt64, name: [UInt8] = []) {
        (self.kind, self.first, self.second, self.name) = (kind, first, second, name)
    }

    /// nil for a slot without a mark.
    init?(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == MarkFile.slotSize, let kind = Kind(rawValue: bytes[8]) else { return nil }
        let numbers = bytes.withUnsafeBytes { bytes -> (UInt64, UInt64)? in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[8...])
            guard Self.number(bytes, at: 0) == Self.checksum(rest) else { return nil }
            return (Self.number(bytes, at: 10), Self.number(bytes, at: 18))
        }
        guard let numbers else { return nil }
        (self.kind, first, second) = (kind, numbers.0, numbers.1)
        name = Array(bytes[26...].prefix(Int(bytes[9])))
    }

    /// Each creation and each save writes some: they are made in one piece.
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: MarkFile.slotSize)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[8] = kind.rawValue
            bytes[9] = UInt8(truncatingIfNeeded: name.count)
            bytes.storeBytes(of: first.littleEndian, toByteOffset: 10, as: UInt64.self)
            bytes.storeBytes(of: second.littleEndian, toByteOffset: 18, as: UInt64.self)
            for (index, byte) in name.prefix(bytes.count - 26).enumerated() { bytes[26 + index] = byte }
            let sum = Self.checksum(UnsafeRawBufferPointer(rebasing: bytes[8...]))
            bytes.storeBytes(of: sum.littleEndian, as: UInt64.self)
        }
        return bytes
    }

    /// Never 0: that is a slot without a mark.
    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum: UInt64 = 1
        for start in stride(from: 0, to: bytes.count, by: 8) { sum = BitMixing.mix(sum ^ number(bytes, at: start)) }
        return sum | 1
    }

    /// - Parameter start: where the number begins. It ends with the bytes, at the latest.
    private static func number(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
        guard start + 8 > bytes.count else {
            return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        return bytes[start...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
