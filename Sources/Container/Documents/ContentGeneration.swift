// What tells one content of a file from its next one, without reading either.

import VersionModel

/// Equal for two moments between which a file's content has not changed, different if it has.
/// `user.versions.generation` tells it.
struct ContentGeneration: Hashable, Sendable {
    /// The version that is in the file, or the item whose content is not a version.
    private var high: UInt64
    private var low: UInt64
    private var detail: UInt64

    /// Of a file that holds a version, as it was saved last.
    init(version: VersionID, saved: HybridTime) {
        (high, low) = (version.high, version.low)
        detail = BitMixing.mix(UInt64(bitPattern: saved.wall.nanoseconds)) &+ BitMixing.mix(UInt64(saved.logical))
    }

    /// Of anything else: of a directory, of what has no versions, of what is being written.
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
