// The operations of the control socket, over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Hands each operation to the one that carries it out. It is made for each use.
struct EngineOperations: OperatedContainer {
    let ground: EngineGround
    /// What the mount asks for: operations on directories make the same requests for their callers.
    let requests: any ContainerRequests

    private var replacing: EngineReplacing { EngineReplacing(ground: ground) }

    // MARK: Settings

    private var policy: Policy { ground.names.versioned.policy }
    var ignoreFile: IgnoreFile? { policy.ignoreFile }

    var settings: Settings {
        get { policy.settings }
        nonmutating set {
            policy.settings = newValue
            ground.browsing.serving.set(newValue)
        }
    }

    // MARK: Going back

    func restore(
        _ version: Version, of document: DocumentRecord, to target: TreePath?, as principal: Principal
    ) throws(OperationError) -> RestoreOutcome {
        try operation {
            guard ground.finder.mayRead(version, of: document, as: principal) else {
                throw OperationError.denied(document.path)
            }
            _ = try ground.finder.content(of: version, in: document)
            if let target {
                try replacing.putNew(version, of: document, at: target, as: principal)
                return RestoreOutcome(path: target, entries: 1)
            }
            return try restore(version, of: document, as: principal)
        }
    }

    private func restore(
        _ version: Version, of found: DocumentRecord, as principal: Principal
    ) throws -> RestoreOutcome {
        var (document, entries) = (found, 0)
        if let deletion = document.deletion {
            let back = try undelete(
                .entry(deletion), to: nil, as: principal, report: { _ in }, expecting: { _ in })
            document = try ground.finder.document(at: back.path, as: principal)
            entries = back.entries
        }
        if document.isCurrent(version), try holdsItsCurrent(document, principal) {
            return RestoreOutcome(path: document.path, entries: entries)
        }
        let number = try ground.number(of: version, document)
        let replacement = EngineReplacing.Replacement(version: version, expected: document.current?.id) {
            .restore($0, $1, number, $2)
        }
        try replacing.replace(
            document.path, by: replacement, as: principal, by: ground.requester(principal))
        return RestoreOutcome(path: document.path, entries: 1)
    }

    /// Whether the file has nothing that its current version does not have. The caller must be allowed to write it.
    private func holdsItsCurrent(_ document: DocumentRecord, _ principal: Principal) throws -> Bool {
        try ground.finder.looking(as: principal) { walk in
            let (spot, _, stat) = try walk.document(document.path)
            try walk.require(.write, on: spot)
            return document.current.map { $0.size == stat.size && $0.modified == stat.modified } ?? false
        }
    }

    // MARK: Undeleting

    private var undeleting: Undeleting { Undeleting(host: ground.browsing) }

    func undeletable(
        at path: TreePath, elsewhere: Bool, as principal: Principal
    ) throws(OperationError) -> Undeletable {
        try undeleting.undeletable(at: path, elsewhere: elsewhere, as: principal)
    }

    func unfinishedUndelete(_ digits: String) throws(OperationError) -> UnfinishedUndelete? {
        try undeleting.unfinishedUndelete(digits)
    }

    func unfinishedUndeletes() throws(OperationError) -> [(path: TreePath, remaining: Int)] {
        try undeleting.unfinishedUndeletes()
    }

    func home(of what: Undeletable) -> TreePath { undeleting.home(of: what) }

    func undelete(
        _ what: Undeletable, to target: TreePath?, as principal: Principal, report: Report,
        expecting: @escaping (_ entries: Int) -> Void
    ) throws(OperationError) -> RestoreOutcome {
        try undeleting.undelete(what, to: target, as: principal, report: report, expecting: expecting)
    }

    // MARK: Versions

    /// Keeps a version from being thinned, or lets it go again; the version as it is then.
    func pin(
        _ version: Version, of document: DocumentRecord, _ isPinned: Bool, as principal: Principal
    ) throws(OperationError) -> Version {
        try operation {
            try ground.finder.requireWrite(document, principal)
            let program = try ground.recorded.program(ground.requester(principal))
            let number = try ground.number(of: version, document)
            var transaction = FactTransaction()
            transaction.changes = [
                .marks(number, added: isPinned ? .pinned : [], removed: isPinned ? [] : .pinned)
            ]
            let circumstances = FactEvent.Circumstances(time: ground.engine.parts.clock.now(), actor: program.number)
            transaction.events = [.marked(number, circumstances)]
            if isPinned {
                // Who gives versions up has the document alone, too.
                try ground.engine.perform(.pin(number)) { () throws(Errno) in ground.facts.commit(transaction) }
            } else {
                ground.facts.commit(transaction)
            }
            ground.engine.room.room?.note(number, isPinned: isPinned)
            var pinned = version
            if isPinned { pinned.flags.insert(.pinned) } else { pinned.flags.remove(.pinned) }
            return pinned
        }
    }
}

// MARK: Purging

extension EngineOperations {
    func purge(
        _ document: DocumentRecord, _ version: Version?, dryRun: Bool, force: Bool, as principal: Principal
    ) throws(OperationError) -> RemovalOutcome {
        try operation {
            try EnginePurging(ground: ground).purge(document, version, dryRun: dryRun, force: force, as: principal)
        }
    }

    func purgeDeleted(
        before: Timestamp?, within path: TreePath?, entry: DeletionID?, dryRun: Bool, force: Bool,
        as principal: Principal, report: PartReport
    ) throws(OperationError) -> RemovalOutcome {
        defer { if !dryRun { undeleting.end() } }
        return try operation {
            try EnginePurging(ground: ground).purgeDeleted(
                before: before, within: path, entry: entry, dryRun: dryRun, force: force, as: principal,
                report: report)
        }
    }
}

// MARK: Conflicts

extension EngineOperations {
    private var resolving: EngineResolving { EngineResolving(ground: ground) }
    private var adding: EngineAdding { EngineAdding(ground: ground) }

    func resolve(
        _ document: DocumentRecord, _ choice: ResolutionChoice, seen: [VersionID]?, as principal: Principal
    ) throws(OperationError) -> ResolutionOutcome {
        try operation { try resolving.resolve(document, choice, seen: seen, as: principal) }
    }

    func resolveAll(
        within path: TreePath, as principal: Principal, report: PartReport
    ) throws(OperationError) -> [ResolutionOutcome] {
        try operation { try resolving.resolveAll(within: path, as: principal, report: report) }
    }

    func simulateConflict(
        _ document: DocumentRecord, as principal: Principal
    ) throws(OperationError) -> DocumentRecord {
        try operation { try adding.simulateConflict(document, as: principal) }
    }

    func addVersion(
        from source: TreePath, to document: DocumentRecord, as principal: Principal
    ) throws(OperationError) -> Version {
        try operation { try adding.addVersion(from: source, to: document, as: principal) }
    }
}
