// Contents of the enumerated worlds: at most 16 letters, which a fingerprint holds themselves.

import Lineage

extension Fingerprint {
    /// The longest content of a world.
    static let longest = 16

    /// The letter at a position; 0 behind the end.
    func letter(_ position: Int) -> UInt8 {
        let half = position < 8 ? low : high
        return UInt8(truncatingIfNeeded: half >> UInt64((position & 7) * 8))
    }

    /// The content with one letter written at a position. A gap before it is filled with zeros.
    func writing(_ letter: UInt8, at position: Int) -> Fingerprint {
        guard position < Self.longest else { return self }
        var written = self
        let shift = UInt64((position & 7) * 8)
        let (mask, bits) = (UInt64(255) << shift, UInt64(letter) << shift)
        if position < 8 { written.low = low & ~mask | bits } else { written.high = high & ~mask | bits }
        written.size = max(size, UInt64(position) + 1)
        return written
    }

    /// The first letters of the content.
    func prefix(_ count: UInt64) -> Fingerprint {
        guard count < size else { return self }
        var prefix = self
        prefix.size = count
        prefix.low = count >= 8 ? low : low & (1 << (count * 8) - 1)
        prefix.high = count <= 8 ? 0 : high & (1 << ((count - 8) * 8) - 1)
        return prefix
    }

    func begins(with other: Fingerprint) -> Bool { other.size <= size && prefix(other.size) == other }

    /// The bytes of the content, for a file.
    public var bytes: [UInt8] { (0..<Int(size)).map(letter) }

    /// The letters as a word, for people; `.` for none.
    var letters: String {
        if isEmpty { return "." }
        let word = (0..<Int(size)).map { letter($0) < 27 ? 96 + letter($0) : UInt8(ascii: "?") }
        return String(decoding: word, as: UTF8.self)
    }
}
