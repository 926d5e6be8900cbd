// What may be given up, by the facts.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Lists what may be given up, page by page, and has the rules forget it.
final class FactPurgeables: PurgeableSource {
    let removal: EngineRemoval
    private let past: FactHistory
    private let store: ContainerState
    /// The bases of the merges of conflicts, as of the last change: a document has versions on many pages.
    private let mergeBases = RankedMutex<(change: UInt64, of: [DocumentNumber: [VersionNumber]])>((0, [:]))
    private static let portion = 64
    /// A page of histories has about so many versions.
    private static let mostVersions = 1024

    init(_ removal: EngineRemoval, _ past: FactHistory, of store: ContainerState) {
        (self.removal, self.past, self.store) = (removal, past, store)
    }

    private var facts: FactStore { removal.kept.facts }
    private var engine: Engine { removal.engine }

    var sums: StateSpace { removal.use.sums }
    func lastChange() throws -> UInt64 { try past.lastTold() }

    func addUp() throws {
        try store.rescanSpace(onlyIfUnknown: true)
        try removal.use.addUp()
    }

    // MARK: Lists

    /// Facts have one order: behind a number there are versions and removals.
    func purgeables(
        _ kinds: PurgeableKinds, after last: UInt64, by clock: RetentionClock
    ) throws -> PurgeablePage {
        var found: [(number: UInt64, candidate: Purgeable)] = []
        var reach: UInt64?
        if kinds.contains(.history) {
            let page = try facts.lists.oldestVersions(
                removable: true, after: VersionNumber(last), limit: Self.portion)
            reach = page.next?.number
            for (version, isProtected) in try judged(page.elements) where !isProtected {
                // One that only a live file has takes no room.
                guard removal.kept.size(of: version.row.content) != nil,
                    let candidate = candidate(version, isProtected: false, clock)
                else { continue }
                found.append(
                    (
                        version.number.number,
                        Purgeable(
                            kind: .history(candidate), time: candidate.saved, bytes: candidate.bytes,
                            content: candidate.content, sharing: version.sharing)
                    ))
            }
        }
        if kinds.contains(.deleted) {
            let page = try facts.lists.oldestDeleted(after: last, limit: Self.portion)
            reach = page.next.map { min($0, reach ?? .max) } ?? reach
            for deletion in page.elements where !deletion.isHeld {
                guard let candidate = candidate(deletion, clock) else { continue }
                found.append((deletion.entry.number.number, candidate))
            }
        }
        let end = reach ?? .max
        return (found.filter { $0.number <= end }.sorted { $0.number < $1.number }.map(\.candidate), reach)
    }

    func histories(
        after item: ItemID?, by clock: RetentionClock
    ) throws -> (versions: [Thinning.Candidate], next: ItemID?) {
        var (found, last) = ([Thinning.Candidate](), item.flatMap(facts.number(of:)))
        repeat {
            let page = try facts.lists.documents(after: last, limit: 1)
            for document in page.elements { found += try history(of: document, clock) }
            last = page.next
        } while last != nil && found.count < Self.mostVersions
        return (found, last.flatMap { facts.id(of: $0, nil) })
    }

    private func history(of document: DocumentNumber, _ clock: RetentionClock) throws -> [Thinning.Candidate] {
        var (found, last) = ([Thinning.Candidate](), VersionNumber?.none)
        repeat {
            let page = try facts.lists.oldestVersions(of: document, after: last, limit: Self.portion)
            let others = page.elements.filter { !$0.holds.contains(.current) }
            found += try judged(others).compactMap { candidate($0.version, isProtected: $0.isProtected, clock) }
            last = page.next
        } while last != nil
        return found
    }

    /// Identities by numbers alone: no other part sees them.
    private func candidate(
        _ version: SpaceVersion, isProtected: Bool, _ clock: RetentionClock
    ) -> Thinning.Candidate? {
        guard let id = facts.id(of: version.number, nil), let item = facts.id(of: version.document, nil) else {
            return nil
        }
        return Thinning.Candidate(
            version: id, item: item, saved: clock.seenTime(of: version.row.time),
            content: ContentID(version.row.content), bytes: version.row.fingerprint.size, isProtected: isProtected)
    }

    private func candidate(_ deletion: SpaceDeletion, _ clock: RetentionClock) -> Purgeable? {
        let entry = deletion.entry
        guard let id = facts.id(ofDeletion: entry.number, entry.detail) else { return nil }
        let time = clock.seenTime(of: entry.departure.time)
        guard let version = entry.version, entry.kind != .name else {
            let bytes = entry.detail.isEntry ? store.deletedArea.allocated(id) : 0
            return Purgeable(kind: .deleted(id), time: time, bytes: bytes)
        }
        return Purgeable(
            kind: .deleted(id), time: time, bytes: version.fingerprint.size, content: ContentID(version.content),
            sharing: deletion.sharing)
    }

    /// Which versions stay, also because a program works from one, or a merge of a conflict would begin with it.
    private func judged(_ versions: [SpaceVersion]) throws -> [(version: SpaceVersion, isProtected: Bool)] {
        var staying: Set<VersionNumber> = []
        for (document, own) in Dictionary(grouping: versions, by: \.document) {
            if engine.scene.hasSeen(document) { staying.formUnion(try engine.runningBases(in: document)) }
            if own.contains(where: \.isContested) { staying.formUnion(try mergeBases(of: document)) }
        }
        return versions.map { ($0, !$0.holds.isEmpty || staying.contains($0.number)) }
    }

    private func mergeBases(of document: DocumentNumber) throws -> [VersionNumber] {
        let change = try lastChange()
        if let known = mergeBases.withLock({ $0.change == change ? $0.of[document] : nil }) { return known }
        guard let item = try facts.lists.id(of: document) else { return [] }
        let bases = MergeBase.ofConflicts(in: try past.versions(of: item)).values
        let found = try bases.compactMap { try facts.version($0) }
        mergeBases.withLock { known in
            if known.change != change { known = (change, [:]) }
            known.of[document] = found
        }
        return found
    }

    func described(_ versions: [VersionID]) throws -> [(version: Version, path: TreePath)] {
        var paths: [ItemID: TreePath] = [:]
        return try versions.compactMap { id in
            guard let version = try past.version(id) else { return nil }
            let path = try paths[version.item] ?? self.path(of: version.item)
            paths[version.item] = path
            return (version, path)
        }
    }

    private func path(of item: ItemID) throws -> TreePath {
        try past.item(item).flatMap { try past.path(of: $0) } ?? past.lastPath(of: item) ?? .root
    }

    // MARK: Giving up

    func giveUp(_ versions: [Thinning.Candidate], mayWait: Bool) throws -> (count: Int, bytes: UInt64) {
        var (count, bytes): (Int, UInt64) = (0, 0)
        for (item, own) in Dictionary(grouping: versions, by: \.item) {
            guard let document = facts.number(of: item) else { continue }
            let gone = try removal.drop(own.compactMap { facts.number(of: $0.version) }, of: document)
            count += gone.count
            bytes.addCapped(try removal.release(gone))
        }
        return (count, bytes)
    }

    func giveUp(_ deletion: DeletionID, mayWait: Bool) throws -> UInt64? {
        guard let entry = try past.entry(deletion) else { return nil }
        return try removal.remove(entry)
    }

    func closeRemoved() { store.contents.closeRemoved() }
}
