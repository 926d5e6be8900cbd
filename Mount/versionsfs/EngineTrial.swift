// A mount whose requests the engine decides, for tests until every mount is one.

import Container
import Glibc
import Logging
import VersionModel
import VersionStore

/// In builds that check locks, `VERSIONSFS_ENGINE=1` has the engine serve the mount. The control socket answers for the
/// history that was there before.
struct EngineTrial {
    let container: EngineContainer

    /// - Returns: nil unless this is such a mount.
    init?(_ opened: OpenedContainer, _ logger: Logger) throws(StartError) {
        #if CHECKS_LOCKS
            guard getenv("VERSIONSFS_ENGINE").map({ String(cString: $0) }) == "1" else { return nil }
            do {
                // The catalog before knows nothing of this mount's saves, and would take them back after a crash.
                if !opened.container.options.isReadOnly { try opened.store.leaveToFacts() }
                let facts = try FactStore(in: opened.store.state, options: .init(logger: logger))
                container = try EngineContainer(
                    root: opened.root, store: opened.store, facts: facts, options: opened.container.options)
            } catch { throw StartError(opened.path, "the engine cannot begin: \(error)", hint: nil) }
        #else
            return nil
        #endif
    }
}
