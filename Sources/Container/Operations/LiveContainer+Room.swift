// Requests about space: for `status`, statfs(2) and thinning.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Sentences for `status`.
    public var spaceNotes: [String] { space.notes }

    /// Why nothing is thinned at present; nil if it is.
    public var isThinningPaused: Bool { space.retention.isPaused }

    static func retention(_ store: VersionStore, _ clock: any WallClock) -> Retention {
        Retention(stored: try? store.setting(Retention.key), wall: clock) { [store] value in
            store.commit([.setting(key: Retention.key, value: value)])
        }
    }

    /// Notes the time, which thinning uses. The background work calls it every few minutes.
    @discardableResult
    public func noteTime() -> RetentionClock { space.retention.note() }

    /// Gives up history that is too dense for its age, or too much for its share.
    ///
    /// - Parameter dryRun: only say what would go.
    /// - Throws: `denied` for anyone but root and the daemon's own user; `busy` while the clock is not to be trusted.
    public func thin(
        dryRun: Bool, as principal: Principal,
        report: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws(OperationError) -> RemovalOutcome {
        guard knowsAll(principal) else { throw OperationError.denied(nil) }
        return try space.upkeep.thinner.thin(dryRun: dryRun, report: report)
    }
}
