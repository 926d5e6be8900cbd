// Whether files have the bytes of versions, as far as these are known.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Compares open files with what was recorded of them.
struct VersionBytes {
    let facts: FactStore

    /// Whether a file of some size begins with a version. Of a big version that was not hashed yet, the size tells.
    func begins(_ file: Int32, _ size: UInt64, with version: VersionRow) throws(Errno) -> Bool {
        let bytes = version.fingerprint
        guard bytes.size > 0 else { return true }
        guard size >= bytes.size else { return false }
        if bytes.size <= FileLooks.hashedAtOnce {
            if bytes == .unknown(bytes.size, in: version.content, modified: version.modified) { return true }
            return beginning(of: file, bytes.size) == bytes
        }
        let hash: [UInt8]?
        do { hash = try facts.detail(of: version.number)?.hash } catch { throw .ioError }
        guard let hash else { return true }
        return ContentHash.sha256(of: file, size: bytes.size) == hash
    }

    /// The fingerprint of a file's first bytes; nil if they cannot be read.
    func beginning(of file: Int32, _ size: UInt64) -> Fingerprint? {
        if size == 0 { return .empty }
        return ContentHash.sha256(of: file, size: size).map { Fingerprint(hash: $0, size: size) }
    }

    /// Whether a file begins with all of another one.
    func begins(_ file: Int32, with other: Int32) throws(Errno) -> Bool {
        let (whole, part) = (try Backing.stat(file), try Backing.stat(other))
        guard whole.size >= part.size else { return false }
        if whole.size == part.size, whole.modified == part.modified, whole.size > FileLooks.hashedAtOnce { return true }
        guard let hash = ContentHash.sha256(of: other, size: part.size) else { throw .ioError }
        return ContentHash.sha256(of: file, size: part.size) == hash
    }

    /// Whether a block of a file has not arrived that a version had.
    /// - Parameter lengths: the lengths that the file had before, with the same beginning.
    func lacksBlocks(_ file: Int32, _ size: UInt64, of version: VersionRow, lengths: [UInt64]) -> Bool {
        guard size >= version.fingerprint.size else { return true }
        var block = [UInt8](repeating: 0, count: LostBlocks.size)
        var offset: UInt64 = 0
        while offset < version.fingerprint.size {
            let count = pread(file, &block, block.count, off_t(clamping: offset))
            guard count > 0 else { return false }
            if LostBlocks.isLost(block.prefix(count), at: offset, lengths: lengths) { return true }
            offset += UInt64(count)
        }
        return false
    }
}
