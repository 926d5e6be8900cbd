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
        let rest = Array(bytes[8...])
        guard Self.number(bytes[..<8]) == Self.checksum(rest) else { return nil }
        (self.kind, first, second) = (kind, Self.number(rest[2..<10]), Self.number(rest[10..<18]))
        name = Array(rest[18...].prefix(Int(rest[1])))
    }

    var bytes: [UInt8] {
        var rest = [kind.rawValue, UInt8(truncatingIfNeeded: name.count)]
        rest += Self.bytes(first) + Self.bytes(second) + name
        rest += [UInt8](repeating: 0, count: MarkFile.slotSize - 8 - rest.count)
        return Self.bytes(Self.checksum(rest)) + rest
    }

    /// Never 0: that is a slot without a mark.
    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        var sum: UInt64 = 1
        for start in stride(from: 0, to: bytes.count, by: 8) {
            sum = BitMixing.mix(sum ^ number(bytes[start..<min(start + 8, bytes.count)]))
        }
        return sum | 1
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
