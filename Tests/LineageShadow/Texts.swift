import Lineage

/// The contents that files had, each with the fingerprint by which the rules know it.
public struct Texts: Sendable {
    private var texts: [Fingerprint: [UInt8]] = [:]

    public init() {}

    /// Two sums of 64 bits that differ where contents differ.
    mutating func fingerprint(_ bytes: [UInt8]) -> Fingerprint {
        if bytes.isEmpty { return .empty }
        var (high, low): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15)
        for byte in bytes {
            high = (high ^ UInt64(byte)) &* 0x100_0000_01b3
            low = (low &+ UInt64(byte) &+ 1) &* 0xbf58_476d_1ce4_e5b9
            low ^= low >> 29
        }
        let fingerprint = Fingerprint(size: UInt64(bytes.count), high: high, low: low)
        texts[fingerprint] = bytes
        return fingerprint
    }

    func text(_ fingerprint: Fingerprint) -> String {
        fingerprint.isEmpty ? "" : texts[fingerprint].map { String(decoding: $0, as: UTF8.self) } ?? "?"
    }

    func begins(_ content: Fingerprint, with other: Fingerprint) -> Bool {
        if other.isEmpty { return true }
        guard let content = texts[content], let other = texts[other] else { return false }
        return content.starts(with: other)
    }
}
