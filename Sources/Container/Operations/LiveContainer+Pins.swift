// Pinning versions.

import Synchronization
import VersionModel
import VersionStore

extension LiveContainer {
    /// Keeps a version from being thinned, or lets it go again; the version as it is then.
    public func pin(
        _ version: Version, of document: DocumentRecord, _ isPinned: Bool, as principal: Principal
    ) throws(OperationError) -> Version {
        try operation {
            try requireWrite(document, principal)
            defer { space.forgetCounts() }
            var version = version
            if isPinned { version.flags.insert(.pinned) } else { version.flags.remove(.pinned) }
            if version.kind == .current, document.deletion == nil {
                return try pinCurrent(version, document, isPinned)
            }
            store.commit([.flags(version.id, version.flags)])
            return version
        }
    }

    private func pinCurrent(_ version: Version, _ document: DocumentRecord, _ isPinned: Bool) throws -> Version {
        try looking(as: .container) { walk in
            let (spot, node, stat) = try walk.document(document.path)
            return try self.document(of: node, stat, at: spot.place, in: spot.parent).state.withLock { state in
                guard var current = state.current, current.id == version.id else {
                    throw OperationError.savedMeanwhile(document.path)
                }
                if isPinned { current.flags.insert(.pinned) } else { current.flags.remove(.pinned) }
                state.current = current
                state.isRecorded = true
                record(spot.parent, [.version(current)] + itemRows(state, stat))
                return current
            }
        }
    }
}
