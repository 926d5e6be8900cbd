// The files that were compared with their facts since the mount.

import Lineage
import VersionModel

/// How files were when they were compared last: one that is still so is not looked at again.
final class LookedAt: Sendable {
    /// Of more files than these all are forgotten, and looked at again.
    private static let most = 30_000

    /// Innermost.
    private let stamps = RankedMutex([FileID: Stamp]())

    func has(_ file: FileID, _ stamp: Stamp) -> Bool { stamps.withLock { $0[file] == stamp } }

    func note(_ file: FileID, _ stamp: Stamp) {
        stamps.withLock { stamps in
            if stamps.count >= Self.most { stamps.removeAll() }
            stamps[file] = stamp
        }
    }
}
