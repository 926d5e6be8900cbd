// Versions whose content is still to be hashed.

import Synchronization
import VersionModel

/// A set in order of arrival; bounded, for what is not hashed is merely not known. Lock order: last.
final class PendingHashes: Sendable {
    private let versions = Mutex<[VersionID]>([])
    private let ended = Atomic<Bool>(false)

    /// Nobody waits for a hash when the container is closed: it is computed at the next save, or never.
    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }

    /// - Returns: whether it is the first, so that somebody has to be called.
    func add(_ version: VersionID) -> Bool {
        versions.withLock { versions in
            guard versions.count < 10_000, versions.last != version else { return false }
            versions.append(version)
            return versions.count == 1
        }
    }

    func takeAll() -> [VersionID] {
        versions.withLock { versions in
            defer { versions = [] }
            return versions
        }
    }
}
