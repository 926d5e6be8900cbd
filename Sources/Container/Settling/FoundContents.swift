// The bytes that files are found to begin with, for settling.

import Glibc
import Lineage
import VersionModel
import VersionStore

/// Answers whether a found file begins with the bytes of a version.
struct FoundContents: Sendable {
    private let disk: any SettledDisk
    /// Bytes that were never hashed, and those of them that share a content with others: such a content was only
    /// appended to, because it would have been kept before it was overwritten.
    private var unhashed: Set<Fingerprint> = []
    private var appended: Set<Fingerprint> = []

    init(_ facts: Facts, _ disk: any SettledDisk) {
        self.disk = disk
        for version in facts.versions where version.fingerprint.size > FileLooks.hashedAtOnce {
            let bytes = version.fingerprint
            guard bytes == .unknown(bytes.size, in: version.content, modified: version.modified) else { continue }
            unhashed.insert(bytes)
            if facts.countOfVersions(in: version.content) > 1 { appended.insert(bytes) }
        }
    }

    func begins(_ file: Lineage.Found.File, with bytes: Fingerprint) -> Bool {
        if bytes == file.fingerprint || bytes.size == 0 { return true }
        guard bytes.size < file.fingerprint.size else { return false }
        if unhashed.contains(bytes) { return appended.contains(bytes) }
        guard let opened = try? disk.open(file.id),
            let hash = ContentHash.sha256(of: opened.raw, size: bytes.size)
        else { return false }
        return Fingerprint(hash: hash, size: bytes.size) == bytes
    }
}
