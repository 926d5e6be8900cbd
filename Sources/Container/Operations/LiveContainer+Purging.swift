// Giving up history and deleted things for good.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// What is gone for good, or would go.
public struct RemovalOutcome: Hashable, Sendable {
    /// The versions, with the paths of their documents where they are known.
    public var versions: [(version: Version, path: TreePath)] = []
    public var deleted = 0
    /// These entries, as far as nothing has happened to them yet.
    public var entries: [Deletion] = []
    /// Pinned versions that stay, and would go by force.
    public var pinned = 0
    /// Of contents and deleted files that nothing names any more.
    public var bytes: UInt64 = 0

    public static func == (left: RemovalOutcome, right: RemovalOutcome) -> Bool {
        left.versions.map(\.version) == right.versions.map(\.version) && left.deleted == right.deleted
            && left.entries == right.entries && left.pinned == right.pinned && left.bytes == right.bytes
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(versions.map(\.version)) }
}

extension LiveContainer {
    /// Removes versions of a document for good: one, or all but the current one, unresolved losers and their bases.
    /// - Parameters:
    ///   - dryRun: only say which would go.
    ///   - force: pinned versions, too.
    public func purge(
        _ document: DocumentRecord, _ version: Version?, dryRun: Bool = false, force: Bool = false,
        as principal: Principal
    ) throws(OperationError) -> RemovalOutcome {
        try operation {
            try requireWrite(document, principal)
            let (going, pinned) = try version.map { (try [leaving($0, document, force: force)], 0) }
                ?? others(of: document, force: force)
            let versions = going.map { (version: $0, path: document.path) }
            if dryRun { return RemovalOutcome(versions: versions, pinned: pinned, bytes: try wouldFree(going)) }
            let requester = requester(principal)
            let bytes = try cutting(going) {
                try giveUp(going, at: document.path, by: requester) { removed in
                    resolvedByRemoval(removed, of: document, requester) + parted(document, from: removed)
                }
            }
            return RemovalOutcome(versions: versions, pinned: pinned, bytes: bytes)
        }
    }

    private func leaving(_ version: Version, _ document: DocumentRecord, force: Bool) throws -> Version {
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

    /// The versions that a document may lose, and how many of its versions are kept by their pins.
    private func others(of document: DocumentRecord, force: Bool) throws -> (going: [Version], pinned: Int) {
        let bases = Set(document.conflicts.compactMap(\.base))
            .union(MergeBase.ofConflicts(in: document.versions).values)
        let others = document.versions.filter { $0.kind == .history && !bases.contains($0.id) }
        let going = others.filter { force || !$0.flags.contains(.pinned) }
        guard going.isEmpty else { return (going, others.count - going.count) }
        if others.isEmpty { throw OperationError(.nothingToDo, "no other version to remove", path: document.path) }
        throw OperationError(
            .nothingToDo, "all other versions are pinned", path: document.path,
            advice: "`versionsctl purge --force` removes pinned versions, too")
    }

    /// An unresolved loser that is removed is resolved.
    private func resolvedByRemoval(
        _ removed: [Version], of document: DocumentRecord, _ requester: Requester
    ) -> [VersionStore.Mutation] {
        let directory = removed.isEmpty ? nil : directory(of: document.item)
        return removed.filter { $0.kind == .conflict }.map { loser in
            .change(
                Change(
                    event: .resolved, path: document.path, item: loser.item, version: loser.id, time: now,
                    author: requester.author, directory: directory))
        }
    }

    /// The directory that a document is in, or was in when it was deleted.
    private func directory(of item: ItemID) -> FileID? {
        (try? store.item(item))?.places.first?.directory ?? (try? store.deletions(of: item))?.first?.place.directory
    }

    /// Losers whose common ancestor goes have none any more.
    private func parted(_ document: DocumentRecord, from removed: [Version]) -> [VersionStore.Mutation] {
        let gone = Set(removed.map(\.id))
        return document.conflicts.filter { $0.base.map(gone.contains) ?? false && !gone.contains($0.id) }.map { loser in
            var loser = loser
            loser.base = nil
            return .version(loser)
        }
    }

    /// Deletes versions, and contents that no other version names. The rows go first: an object that remains after a
    /// crash gets its record back from its label, but a row without its content would be a loss.
    ///
    /// - Parameters:
    ///   - path: the last path of their document, if it has no place any more.
    ///   - requester: the process that asked for it; nil for the container itself.
    ///   - mayWait: whether the caller holds no document's lock.
    ///   - rows: more rows for the same transaction, made of the deleted versions.
    /// - Returns: the freed bytes.
    func giveUp(
        _ versions: [Version], at path: TreePath? = nil, by requester: Requester? = nil, mayWait: Bool = true,
        rows: ([Version]) -> [VersionStore.Mutation] = { _ in [] }
    ) throws -> UInt64 {
        let gone = Set(versions.map(\.id))
        let events = lost(versions, at: path, by: requester)
        let heirs = try store.heirs(of: versions)
        store.commit(versions.map { .removeVersion($0.id) } + rows(versions) + events)
        for heir in heirs { tellParents(of: heir.id, mayWait: mayWait) }
        return try Set(versions.map(\.content)).reduce(into: 0) { bytes, content in
            bytes.addCapped(try custodian.remove(content, unlessNamedBeside: gone))
        }
    }

    /// Rows of the change feed for versions that go for good.
    private func lost(_ versions: [Version], at path: TreePath?, by requester: Requester?) -> [VersionStore.Mutation] {
        var places: [ItemID: (path: TreePath, directory: FileID?)] = [:]
        return versions.map { version in
            let known = places[version.item] ?? (
                path ?? (try? store.item(version.item)).flatMap { try? store.path(of: $0) } ?? .root,
                directory(of: version.item)
            )
            places[version.item] = known
            return .change(
                Change(
                    event: .versionLost, path: known.path, item: version.item, version: version.id, time: now,
                    author: requester?.author, directory: known.directory))
        }
    }

    /// Throws unless the caller may write the document.
    func requireWrite(_ document: DocumentRecord, _ principal: Principal) throws {
        if let deletion = document.deletion {
            guard mayTake(deletion, principal) else { throw OperationError.denied(document.path) }
            return
        }
        try looking(as: principal) { walk in try walk.require(.write, on: try walk.document(document.path).spot) }
    }

    // MARK: The deleted area

    /// Removes entries of the deleted area for good, with the history of documents that are nowhere else. An entry that
    /// the caller may not remove stays, and so does an entry with pinned versions, with the directories that it was in.
    ///
    /// - Parameters:
    ///   - before: only entries that were deleted before this moment; nil: all.
    ///   - path: only entries that were deleted there or below; nil: all.
    ///   - entry: only this one.
    ///   - dryRun: only say which would go.
    ///   - force: entries with pinned versions, too.
    public func purgeDeleted(
        before: Timestamp?, within path: TreePath? = nil, entry: DeletionID? = nil, dryRun: Bool = false,
        force: Bool = false, as principal: Principal, report: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws(OperationError) -> RemovalOutcome {
        defer { if !dryRun { endUndeletes() } }
        return try operation {
            let all = removable(try store.deletions(within: path), before: before, principal)
                .filter { entry == nil || $0.id == entry }
            let held = force ? PinnedEntries() : try heldByPins(all)
            let going = Self.contentsFirst(all.filter { !held.entries.contains($0.id) })
            var outcome = dryRun ? try wouldRemove(going) : RemovalOutcome()
            outcome.pinned = held.versions
            guard !dryRun else { return outcome }
            for (done, deletion) in going.enumerated() {
                try report(done, going.count)
                let removed = try names.writing { (names) throws -> (versions: [Version], bytes: UInt64) in
                    try remove(names, deletion)
                }
                outcome.deleted += 1
                outcome.bytes.addCapped(removed.bytes)
                outcome.bytes.addCapped(try cut(Set(removed.versions.map(\.content))))
                outcome.versions += removed.versions.map { ($0, deletion.path) }
            }
            return outcome
        }
    }

    /// A directory comes after its contents: if the purge is stopped, the rest can still be restored with it.
    private static func contentsFirst(_ deletions: [Deletion]) -> [Deletion] {
        let directories = deletions.filter { $0.type == .directory }
        return deletions.filter { $0.type != .directory }
            + directories.sorted { $0.path.names.count > $1.path.names.count }
    }

    private func removable(_ all: [Deletion], before: Timestamp?, _ principal: Principal) -> [Deletion] {
        var known = KnownDirectories()
        var result: [Deletion] = []
        for deletion in all {
            if let before, deletion.deleted >= before { continue }
            if mayTake(deletion, principal, &known) { result.append(deletion) }
        }
        return result
    }

    /// One entry of the deleted area goes. The names are held, so that it does not come back meanwhile.
    func remove(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion
    ) throws -> (versions: [Version], bytes: UInt64) {
        guard let deletion = try store.deletion(deletion.id) else { return ([], 0) }
        // A name that comes back now is a new document.
        _ = takeTombstone(of: deletion)
        if try handToOtherName(deletion) { return ([], 0) }
        var rows: [VersionStore.Mutation] = [.removeDeletion(deletion.id)]
        var versions: [Version] = []
        if let id = deletion.item, let item = try store.item(id), item.places.isEmpty,
            try store.deletions(of: id).allSatisfy({ $0.id == deletion.id })
        {
            versions = try store.versions(of: id)
            if let current = versions.first(where: { $0.id == item.current }), try hasHeir(current) {
                // An older version of another item is in this file and nowhere else.
                let label = ContentStore.Label(
                    version: try heir(of: current) ?? current, path: deletion.path, place: deletion.place)
                try custodian.keep(deletion.id, as: current.content, label)
            }
            rows.append(.forgetItem(id))
        }
        store.commit(rows)
        // Of the current one there may be a copy too, from when it was open for writing.
        var bytes = try versions.isEmpty ? 0 : giveUp(versions, at: deletion.path)
        let place = store.deletedArea.place(of: deletion.id)
        if let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) {
            // The kernel may have the file open for reading by itself, and would keep its blocks.
            if let node = nodes.node(deletion.id) { serving.passthrough.drop(node) }
            try store.deletedArea.remove(deletion.id)
            bytes += deletion.type == .file ? min(stat.size, .max - bytes) : 0
        }
        return (versions, bytes)
    }

    private func heir(of version: Version) throws -> Version? {
        try store.versions(sharing: version.content).first { $0.item != version.item }
    }

    private func hasHeir(_ version: Version) throws -> Bool {
        try !store.contents.contains(version.content) && heir(of: version) != nil
    }
}
