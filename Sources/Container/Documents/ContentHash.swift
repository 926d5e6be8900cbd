// SHA-256 of a file's first bytes.

import CLinux
import Crypto
import Glibc

enum ContentHash {
    private static let empty = Array(SHA256.hash(data: []))

    /// The digest of the first `size` bytes of an open file; nil if they cannot be read or do not exist.
    /// - Parameter isWanted: called after every MiB; once it is false, the result is nil.
    static func sha256(of file: Int32, size: UInt64, isWanted: () -> Bool = { true }) -> [UInt8]? {
        if size == 0 { return empty }
        // Without an update of the access time, where that is allowed.
        let isQuiet = fcntl(file, F_GETFL) & linux_O_NOATIME != 0
        let quiet = isQuiet ? -1 : (try? Backing.openQuietly([], in: file, nil)) ?? -1
        defer { if quiet >= 0 { close(quiet) } }
        let file = quiet >= 0 ? quiet : file
        if size <= 16_384, let digest = small(file, size: Int(size)) { return digest }
        var hasher = SHA256()
        var offset: UInt64 = 0
        let chunk = Int(min(max(size, 1), 1 << 20))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 16)
        defer { buffer.deallocate() }
        while offset < size {
            guard isWanted() else { return nil }
            let wanted = Int(min(UInt64(chunk), size - offset))
            let count = pread(file, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(count)
        }
        return bytes(hasher.finalize())
    }

    /// The same in one read, without a heap buffer; nil if one read is not enough.
    private static func small(_ file: Int32, size: Int) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer in
            guard pread(file, buffer.baseAddress, size, 0) == size else { return nil }
            var hasher = SHA256()
            hasher.update(bufferPointer: UnsafeRawBufferPointer(buffer))
            return bytes(hasher.finalize())
        }
    }

    private static func bytes(_ digest: SHA256.Digest) -> [UInt8] { digest.withUnsafeBytes { Array($0) } }
}
