// A mark on files that were renamed over a document: what they had to be then.

import CLinux
import Glibc
import Lineage
import VersionModel
import VersionStore

/// An extended attribute with the length and the first half of the SHA-256 that a closed file had when it took a name.
/// The name may reach the disk before the content, and the facts of the rename may be lost. A big file is not hashed:
/// it had no holes. File systems without user attributes have no mark.
struct RenamedMark: Equatable {
    private static let attribute = "user.versionsfs.renamed".utf8.map { CChar(bitPattern: $0) } + [0]

    var bytes: Fingerprint

    init(_ bytes: Fingerprint) { self.bytes = bytes }

    init?(of file: Int32) {
        var words = [UInt64](repeating: 0, count: 4)
        guard linux_fgetxattr(file, Self.attribute, &words, 32) == 24 else { return nil }
        bytes = Fingerprint(
            size: UInt64(littleEndian: words[0]), high: UInt64(littleEndian: words[1]),
            low: UInt64(littleEndian: words[2]))
    }

    /// - Returns: whether the file has the mark.
    func set(on file: Int32) -> Bool {
        let words = [bytes.size.littleEndian, bytes.high.littleEndian, bytes.low.littleEndian]
        return linux_fsetxattr(file, Self.attribute, words, 24, 0) == 0
    }

    /// Whether an open file has all that it had.
    func isWhole(_ file: Int32, _ size: UInt64) -> Bool {
        guard size >= bytes.size else { return false }
        if bytes.size > FileLooks.hashedAtOnce { return SaveMark.isWithoutHoles(file, size: bytes.size) }
        guard bytes.size > 0, let hash = ContentHash.sha256(of: file, size: bytes.size) else { return true }
        return Fingerprint(hash: hash, size: bytes.size) == bytes
    }
}
