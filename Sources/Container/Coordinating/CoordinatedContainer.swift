// The programs of a container that take part in coordination, and those that do not and are reported to the others.

import Coordination
import Synchronization
import VersionModel

/// Whether the programs with files open for writing must be found, because a client takes part.
final class Enrollment: Sendable {
    let needed = Atomic(false)
    /// Held during the search. Taken before all other locks.
    let turn = RankedMutex((), .enrollment)
}

/// A container whose files clients claim and present.
protocol CoordinatedContainer: AnyObject, Sendable {
    var tree: LiveTree { get }
    var serving: Serving { get }
    func requester(_ caller: Caller) -> Requester
    /// The identity of a node's document; nil if the node stands for no document.
    func identity(of node: Node) -> ItemID?
}

extension CoordinatedContainer {
    var coordinator: Coordinator { serving.coordinator }

    /// Registers a client. Waits only for a look at its process.
    func takePart(_ client: any CoordinationClient, as principal: Principal) -> ConnectionID {
        let (connection, isFirst) = coordinator.connect(
            client, serving.callers.party(principal), actor: serving.callers.actor(thread: principal.process))
        if isFirst { serving.enrollment.needed.store(true, ordering: .releasing) }
        return connection
    }

    /// Finds the programs that had files open for writing before the first client came: their claims count like those
    /// of later opens, which make them themselves. For threads that may wait, before they make a claim: it waits for a
    /// document that is being copied.
    func enrollWriters() {
        guard serving.enrollment.needed.load(ordering: .acquiring) else { return }
        serving.enrollment.turn.withLock { _ in
            guard serving.enrollment.needed.load(ordering: .acquiring) else { return }
            for file in serving.files.all where file.isWriter { enroll(file) }
            serving.enrollment.needed.store(false, ordering: .releasing)
        }
    }

    /// Makes a claim, until its close, for a handle for writing that has not waited for claims.
    func enroll(_ file: OpenFile) {
        guard let path = tree.nodes.path(file.node) else { return }
        let fresh = coordinator.newClaim()
        let claim = file.state.withLock { state in
            if state.coordinated == nil { state.coordinated = fresh }
            return state.coordinated ?? fresh
        }
        _ = coordinator.admit(
            claim, Access(path: path, item: identity(of: file.node), kind: .writing(.updating)), by: file.requester,
            descriptor: file.descriptor, patience: 0, mayWait: false) {}
        if serving.files[file.id] == nil { coordinator.closed(claim) }
    }

    /// An action that does not wait for claims; nil if no client takes part.
    func access(_ option: WritingOption, at name: FileName, in parent: Node, _ node: Node?) -> Access? {
        guard coordinator.isInUse else { return nil }
        return Access(
            path: tree.path(of: name, in: parent), item: node.flatMap { identity(of: $0) }, kind: .writing(option))
    }

    /// The use of a free name: a holder of a claim on it hears of it as of a creation.
    func taking(_ name: FileName, in parent: Node) -> Access? { access(.updating, at: name, in: parent, nil) }

    /// Reports actions without a wait to presenters and to holders of claims.
    func report(_ accesses: [Access?], by caller: Caller) {
        if accesses.contains(where: { $0 != nil }) { report(accesses, by: requester(caller).actor) }
    }

    func report(_ accesses: [Access?], by actor: FileActor?) {
        for case let access? in accesses { coordinator.notice(access, by: actor) }
    }

    /// The change of what a node stands for, under its name; nil if no client takes part.
    func updating(_ node: Node) -> Access? {
        guard coordinator.isInUse, let path = tree.nodes.path(node) else { return nil }
        return Access(path: path, item: identity(of: node), kind: .writing(.updating))
    }

    /// Claims and presenters go along with a moved item. Where two documents were exchanged, claims and presenters stay
    /// at their names.
    /// Called with the names held.
    func noteMove(
        _ old: (name: FileName, parent: Node), _ new: (name: FileName, parent: Node), isExchange: Bool,
        areDocuments: Bool
    ) {
        guard coordinator.isInUse, let from = tree.nodes.path(old.parent)?.appending(old.name),
            let to = tree.nodes.path(new.parent)?.appending(new.name)
        else { return }
        // A document that came back to its name by this is told by that already.
        guard isExchange else { return coordinator.moved(from, to: to) }
        guard !areDocuments, let aside = to.parent?.appending(FileName(placeholder: ())) else { return }
        coordinator.moved(from, to: aside)
        coordinator.moved(to, to: from)
        coordinator.moved(aside, to: to)
    }
}
