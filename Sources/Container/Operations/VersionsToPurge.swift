// Which versions of a document may go for good.

import VersionModel

/// The choice of a purge.
struct VersionsToPurge {
    var going: [Version]
    /// Versions that are kept by their pins.
    var pinned = 0

    /// - Parameter version: nil: all but the current one, unresolved losers and their bases.
    init(_ version: Version?, of document: DocumentRecord, force: Bool) throws {
        if let version {
            going = [try Self.leaving(version, document, force: force)]
            return
        }
        let bases = Set(document.conflicts.compactMap(\.base))
            .union(MergeBase.ofConflicts(in: document.versions).values)
        let others = document.versions.filter { $0.kind == .history && !bases.contains($0.id) }
        going = others.filter { force || !$0.flags.contains(.pinned) }
        pinned = others.count - going.count
        guard going.isEmpty else { return }
        if others.isEmpty { throw OperationError(.nothingToDo, "no other version to remove", path: document.path) }
        throw OperationError(
            .nothingToDo, "all other versions are pinned", path: document.path,
            advice: "`versionsctl purge --force` removes pinned versions, too")
    }

    private static func leaving(_ version: Version, _ document: DocumentRecord, force: Bool) throws -> Version {
        guard version.kind != .current else {
            throw OperationError(
                .invalid, "the current version cannot be purged", path: document.path,
                advice: "remove the file, then run `versionsctl purge --deleted`")
        }
        guard force || !version.flags.contains(.pinned) else {
            throw OperationError(
                .invalid, "the version is pinned", path: document.path,
                advice: "`versionsctl unpin` releases it; `purge --force` removes it all the same")
        }
        return version
    }
}

extension [Deletion] {
    /// A directory comes after its contents: if the purge is stopped, the rest can still be restored with it.
    var contentsFirst: [Deletion] {
        filter { $0.type != .directory }
            + filter { $0.type == .directory }.sorted { $0.path.names.count > $1.path.names.count }
    }

    /// The entries that pinned versions hold, and the directories that they were in, into which they are brought back.
    /// - Parameter pins: how many pinned versions a document has that would go with its last deletion.
    func held(byPins pins: (ItemID) throws -> Int) rethrows -> PinnedEntries {
        var held = PinnedEntries()
        var pinned: [ItemID: Int] = [:]
        var directories: Set<FileID> = []
        for deletion in self {
            guard let item = deletion.item else { continue }
            let count = try pinned[item] ?? pins(item)
            if pinned[item] == nil { held.versions += count }
            pinned[item] = count
            guard count > 0 else { continue }
            held.entries.insert(deletion.id)
            directories.insert(deletion.place.directory)
        }
        for deletion in contentsFirst where deletion.type == .directory && directories.contains(deletion.file) {
            held.entries.insert(deletion.id)
            directories.insert(deletion.place.directory)
        }
        return held
    }

    /// Those that a caller may remove for good.
    /// - Parameter before: only those that were deleted before this moment.
    func removable(before: Timestamp?, _ finder: Finder, _ principal: Principal) -> [Deletion] {
        var known = KnownDirectories()
        var result: [Deletion] = []
        for deletion in self {
            if let before, deletion.deleted >= before { continue }
            if finder.mayTake(deletion, principal, &known) { result.append(deletion) }
        }
        return result
    }
}
