// The mark on a file that takes a name, because its content may reach the disk later (docs/decisions/0003).

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Recent writes may reach the disk after the file's new name does: the mark has the size and hash of the content.
    ///
    /// - Returns: the file, and its hash if it is small.
    func markRenamed(_ move: Move) -> Marked? {
        guard
            let raw = try? Backing.openQuietly(
                move.source.name.bytes, in: move.source.directory.raw, move.source.stat.key)
        else { return nil }
        let file = SharedDescriptor(raw)
        // Its writer may have saved it since the last look.
        guard let stat = try? Backing.stat(raw) else { return nil }
        guard stat.size > 0 else { return Marked(file: file, stat: stat, hash: nil, isTelling: false) }
        let (hash, isTelling) = markWhole(raw, size: stat.size)
        return Marked(file: file, stat: stat, hash: hash, isTelling: isTelling)
    }

    /// - Returns: the hash of what is marked as a whole save, if it is small; and whether that tells anything.
    @discardableResult
    func markWhole(_ file: Int32, size: UInt64) -> (hash: [UInt8]?, isTelling: Bool) {
        let hash = size <= Self.hashedAtOnce ? ContentHash.sha256(of: file, size: size) : nil
        return (hash, SaveMark.whole(file, size: size, hash: hash, now: now).set(on: file))
    }

    /// A file that is renamed over a document, open for reading.
    struct Marked {
        var file: SharedDescriptor
        /// As it was before it was marked.
        var stat: FileStat
        var hash: [UInt8]?
        /// After a power cut its mark tells whether all of it has arrived. Not so of one that may not be marked, or has
        /// holes.
        var isTelling: Bool
    }
}
