// What a power cut leaves of a file that had grown: a pure rule of its bytes (docs/decisions/0003).

/// Bytes that were written and have not arrived are zeros. The disk takes a file in blocks: zeros are all of a block,
/// or, of the one in which the file had ended when the disk had all of it, what follows that end.
public enum LostBlocks {
    /// The smallest unit in which a file system writes.
    public static let size = 4096

    /// Whether a block has not arrived as it was last.
    /// - Parameters:
    ///   - block: at most ``size`` bytes; fewer at the end of the file.
    ///   - offset: where it begins in the file.
    ///   - lengths: how long the file is known to have been before. What it was then, it still begins with.
    public static func isLost(_ block: some Collection<UInt8>, at offset: UInt64, lengths: [UInt64]) -> Bool {
        let end = offset + UInt64(block.count)
        // The last of them leaves the fewest that have to be zeros.
        let known = lengths.filter { $0 >= offset && $0 < end }.max() ?? offset
        return !block.isEmpty && block.dropFirst(Int(clamping: known - offset)).allSatisfy { $0 == 0 }
    }
}
