// Conflicts are settled by operations over the engine.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Settles losers: they stay in the history, and the document has the content that its user has chosen.
struct EngineResolving {
    let ground: EngineGround

    private var engine: Engine { ground.engine }
    private var replacing: EngineReplacing { EngineReplacing(ground: ground) }

    func resolve(
        _ document: DocumentRecord, _ choice: ResolutionChoice, seen: [VersionID]?, as principal: Principal
    ) throws -> ResolutionOutcome {
        guard document.deletion == nil else { throw OperationError.deletedConflict(document) }
        guard ground.browsing.resolving.withLock({ $0.insert(document.item).inserted }) else {
            throw OperationError(
                .busy, "another program is resolving the conflict", path: document.path,
                advice: "repeat the command in a moment")
        }
        defer { ground.browsing.resolving.withLock { _ = $0.remove(document.item) } }
        // Another caller may have resolved it meanwhile.
        let unresolved = Set(try ground.past.conflicts(of: document.item).map(\.id))
        let losers = document.conflicts.filter { unresolved.contains($0.id) && seen?.contains($0.id) ?? true }
        guard let current = document.current, !losers.isEmpty else {
            throw OperationError(.nothingToDo, "no conflict to resolve", path: document.path)
        }
        var outcome = try resolve(losers, of: document, current, choice, as: principal)
        outcome.remaining = unresolved.count - losers.count
        return outcome
    }

    private func resolve(
        _ losers: [Version], of document: DocumentRecord, _ current: Version, _ choice: ResolutionChoice,
        as principal: Principal
    ) throws -> ResolutionOutcome {
        switch choice {
        case .current, .merged: return try settle(losers, of: document, current, as: principal)
        case .newest:
            let newest = (losers + [current]).max { $0.time < $1.time } ?? current
            return try choose(newest, over: losers, of: document, current, as: principal)
        case .version(let id):
            guard let chosen = document.versions.first(where: { $0.id == id }) else {
                throw OperationError(.notFound, "no version \(id.short)", path: document.path)
            }
            return try choose(chosen, over: losers, of: document, current, as: principal)
        case .all:
            try ground.finder.requireWrite(document, principal)
            let written = try losers.map { try putBeside($0, of: document, as: principal) }
            var outcome = try settle(losers, of: document, current, as: principal)
            outcome.written = written
            return outcome
        }
    }

    func resolveAll(
        within path: TreePath, as principal: Principal, report: OperatedContainer.PartReport
    ) throws -> [ResolutionOutcome] {
        let documents = try ground.finder.conflicted(within: path, as: principal)
        var outcomes: [ResolutionOutcome] = []
        var failure: (any Error)?
        for (done, document) in documents.enumerated() {
            try report(done, documents.count)
            do {
                outcomes.append(try resolve(document, .newest, seen: nil, as: principal))
            } catch { failure = failure ?? error }
        }
        if outcomes.isEmpty, let failure { throw failure }
        return outcomes
    }

    /// The losers are none any more, and the file stays as it is.
    private func settle(
        _ losers: [Version], of document: DocumentRecord, _ current: Version, as principal: Principal
    ) throws -> ResolutionOutcome {
        try ground.finder.requireWrite(document, principal)
        guard let number = try ground.facts.document(document.item),
            try engine.current(of: number)?.number == ground.facts.version(current.id)
        else { throw OperationError.savedMeanwhile(document.path) }
        try engine.perform(.resolve(number, try numbers(of: losers)))
        return ResolutionOutcome(path: document.path, current: current.id, resolved: losers.map(\.id))
    }

    private func numbers(of versions: [Version]) throws -> [VersionNumber] {
        try versions.compactMap { try ground.facts.version($0.id) }
    }

    /// A version's content becomes the file's.
    private func choose(
        _ chosen: Version, over losers: [Version], of document: DocumentRecord, _ current: Version,
        as principal: Principal
    ) throws -> ResolutionOutcome {
        if chosen.id == current.id { return try settle(losers, of: document, current, as: principal) }
        guard ground.finder.mayRead(chosen, of: document, as: principal) else {
            throw OperationError.denied(document.path)
        }
        let replacement = try replacement(chosen, over: losers, of: document, expected: current.id)
        let version = try replacing.replace(
            document.path, by: replacement, as: principal, by: ground.requester(principal))
        let id = try version.flatMap { number throws(StoreError) in try ground.past.version(number)?.id }
        return ResolutionOutcome(path: document.path, current: id ?? current.id, resolved: losers.map(\.id))
    }

    private func replacement(
        _ chosen: Version, over losers: [Version], of document: DocumentRecord, expected: VersionID?
    ) throws -> EngineReplacing.Replacement {
        _ = try ground.finder.content(of: chosen, in: document)
        let (number, losers) = (try ground.number(of: chosen, document), try numbers(of: losers))
        return EngineReplacing.Replacement(
            version: chosen, expected: expected,
            event: { .restore($0, $1, number, $2, settling: losers) }, afterwards: { .resolve($0, losers) })
    }

    /// A loser as a document of its own beside the one it lost to.
    private func putBeside(_ loser: Version, of document: DocumentRecord, as principal: Principal) throws -> TreePath {
        guard let name = document.path.name, let parent = document.path.parent else {
            throw OperationError(.invalid, "not a document", path: document.path)
        }
        guard ground.finder.mayRead(loser, of: document, as: principal) else {
            throw OperationError.denied(document.path)
        }
        var taken: Set<FileName> = []
        while true {
            let free = try ground.finder.looking(as: principal) { walk in
                BouncedName.next(after: name) { candidate in
                    taken.contains(candidate) || (try? walk.spot(parent.appending(candidate)).stat != nil) ?? false
                }
            }
            guard let free else {
                throw OperationError(.exists, "no free name for the other version", path: document.path)
            }
            do {
                try replacing.putNew(loser, of: document, at: parent.appending(free), as: principal)
                return parent.appending(free)
            } catch let error as OperationError where error.kind == .exists { taken.insert(free) }
        }
    }

    // MARK: By a rename

    /// A loser was moved onto its document: the kernel has looked at the caller's rights.
    func choose(_ id: VersionID, at name: Node.Name, _ requester: Requester) throws {
        let path = ground.tree.path(of: name.name, in: name.parent)
        let document = try ground.finder.document(at: path, as: .container)
        guard document.deletion == nil, let loser = document.conflicts.first(where: { $0.id == id }) else {
            throw Errno.noSuchFileOrDirectory
        }
        var replacement = try replacement(loser, over: [loser], of: document, expected: nil)
        (replacement.mayKeepSetID, replacement.isTold) = (false, false)
        try replacing.replace(path, by: replacement, as: .container, by: requester)
    }
}
