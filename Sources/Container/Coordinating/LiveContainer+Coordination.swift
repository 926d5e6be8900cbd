// The items of coordination's clients, looked up with their rights; and the participants, for listings.

import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Whether the programs with files open for writing must be found, because a client takes part.
final class Enrollment: Sendable {
    let needed = Atomic(false)
    /// Held during the search. Taken before all other locks.
    let turn = RankedMutex((), .enrollment)
}

extension LiveContainer {
    /// The place of a claim or a presenter, its present item, and whether the name is free.
    ///
    /// A free name can be claimed for a new item. The caller must have the right to do what the claim is for.
    public func claimable(
        _ path: TreePath, _ kind: AccessKind, as principal: Principal
    ) throws(OperationError) -> (path: TreePath, item: ItemID?, isFree: Bool) {
        try operation {
            try looking(as: principal) { walk in
                guard !path.bytes.isEmpty else {
                    try requireOfRoot(kind, walk)
                    return (path, nil, false)
                }
                let spot: Spot
                do {
                    spot = try walk.spot(path)
                } catch let error as OperationError where error.kind == .notFound {
                    try requireOfMissing(path, kind, walk)
                    return (path, nil, true)
                }
                try require(kind, on: spot, walk)
                return (path, spot.node.flatMap { identity(of: $0) }, spot.stat == nil)
            }
        }
    }

    func require(_ kind: AccessKind, on spot: Spot, _ walk: Walk) throws {
        switch kind {
        case .reading:
            // A caller that may not list the directory must not learn, or claim, its free names.
            guard spot.stat == nil else { return try walk.require(.read, on: spot) }
            try walk.require(.read, on: spot.parent, spot.path)
        case .writing(.updating), .writing(.forMerging), .writing(.contentIndependentMetadataOnly):
            if spot.stat == nil { try walk.requireChange(of: spot) } else { try walk.require(.write, on: spot) }
        case .writing(.forDeleting), .writing(.forMoving), .writing(.forReplacing):
            try walk.requireChange(of: spot, removing: spot.stat != nil)
        }
    }

    func requireOfRoot(_ kind: AccessKind, _ walk: Walk) throws {
        let root = try walk.directory(.root)
        switch kind {
        case .reading: try walk.require(.read, on: root, .root)
        case .writing(.forDeleting), .writing(.forMoving), .writing(.forReplacing):
            throw OperationError(.invalid, "this is the container itself", path: .root)
        case .writing: try walk.require([.write, .execute], on: root, .root)
        }
    }

    /// For a path without a directory yet: a caller that may make the directory may claim paths in it.
    private func requireOfMissing(_ path: TreePath, _ kind: AccessKind, _ walk: Walk) throws {
        var above = path.parent
        while let directory = above {
            if let node = try? walk.directory(directory) {
                let access: AccessRule.Access = if case .reading = kind { .read } else { [.write, .execute] }
                return try walk.require(access, on: node, directory)
            }
            above = directory.parent
        }
        throw OperationError.denied(path)
    }

    /// Whether the caller may write its presented item: otherwise its refusals do not count.
    public func mayRefuse(_ path: TreePath, as principal: Principal) -> Bool {
        (try? claimable(path, .writing(.updating), as: principal)) != nil
    }

    /// The document's identity; nil for other nodes.
    func identity(of node: Node) -> ItemID? {
        guard node.isRegular else { return nil }
        if let document = knownDocument(of: node) { return document.state.withLock(\.item) }
        return DerivedIdentity.item(node.file, in: store.identity.container)
    }

    /// Registers a client. Waits only for a look at its process.
    public func takePart(_ client: any CoordinationClient, as principal: Principal) -> ConnectionID {
        let (connection, isFirst) = coordinator.connect(
            client, callers.party(principal), actor: callers.actor(thread: principal.process))
        if isFirst { enrollment.needed.store(true, ordering: .releasing) }
        return connection
    }

    /// Finds the programs that had files open for writing before the first client came: their claims count like those
    /// of later opens, which make them themselves. For threads that may wait, before they make a claim: it waits for a
    /// document that is being copied.
    public func enrollWriters() {
        guard enrollment.needed.load(ordering: .acquiring) else { return }
        enrollment.turn.withLock { _ in
            guard enrollment.needed.load(ordering: .acquiring) else { return }
            for file in serving.files.all where file.isWriter { enroll(file) }
            enrollment.needed.store(false, ordering: .releasing)
        }
    }

    /// Makes a claim, until its close, for a handle for writing that has not waited for claims.
    func enroll(_ file: OpenFile) {
        guard let path = nodes.path(file.node) else { return }
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
            path: path(of: name, in: parent), item: node.flatMap { identity(of: $0) }, kind: .writing(option))
    }

    /// The use of a free name: a holder of a claim on it hears of it as of a creation.
    func taking(_ name: FileName, in parent: Node) -> Access? { access(.updating, at: name, in: parent, nil) }

    /// Reports actions without a wait to presenters and to holders of claims.
    func report(_ accesses: [Access?], by caller: Caller) {
        for access in accesses { if let access { coordinator.notice(access, by: requester(caller).actor) } }
    }

    /// The caller's own presenters, and those whose names it may know, the oldest first.
    public func presenters(
        as principal: Principal
    ) -> [(presenter: Presenter, party: CoordinationParty, isRevoked: Bool)] {
        coordinator.presenters.filter { entry in
            guard let path = entry.presenter.path else { return knowsAll(principal) }
            return entry.party.user == principal.user || mayKnowName(path, as: principal)
        }
    }

    /// The caller's own claims, and others' on names that it may know, in the order of their arrival: clients', and
    /// those of plain programs that wait for them or hold them up.
    public func coordinatedClaims(as principal: Principal) -> [Coordinator.ListedClaim] {
        coordinator.claims.filter { entry in
            entry.party.user == principal.user
                || entry.listed.claim.accesses.allSatisfy { mayKnowName($0.path, as: principal) }
        }
    }

    /// The same moment on the clock of claims and on the wall clock.
    public var moment: (claims: Int64, wall: Timestamp) { (Scheduler.now, now) }

    /// Whether the caller may know of claims on a name: it could list the directory.
    public func mayKnowName(_ path: TreePath, as principal: Principal) -> Bool {
        principal.isRoot || mayList(path.parent ?? .root, as: principal)
    }
}
