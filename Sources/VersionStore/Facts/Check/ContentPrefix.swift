// The beginnings of a content, as versions are recorded of it.

import Crypto
import Glibc
import Lineage
import SystemPackage
import VersionModel

/// What a version says of the bytes that it is.
struct ContentPrefix {
    /// The fingerprint of more is no hash.
    static let mostHashed: UInt64 = 1 << 20

    var number: VersionNumber
    var size: UInt64
    /// The first bytes of the SHA-256, as far as they are known; nil if it is not.
    var digest: [UInt8]?

    init(_ version: VersionRow, _ detail: VersionDetail) {
        let bytes = version.fingerprint
        (number, size) = (version.number, bytes.size)
        let isUnknown =
            bytes.size > Self.mostHashed
            || bytes == .unknown(bytes.size, in: version.content, modified: version.modified)
        digest = detail.hash ?? (isUnknown ? nil : ContentID(high: bytes.high, low: bytes.low).bytes)
    }

    /// The SHA-256 of beginnings of a file, in one reading. One that it does not have is left out.
    static func digests(of file: FileDescriptor, _ sizes: [UInt64]) throws(Errno) -> [UInt64: [UInt8]] {
        var digests: [UInt64: [UInt8]] = [:]
        var hasher = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var read: UInt64 = 0
        for size in Set(sizes).sorted() {
            while read < size {
                let wanted = Int(min(UInt64(buffer.count), size - read))
                let count = try System.call { Glibc.read(file.rawValue, &buffer, wanted) }
                guard count > 0 else { return digests }
                buffer.withUnsafeBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                read += UInt64(count)
            }
            // The hash goes on behind this beginning.
            digests[size] = Array(hasher.finalize())
        }
        return digests
    }

    static func fingerprint(
        of file: FileDescriptor, _ size: UInt64, in content: Content, modified: Timestamp
    ) throws(Errno) -> Fingerprint {
        guard size <= mostHashed, let hash = try digests(of: file, [size])[size] else {
            return .unknown(size, in: content, modified: modified)
        }
        return Fingerprint(hash: hash, size: size)
    }
}
