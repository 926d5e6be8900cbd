// The items of coordination's clients, looked up with their rights; and the participants, for listings.

import Coordination
import SystemPackage
import VersionModel
import VersionStore

extension Finder {
    public var coordinator: Coordinator { host.serving.coordinator }

    public func takePart(_ client: any CoordinationClient, as principal: Principal) -> ConnectionID {
        host.takePart(client, as: principal)
    }

    public func enrollWriters() { host.enrollWriters() }

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
                return (path, spot.node.flatMap { host.identity(of: $0) }, spot.stat == nil)
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

    /// Whether the caller may know of claims on a name: it could list the directory.
    public func mayKnowName(_ path: TreePath, as principal: Principal) -> Bool {
        principal.isRoot || mayList(path.parent ?? .root, as: principal)
    }
}
