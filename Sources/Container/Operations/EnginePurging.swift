// Versions and deleted things go for good, over the engine.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Removes them, with the contents that nothing has any more.
struct EnginePurging {
    let ground: EngineGround

    // MARK: Versions

    func purge(
        _ document: DocumentRecord, _ version: Version?, dryRun: Bool, force: Bool, as principal: Principal
    ) throws -> RemovalOutcome {
        try ground.finder.requireWrite(document, principal)
        let choice = try VersionsToPurge(version, of: document, force: force)
        var outcome = RemovalOutcome(
            versions: choice.going.map { ($0, document.path) }, pinned: choice.pinned)
        if dryRun {
            outcome.bytes = try freed(by: choice.going)
            return outcome
        }
        guard let number = try ground.facts.document(document.item) else { throw Errno.noSuchFileOrDirectory }
        var numbers: [VersionNumber: Version] = [:]
        for version in choice.going {
            if let number = try ground.facts.version(version.id) { numbers[number] = version }
        }
        let plan = try ground.engine.perform(.drop(number, numbers.keys.sorted()))
        let gone = ground.removal.forgotten(by: plan)
        if gone.isEmpty, let version = choice.going.first {
            throw OperationError(
                .invalid, "version \(version.id.short) is needed by a conflict", path: document.path)
        }
        outcome.versions = gone.reversed().compactMap { row in numbers[row.number].map { ($0, document.path) } }
        outcome.bytes = try ground.removal.release(gone, isCutting: true)
        return outcome
    }

    /// The bytes that would become free if versions went: their contents, as far as no other version has them.
    private func freed(by versions: [Version]) throws -> UInt64 {
        let gone = Set(versions.map(\.id))
        var bytes: UInt64 = 0
        for content in Set(versions.map(\.content)) {
            let name = ground.state.contents.name(of: content)
            guard let stat = try? Backing.stat(path: name.name, in: name.directory.rawValue) else { continue }
            let left = try ground.past.versions(sharing: content).filter { !gone.contains($0.id) }
            bytes.addCapped(stat.size - min(stat.size, left.map(\.size).max() ?? 0))
        }
        return bytes
    }

    // MARK: The deleted list

    func purgeDeleted(
        before: Timestamp?, within path: TreePath?, entry: DeletionID?, dryRun: Bool, force: Bool,
        as principal: Principal, report: OperatedContainer.PartReport
    ) throws -> RemovalOutcome {
        let all = try ground.past.deletions(within: path).removable(before: before, ground.finder, principal)
            .filter { entry == nil || $0.id == entry }
        let held = force ? PinnedEntries() : try all.held { try pinnedVersions(ofDeleted: $0) }
        let going = all.filter { !held.entries.contains($0.id) }.contentsFirst
        var outcome = dryRun ? try wouldRemove(going) : RemovalOutcome()
        outcome.pinned = held.versions
        guard !dryRun else { return outcome }
        for (done, deletion) in going.enumerated() {
            try report(done, going.count)
            let versions = try versions(goingWith: deletion)
            guard let bytes = try remove(deletion) else { continue }
            outcome.deleted += 1
            outcome.bytes.addCapped(bytes)
            let left = try deletion.item.map { try ground.past.versions(of: $0) } ?? []
            outcome.versions += versions.filter { !left.map(\.id).contains($0.id) }.map { ($0, deletion.path) }
        }
        return outcome
    }

    /// One entry goes.
    /// - Returns: the freed bytes; nil if there is none any more.
    private func remove(_ deletion: Deletion) throws -> UInt64? {
        guard let entry = try ground.past.entry(deletion.id) else { return nil }
        return try ground.removal.remove(entry, isCutting: true)
    }

    /// How many pinned versions a document has that would go with its last deletion; none while it has a name.
    private func pinnedVersions(ofDeleted item: ItemID) throws -> Int {
        guard try ground.past.item(item)?.places.isEmpty ?? true else { return 0 }
        return try ground.past.versions(of: item).count { $0.flags.contains(.pinned) }
    }

    /// The versions of a document that has no other entry.
    private func versions(goingWith deletion: Deletion) throws -> [Version] {
        guard let item = deletion.item, try ground.past.item(item)?.places.isEmpty ?? false else { return [] }
        return try ground.past.versions(of: item)
    }

    /// The versions and bytes that would go with these entries.
    private func wouldRemove(_ going: [Deletion]) throws -> RemovalOutcome {
        let gone = Set(going.map(\.id))
        var outcome = RemovalOutcome(deleted: going.count, entries: going)
        for item in Set(going.compactMap(\.item)) {
            let entries = try ground.past.deletions(of: item)
            guard entries.allSatisfy({ gone.contains($0.id) }), let last = entries.first else { continue }
            outcome.versions += try versions(goingWith: last).map { ($0, last.path) }
        }
        outcome.bytes = try freed(by: outcome.versions.map(\.version))
        return outcome
    }
}
