// What is done while nobody waits: sealing what stays open, forgetting tombstones, hashing.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// How long a changed handle must be quiet to be sealed while it stays open (DESIGN 5.1).
    private static let quietNanoseconds: Int64 = 5_000_000_000

    func beginChores() {
        chores.after(0) { [weak self] in self?.hashPending() }
    }

    /// Hashes what was too big at the moment of its save.
    func hashPending() {
        for id in pendingHashes.takeAll() { hash(id) }
    }

    private func hash(_ id: VersionID) {
        guard let version = try? store.version(id), version.hash == nil, version.flags.contains(.sealed),
            let file = try? openContent(of: version)
        else { return }
        guard let digest = ContentHash.sha256(of: file.raw, size: version.size) else { return }
        store.commit([.hash(id, digest)])
    }

    /// The content of a version, open for reading; its first `size` bytes are the version's.
    func openContent(of version: Version) throws(Errno) -> SharedDescriptor {
        if let kept = try? store.contents.open(version.content) { return SharedDescriptor(kept.rawValue) }
        throw .noSuchFileOrDirectory
    }
}
