// Distinguishes a file's contents over time, without a read.

import VersionModel

/// Equal at two moments if the file's content has not changed in between, different otherwise. The value of
/// `user.versions.generation`.
struct ContentGeneration: Hashable, Sendable {
    /// The version in the file, or the item if its content is not a version.
    private var high: UInt64
    private var low: UInt64
    private var detail: UInt64

    /// For a file that holds a version, in the state of its last save.
    init(version: VersionID, saved: HybridTime) {
        (high, low) = (version.high, version.low)
        detail = BitMixing.mix(UInt64(bitPattern: saved.wall.nanoseconds)) &+ BitMixing.mix(UInt64(saved.logical))
    }

    /// For all others: a directory, a file without versions, a file during a write.
    init(item: ItemID, file stat: FileStat) {
        (high, low) = (item.high, item.low)
        let times = BitMixing.mix(UInt64(bitPattern: stat.modified.nanoseconds))
        detail = BitMixing.mix(stat.size ^ times) ^ BitMixing.mix(stat.key.inode &+ times)
    }

    /// 48 hex digits.
    var text: String {
        [high, low, detail].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
