// Whether files have the bytes of versions, as far as these are known.

import CLinux
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
        // Of big files the first difference is enough.
        var offset: UInt64 = 0
        while offset < part.size {
            let length = Int(min(UInt64(Self.block), part.size - offset))
            guard try block(of: file, offset, length) == block(of: other, offset, length) else { return false }
            offset += UInt64(length)
        }
        return true
    }

    /// Whether a file has bytes other than zeros from an offset on.
    func isWritten(_ file: Int32, from start: UInt64) throws(Errno) -> Bool {
        let size = try Backing.stat(file).size
        var offset = start
        while offset < size {
            // Holes are passed over, where the file system tells of them.
            let next = lseek(file, off_t(clamping: offset), linux_SEEK_DATA)
            if next < 0, errno == ENXIO { return false }
            offset = max(offset, UInt64(max(0, next)))
            let length = Int(min(UInt64(Self.block), size - offset))
            if try block(of: file, offset, length).contains(where: { $0 != 0 }) { return true }
            offset += UInt64(length)
        }
        return false
    }

    private func block(of file: Int32, _ offset: UInt64, _ length: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        let count = try Backing.check { pread(file, &bytes, length, off_t(clamping: offset)) }
        guard count == length else { throw .ioError }
        return bytes
    }

    private static let block = 1 << 17

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
