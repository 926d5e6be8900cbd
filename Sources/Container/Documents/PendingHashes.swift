// Versions whose content is still to be hashed.

import Synchronization
import VersionModel

/// A set in order of arrival; bounded, for what is not hashed is merely not known. Lock order: last.
final class PendingHashes: Sendable {
    private let versions = Mutex<[VersionID]>([])

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
