// The space that kept things take, over the engine.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Keeps a container over the engine within its bounds, and makes room for the calls of its events.
final class EngineSpace: EngineRoom {
    let space: Space
    private let removal: EngineRemoval
    private let store: ContainerState
    private let engine: Engine
    private let chores: Scheduler
    private let isReadOnly: Bool
    /// The versions that were pinned, or let go, in this mount. Innermost.
    private let pins = RankedMutex([VersionNumber: Bool]())

    init(_ removal: EngineRemoval, _ past: FactHistory, _ around: Space.Surroundings) {
        (self.removal, engine, store) = (removal, removal.engine, around.state)
        (chores, isReadOnly) = (around.chores, around.isReadOnly)
        space = Space(around, of: FactPurgeables(removal, past, of: around.state))
        if !isReadOnly { engine.room.connect(self) }
    }

    static func retention(_ facts: FactStore, _ clock: any WallClock) throws(StoreError) -> Retention {
        Retention(stored: try facts.setting(Retention.key), wall: clock) { [facts] value in
            var transaction = FactTransaction()
            transaction.changes = [.setting(key: Retention.key, value: value)]
            facts.commit(transaction)
        }
    }

    func start() {
        chores.start()
        if !isReadOnly { space.upkeep.begin() }
    }

    func end() { chores.end() }

    /// The disk usage of history and of the deleted area, as it is now.
    func sums() throws -> StateSpace {
        try removal.use.addUp()
        return removal.use.sums
    }

    var use: DeletedUse { removal.use }

    // MARK: Room for calls

    /// Whether writes are to come to the daemon, which can make room for them.
    var isNearlyFull: Bool { space.trimming.isNearlyFull }

    func retrying<Result>(
        _ shortage: () -> Shortage, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try space.retryingWhenFull(
            wanted: shortage().wanted, mayWait: true, isRecord: shortage().isRecord,
            mustSucceed: shortage().mustSucceed, body)
    }

    /// The catalog may have no room for its last rows. Those that have changed a pin are known here.
    func mayLose(_ versions: [VersionNumber]) -> Bool {
        let known = pins.withLock { $0 }
        do throws(StoreError) {
            for version in versions {
                let written = try removal.kept.facts.writtenDetail(of: version)?.marks.contains(.pinned)
                if known[version] ?? written ?? false { return false }
            }
            return true
        } catch { return false }
    }

    func note(_ version: VersionNumber, isPinned: Bool) {
        pins.withLock { $0[version] = isPinned }
        space.forgetCounts()
    }

    func noteLoss(bytes: UInt64) {
        store.contents.closeRemoved()
        space.noteLoss(bytes: bytes)
    }

    func release(_ forgotten: Plan) { _ = try? removal.release(removal.forgotten(by: forgotten)) }

    // MARK: What takes room

    func note(_ plan: Plan) {
        // What a program has made up and removed may have been kept while it was open.
        let scrap = plan.facts.compactMap { fact -> VersionRow? in
            if case .forget(let version) = fact { engine.known.madeUp(version) } else { nil }
        }
        if !scrap.isEmpty { _ = try? removal.release(scrap) }
        var (kept, isRemoval) = (UInt64(0), false)
        for case .keep(_, let labels) in plan.before {
            kept.addCapped(labels.map(\.version.fingerprint.size).max() ?? 0)
        }
        for case .row(let row) in plan.facts {
            if row.file == nil { isRemoval = true }
            if !row.hasNoVersions { note(row, in: plan) }
        }
        guard kept > 0 || isRemoval else { return }
        space.trimming.noteGrowth(history: kept)
        space.trimming.catchUp()
    }

    /// A document may have lost its last name by a plan, or have one again.
    private func note(_ row: NameRow, in plan: Plan) {
        guard let change = try? engine.change(by: row, in: plan.facts) else { return }
        switch change {
        case .wasDeleted(let version):
            if removal.kept.size(of: version.content) != nil {
                removal.use.add(Occupied.whole(version.fingerprint.size))
            }
        case .isBack(let version): removal.use.subtract(Occupied.whole(version.fingerprint.size))
        }
    }
}
