// Versions without a hash yet.

import Synchronization
import VersionModel

/// A set in order of arrival. Bounded, because a missing hash is harmless. Lock order: last.
final class PendingHashes: Sendable {
    private let versions = RankedMutex<[VersionID]>([])
    private let ended = Atomic<Bool>(false)

    /// Whether the container is being closed: no program waits for a hash, and the next save may compute it.
    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }

    /// - Returns: whether it is the first, so that the hashing must be started.
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
