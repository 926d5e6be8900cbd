// Versions whose content is still to be hashed.

import Synchronization
import VersionModel

/// A set in order of arrival; bounded, for what is not hashed is merely not known. Lock order: last.
final class PendingHashes: Sendable {
    private let versions = Mutex<[VersionID]>([])

    func add(_ version: VersionID) {
        versions.withLock { if $0.count < 10_000, !$0.contains(version) { $0.append(version) } }
    }

    func takeAll() -> [VersionID] {
        versions.withLock { versions in
            defer { versions = [] }
            return versions
        }
    }
}
