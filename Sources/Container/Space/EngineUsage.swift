// How much the tree, other versions and the deleted list take, over the engine.

import Lineage
import VersionModel
import VersionStore

/// Adds up what lies at or below a path.
struct EngineUsage {
    let ground: EngineGround
    let sums: () throws -> StateSpace

    private static let portion = 256

    /// - Parameter limit: nanoseconds after which the tree is not walked any further; nil: no limit.
    func space(
        within path: TreePath, limit: Int64?, as principal: Principal, report: (_ entries: Int) throws -> Void
    ) throws -> SpaceOutcome {
        var outcome = SpaceOutcome()
        let live = LiveUsage(finder: ground.finder, tree: ground.tree, clock: ground.engine.parts.clock)
        try live.add(path, limit: limit, as: principal, to: &outcome, report: report)
        if path == .root {
            let sums = try sums()
            outcome.history = UInt64(max(0, sums.history))
            outcome.deleted = UInt64(max(0, sums.deleted))
            return outcome
        }
        outcome.deleted = try deletedBytes(within: path)
        outcome.history = try historyBytes(within: path)
        return outcome
    }

    private func deletedBytes(within path: TreePath) throws -> UInt64 {
        var (bytes, before): (UInt64, UInt64?) = (0, nil)
        repeat {
            let page = try ground.past.lists.deleted(within: path, before: before, limit: Self.portion)
            for entry in page.elements {
                bytes.addCapped(ground.removal.use.size(of: entry))
                guard entry.detail.isEntry, let id = ground.facts.id(ofDeletion: entry.number, entry.detail) else {
                    continue
                }
                bytes.addCapped(ground.state.deletedArea.allocated(id))
            }
            before = page.next
        } while before != nil
        return bytes
    }

    /// The contents that documents at or below the path have kept.
    private func historyBytes(within path: TreePath) throws -> UInt64 {
        let (place, directory) = try ground.finder.looking(as: .container) { walk -> (Place, FileID?) in
            let spot = try walk.spot(path)
            return (spot.place, spot.node.flatMap { $0.isDirectory ? $0.file : nil })
        }
        guard let directory else {
            guard let name = try ground.past.lists.name(at: place) else { return 0 }
            return try keptBytes(of: name.row.document)
        }
        var (bytes, cursor): (UInt64, PastTreeCursor?) = (0, nil)
        repeat {
            let page = try ground.past.lists.tree(below: directory, from: cursor, limit: Self.portion)
            for entry in page.elements where !entry.name.row.hasNoVersions {
                bytes.addCapped(try keptBytes(of: entry.name.row.document))
            }
            cursor = page.next
        } while cursor != nil
        return bytes
    }

    /// Each content counts once.
    private func keptBytes(of document: DocumentNumber) throws -> UInt64 {
        var (contents, last) = (Set<ContentID>(), VersionNumber?.none)
        repeat {
            let page = try ground.past.lists.oldestVersions(of: document, after: last, limit: Self.portion)
            contents.formUnion(page.elements.map { ContentID($0.row.content) })
            last = page.next
        } while last != nil
        return contents.map { ground.state.contents.allocated($0) }.cappedSum
    }
}

extension EngineContainer {
    /// Adds up what lies at or below a path, as far as the caller may look into it.
    ///
    /// - Parameter limit: nanoseconds after which the tree is not walked any further; nil: no limit.
    public func space(
        within path: TreePath, limit: Int64? = nil, as principal: Principal,
        report: (_ entries: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> SpaceOutcome {
        let usage = EngineUsage(ground: browsing.ground) { [space] in try space.sums() }
        return try operation { try usage.space(within: path, limit: limit, as: principal, report: report) }
    }

    /// Sentences for `status`.
    public var spaceNotes: [String] { space.space.notes }

    /// Whether nothing is thinned at present.
    public var isThinningPaused: Bool { space.space.retention.isPaused }

    /// Gives up history that is too dense for its age, or too much for its share.
    ///
    /// - Parameter dryRun: only say what would go.
    /// - Throws: `denied` for anyone but root and the daemon's own user; `busy` while the clock is not to be trusted.
    public func thin(
        dryRun: Bool, as principal: Principal,
        report: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws(OperationError) -> RemovalOutcome {
        guard finder.knowsAll(principal) else { throw OperationError.denied(nil) }
        return try space.space.upkeep.thinner.thin(dryRun: dryRun, report: report)
    }
}
