// A mount whose requests the engine decides, for tests until every mount is one.

import Container
import Glibc
import Logging
import VersionModel
import VersionStore

/// In builds that check locks, `VERSIONSFS_ENGINE=1` has the engine serve the mount. The control socket answers from
/// its facts, but for `check`, sums of space and a directory's past, which are those of the core before.
struct EngineTrial {
    let container: EngineContainer

    /// - Returns: nil unless this is such a mount.
    init?(_ opened: OpenedContainer, _ logger: Logger) throws(StartError) {
        #if CHECKS_LOCKS
            guard getenv("VERSIONSFS_ENGINE").map({ String(cString: $0) }) == "1" else { return nil }
            let (store, isReadOnly) = (opened.store, opened.container.options.isReadOnly)
            do {
                if !isReadOnly, Upgrade.isNeeded(store) { try Self.upgrade(store, logger) }
                // The catalog before knows nothing of this mount's saves, and would take them back after a crash.
                if !isReadOnly { try store.leaveToFacts() }
                let facts = try FactStore(in: store.state, options: .init(logger: logger))
                if !isReadOnly { try EntryMoves(facts, store).run() }
                container = try EngineContainer(
                    root: opened.root, store: store, facts: facts, options: opened.container.options)
            } catch let failure as UpgradeFailure {
                throw StartError(opened.path, "\(failure)", hint: nil)
            } catch { throw StartError(opened.path, "the engine cannot begin: \(error)", hint: nil) }
        #else
            return nil
        #endif
    }

    /// Tells of each step once.
    private static func upgrade(_ store: VersionStore, _ logger: Logger) throws {
        var told: Upgrade.Step?
        try Upgrade(store).run { step, _, all in
            guard step != told else { return }
            told = step
            logger.info("upgrading the catalog", metadata: ["step": "\(step.rawValue)", "records": "\(all)"])
        }
    }
}
