// Pinning versions, and the deleted entries that stay because of pinned versions.

import Synchronization
import VersionModel
import VersionStore

/// The entries of the deleted area that pinned versions hold.
struct PinnedEntries {
    var entries: Set<DeletionID> = []
    /// How many pinned versions hold them.
    var versions = 0
}

extension LiveContainer {
    /// Keeps a version from being thinned, or lets it go again; the version as it is then.
    public func pin(
        _ version: Version, of document: DocumentRecord, _ isPinned: Bool, as principal: Principal
    ) throws(OperationError) -> Version {
        try operation {
            try requireWrite(document, principal)
            defer { roomState.state.withLock { ($0.addedUp, $0.reclaimable) = (nil, nil) } }
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
                guard var current = state.current, current.id == version.id else { throw savedMeanwhile(document.path) }
                if isPinned { current.flags.insert(.pinned) } else { current.flags.remove(.pinned) }
                state.current = current
                state.isRecorded = true
                record(spot.parent, [.version(current)] + itemRows(state, stat))
                return current
            }
        }
    }

    /// The entries among these that pinned versions hold: those of documents that are nowhere else, and the directories
    /// that they were in, into which they are brought back.
    func heldByPins(_ deletions: [Deletion]) throws -> PinnedEntries {
        var held = PinnedEntries()
        var pinned: [ItemID: Int] = [:]
        var directories: Set<FileID> = []
        for deletion in deletions {
            guard let item = deletion.item else { continue }
            let count = try pinned[item] ?? pinnedVersions(ofDeleted: item)
            if pinned[item] == nil { held.versions += count }
            pinned[item] = count
            guard count > 0 else { continue }
            held.entries.insert(deletion.id)
            directories.insert(deletion.place.directory)
        }
        let deepestFirst = deletions.filter { $0.type == .directory }
            .sorted { $0.path.names.count > $1.path.names.count }
        for deletion in deepestFirst where directories.contains(deletion.file) {
            held.entries.insert(deletion.id)
            directories.insert(deletion.place.directory)
        }
        return held
    }

    /// How many pinned versions a document has that would go with its last deletion; none while it has a name.
    private func pinnedVersions(ofDeleted item: ItemID) throws -> Int {
        guard try store.item(item)?.places.isEmpty == true else { return 0 }
        return try store.versions(of: item).count { $0.flags.contains(.pinned) }
    }
}
