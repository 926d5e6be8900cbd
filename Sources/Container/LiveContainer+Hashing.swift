// Hashing contents that are too big for the moment of the save.

import VersionModel
import VersionStore

extension LiveContainer {
    /// Has the version's hash computed in the background if it was not computed at once.
    func hashLater(_ version: Version) {
        guard version.hash == nil, !version.flags.contains(.contentLost) else { return }
        pendingHashes.add(version.id)
    }
}
