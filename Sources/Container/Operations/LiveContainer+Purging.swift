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
            let choice = try VersionsToPurge(version, of: document, force: force)
            let (going, pinned) = (choice.going, choice.pinned)
            let versions = going.map { (version: $0, path: document.path) }
            if dryRun {
                return RemovalOutcome(
                    versions: versions, pinned: pinned, bytes: try purgeables.versions.freed(by: going))
            }
            let requester = requester(principal)
            let bytes = try cutting(going) {
                try purgeables.versions.remove(going, at: document.path, by: requester) { removed in
                    resolvedByRemoval(removed, of: document, requester) + parted(document, from: removed)
                }
            }
            return RemovalOutcome(versions: versions, pinned: pinned, bytes: bytes)
        }
    }

    /// An unresolved loser that is removed is resolved.
    private func resolvedByRemoval(
        _ removed: [Version], of document: DocumentRecord, _ requester: Requester
    ) -> [VersionStore.Mutation] {
        let directory = removed.isEmpty ? nil : purgeables.versions.directory(of: document.item)
        return removed.filter { $0.kind == .conflict }.map { loser in
            .change(
                Change(
                    event: .resolved, path: document.path, item: loser.item, version: loser.id, time: now,
                    author: requester.author, directory: directory))
        }
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

    /// Throws unless the caller may write the document.
    func requireWrite(_ document: DocumentRecord, _ principal: Principal) throws {
        try finder.requireWrite(document, principal)
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
            let all = try store.deletions(within: path).removable(before: before, finder, principal)
                .filter { entry == nil || $0.id == entry }
            let held = force ? PinnedEntries() : try purgeables.deleted.heldByPins(all)
            let going = all.filter { !held.entries.contains($0.id) }.contentsFirst
            var outcome = dryRun ? try purgeables.deleted.wouldRemove(going) : RemovalOutcome()
            outcome.pinned = held.versions
            guard !dryRun else { return outcome }
            for (done, deletion) in going.enumerated() {
                try report(done, going.count)
                let removed = try names.writing { (names) throws -> (versions: [Version], bytes: UInt64) in
                    try purgeables.deleted.remove(names, deletion)
                }
                outcome.deleted += 1
                outcome.bytes.addCapped(removed.bytes)
                outcome.bytes.addCapped(try cut(Set(removed.versions.map(\.content))))
                outcome.versions += removed.versions.map { ($0, deletion.path) }
            }
            return outcome
        }
    }
}
