// The damage of a power cut to a grown file: a pure rule of its bytes (docs/decisions/0003).

/// Written bytes that have not reached the disk are zeros. The disk takes a file in blocks. So zeros fill a whole
/// block, or, in the block with the file's former durable end, everything after that end.
public enum LostBlocks {
    /// The smallest unit of a file system's writes.
    public static let size = 4096

    /// Whether a block's last state has not reached the disk.
    /// - Parameters:
    ///   - block: at most ``size`` bytes; fewer at the end of the file.
    ///   - offset: the block's offset in the file.
    ///   - lengths: the known former lengths of the file. The bytes of that time are still its beginning.
    public static func isLost(_ block: some Collection<UInt8>, at offset: UInt64, lengths: [UInt64]) -> Bool {
        let end = offset + UInt64(block.count)
        // The largest of them requires the fewest zeros.
        let known = lengths.filter { $0 >= offset && $0 < end }.max() ?? offset
        return !block.isEmpty && block.dropFirst(Int(clamping: known - offset)).allSatisfy { $0 == 0 }
    }
}
