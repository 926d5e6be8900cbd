// Contents as the engine tells them apart.

import Lineage
import VersionModel

extension Fingerprint {
    /// - Parameter hash: SHA-256 of the bytes.
    public init(hash: [UInt8], size: UInt64) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        let (high, low) = (number(hash.prefix(8)), number(hash.dropFirst(8).prefix(8)))
        self = size == 0 ? .empty : Self(size: size, high: high, low: low)
    }

    /// Bytes that are not hashed yet: equal to themselves alone.
    public static func unknown(_ size: UInt64, in content: Content, modified: Timestamp) -> Self {
        let time = BitMixing.mix(UInt64(bitPattern: modified.nanoseconds))
        return Self(
            size: size, high: BitMixing.mix(content.file.number ^ time), low: BitMixing.mix(content.generation &+ time))
    }
}
