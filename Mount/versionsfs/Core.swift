// The catalog of a container, opened, and the core that serves the container from it.

import Container
import Glibc
import Logging
import SystemPackage
import VersionStore

/// An open catalog. In builds that choose (`CHOOSES_CORE`), `VERSIONSFS_ENGINE=1` opens the facts of schema 2, for
/// tests and measurements until every container has them.
enum Core {
    case former(VersionStore)
    case facts(ContainerState, FactStore)

    init(_ root: FileDescriptor, _ options: ContainerState.Options) throws {
        guard Self.servesFacts else {
            self = .former(try VersionStore(root: root, options: options))
            return
        }
        let state = try ContainerState(root: root, options: options)
        do {
            if try Upgrade.isNeeded(state) { try Self.upgrade(state, options) }
            let facts = try FactStore(of: state)
            if !options.readOnly { try EntryMoves(facts, state).run() }
            self = .facts(state, facts)
        } catch {
            state.close()
            throw error
        }
    }

    private static var servesFacts: Bool {
        #if CHOOSES_CORE
            getenv("VERSIONSFS_ENGINE").map { String(cString: $0) } == "1"
        #else
            false
        #endif
    }

    /// Tells of each step once.
    private static func upgrade(_ state: ContainerState, _ options: ContainerState.Options) throws {
        guard !options.readOnly else { throw StoreError.notAContainer }
        let former = try VersionStore(over: state)
        defer { former.closeCatalog() }
        var told: Upgrade.Step?
        try Upgrade(former).run { step, _, all in
            guard step != told else { return }
            told = step
            options.logger.info("upgrading the catalog", metadata: ["step": "\(step.rawValue)", "records": "\(all)"])
        }
    }

    var state: ContainerState {
        switch self {
        case .former(let store): store.base
        case .facts(let state, _): state
        }
    }

    /// Whether the catalog was lost, and is made anew.
    var wasRebuilt: Bool {
        switch self {
        case .former(let store): store.identity.rebuilt
        case .facts(_, let facts): facts.identity.wasLost
        }
    }

    func close() {
        switch self {
        case .former(let store): store.close()
        case .facts(let state, let facts):
            facts.close()
            state.close()
        }
    }

    func container(_ options: ContainerOptions) throws(StoreError) -> any ServedContainer {
        switch self {
        case .former(let store): try LiveContainer(root: store.root, store: store, options: options)
        case .facts(let state, let facts): try EngineContainer(state, facts, options)
        }
    }
}
