// Resolving conflicts (DESIGN 3.3, 6): which content stays in the file, and what becomes of the losers.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// How a document's losers are resolved.
public enum ResolutionChoice: Hashable, Sendable {
    /// The current version stays; the losers become history.
    case current
    /// This version's content becomes current; what was current becomes history.
    case version(VersionID)
    /// The current version stays; each loser becomes a document beside it, `NAME 2.EXT`.
    case all
    /// The one with the latest save.
    case newest
    /// The file as it is now holds what the losers had: they become its parents.
    case merged
}

/// What became of one document's conflict.
public struct ResolutionOutcome: Hashable, Sendable {
    public var path: TreePath
    public var current: VersionID
    public var resolved: [VersionID]
    /// The documents that `all` made.
    public var written: [TreePath] = []
    /// Losers that the caller had not seen.
    public var remaining = 0
}

extension LiveContainer {
    /// Resolves a document's losers.
    ///
    /// - Parameter seen: the losers that the caller knew of; others stay conflicts. Nil: all there are.
    public func resolve(
        _ document: DocumentRecord, _ choice: ResolutionChoice, seen: [VersionID]? = nil, as principal: Principal
    ) throws(OperationError) -> ResolutionOutcome {
        try operation {
            guard document.deletion == nil else { throw OperationError.deletedConflict(document) }
            guard resolving.withLock({ $0.insert(document.item).inserted }) else {
                throw OperationError(
                    .busy, "another program is resolving the conflict", path: document.path,
                    advice: "repeat the command in a moment")
            }
            defer { resolving.withLock { _ = $0.remove(document.item) } }
            // Another caller may have resolved it meanwhile.
            let unresolved = Set(try store.conflicts(of: document.item).map(\.id))
            let losers = document.conflicts.filter { unresolved.contains($0.id) && seen?.contains($0.id) ?? true }
            guard let current = document.current, !losers.isEmpty else {
                throw OperationError(.nothingToDo, "no conflict to resolve", path: document.path)
            }
            var outcome = try resolve(losers, of: document, current, choice, as: principal)
            outcome.remaining = unresolved.count - losers.count
            return outcome
        }
    }

    private func resolve(
        _ losers: [Version], of document: DocumentRecord, _ current: Version, _ choice: ResolutionChoice,
        as principal: Principal
    ) throws -> ResolutionOutcome {
        switch choice {
        case .current, .merged: return try adopt(losers, into: document, current, as: principal)
        case .version(let id) where id == current.id:
            return try adopt(losers, into: document, current, as: principal)
        case .newest:
            let newest = (losers + [current]).max { $0.time < $1.time }
            guard let newest, newest.id != current.id else {
                return try adopt(losers, into: document, current, as: principal)
            }
            return try choose(newest, over: losers, of: document, current.id, as: principal)
        case .version(let id):
            guard let chosen = document.versions.first(where: { $0.id == id }) else {
                throw OperationError(.notFound, "no version \(id.short)", path: document.path)
            }
            return try choose(chosen, over: losers, of: document, current.id, as: principal)
        case .all:
            let written = try losers.map { try putBeside($0, of: document, as: principal) }
            var outcome = try adopt(losers, into: document, current, as: principal)
            outcome.written = written
            return outcome
        }
    }

    /// Resolves every conflict at or below a path in favor of the newest version. Skips documents that the caller may
    /// not write, and documents during a save.
    ///
    /// - Parameter report: called with the number of handled documents and the total; throws to stop.
    public func resolveAll(
        within path: TreePath, as principal: Principal,
        report: (_ done: Int, _ of: Int) throws -> Void = { _, _ in }
    ) throws(OperationError) -> [ResolutionOutcome] {
        try operation {
            let documents = try conflicted(within: path, as: principal)
            var outcomes: [ResolutionOutcome] = []
            var failure: (any Error)?
            for (done, document) in documents.enumerated() {
                try report(done, documents.count)
                do {
                    outcomes.append(try resolve(document, .newest, as: principal))
                } catch { failure = failure ?? error }
            }
            if outcomes.isEmpty, let failure { throw failure }
            return outcomes
        }
    }

    /// Makes the losers parents of the current version: the file does not change, so a program that continues from it
    /// saves without a conflict. A loser that descends from it cannot be its parent (the version between them may be
    /// gone, with its children moved to its parents): then the same content is saved again, as a version after all of
    /// them.
    private func adopt(
        _ losers: [Version], into document: DocumentRecord, _ current: Version, as principal: Principal
    ) throws -> ResolutionOutcome {
        if losers.contains(where: { goesBack($0.id, to: current) }) {
            return try choose(current, over: losers, of: document, current.id, as: principal)
        }
        let requester = requester(principal)
        let expected = current.id
        let resolved = try changing(as: principal) { walk, _, _ in
            let (spot, node, stat) = try walk.document(document.path)
            try walk.require(.write, on: spot)
            return try self.document(of: node, stat, at: spot.place, in: spot.parent).state.withLock { state in
                guard state.item == document.item, var current = state.current, current.id == expected else {
                    throw OperationError.savedMeanwhile(document.path)
                }
                current.parents += losers.map(\.id).filter { !current.parents.contains($0) }
                state.current = current
                state.isRecorded = true
                record(
                    spot.parent,
                    [.version(current)] + itemRows(state, stat)
                        + settled(losers, spot.parent, spot.name, requester))
                return current.id
            }
        }
        for loser in losers { custodian.relabelAsHistory(loser) }
        return ResolutionOutcome(path: document.path, current: resolved, resolved: losers.map(\.id))
    }

    /// A version's content becomes the file's.
    private func choose(
        _ chosen: Version, over losers: [Version], of document: DocumentRecord, _ expected: VersionID,
        as principal: Principal
    ) throws -> ResolutionOutcome {
        let staged = try stage(chosen, of: document, as: principal)
        let requester = requester(principal)
        let parents = [chosen.id] + losers.map(\.id).filter { $0 != chosen.id }
        let replacement = Replacement(staged: staged, parents: parents, expected: expected) { _, parent, name in
            self.settled(losers, parent, name, requester)
        }
        let version = try replace(document.path, with: replacement, as: principal)
        for loser in losers { custodian.relabelAsHistory(loser) }
        return ResolutionOutcome(path: document.path, current: version.id, resolved: losers.map(\.id))
    }

    /// The rows of losers that are resolved.
    private func settled(
        _ losers: [Version], _ parent: Node, _ name: FileName, _ requester: Requester
    ) -> [VersionStore.Mutation] {
        losers.flatMap { loser -> [VersionStore.Mutation] in
            let event = change(.resolved, in: parent, name, item: loser.item, version: loser.id, by: requester)
            return [.kind(loser.id, .history), .change(event)]
        }
    }

    /// A loser as a document of its own beside the one it lost to.
    private func putBeside(
        _ loser: Version, of document: DocumentRecord, as principal: Principal
    ) throws -> TreePath {
        guard let name = document.path.name, let parent = document.path.parent else {
            throw OperationError(.invalid, "not a document", path: document.path)
        }
        var taken: Set<FileName> = []
        while true {
            let used = taken
            let free = try looking(as: principal) { walk in
                BouncedName.next(after: name) { candidate in
                    if used.contains(candidate) { return true }
                    return (try? walk.spot(parent.appending(candidate)).stat != nil) ?? false
                }
            }
            guard let free else { throw OperationError(.exists, "no free name for the other version",
                path: document.path) }
            let path = parent.appending(free)
            let staged = try stage(loser, of: document, as: principal)
            do {
                _ = try putNew(
                    staged, at: path, mode: loser.attributes.mode, modified: loser.modified, parents: [loser.id],
                    as: principal)
                return path
            } catch let error as OperationError where error.kind == .exists {
                taken.insert(free)
            }
        }
    }

    // MARK: Trying it out

    /// Makes a conflict on a document, as a second program would have: the current content with a line behind it loses.
    public func simulateConflict(
        _ document: DocumentRecord, as principal: Principal
    ) throws(OperationError) -> DocumentRecord {
        try operation {
            guard document.deletion == nil, let current = document.current else {
                throw OperationError(.notFound, "no saved document", path: document.path)
            }
            let staged = try stage(current, of: document, as: principal)
            try staged.append(Array("A line from another program, for trying out conflicts.\n".utf8))
            let requester = simulating(requester(principal))
            try changing(as: principal) { walk, _, _ in
                let (spot, node, stat) = try walk.document(document.path)
                try walk.require(.write, on: spot)
                try self.document(of: node, stat, at: spot.place, in: spot.parent).state.withLock { state in
                    try addLoser(staged, &state, spot, node, stat, requester)
                }
            }
            return try self.document(at: document.path, as: principal)
        }
    }

    private func simulating(_ requester: Requester) -> Requester {
        var requester = requester
        requester.author.program = "versionsctl"
        return requester
    }

    private func addLoser(
        _ staged: StagedFile, _ state: inout Document.State, _ spot: Spot, _ node: Node, _ stat: FileStat,
        _ requester: Requester
    ) throws {
        var current = try settledCurrent(&state, spot, node, stat)
        let made = try Backing.stat(staged.file.raw)
        let live = try liveDescriptor(spot)
        try staged.dress(like: live.raw)
        let base: VersionID
        var rows: [VersionStore.Mutation] = []
        if let parent = current.parents.first(where: { (try? store.version($0)) != nil }) {
            base = parent
        } else {
            let beginning = try addBeginning(of: current, live, &state, node, requester)
            current.parents.append(beginning.id)
            state.current = current
            rows.append(.version(beginning))
            base = beginning.id
        }
        let loser = Version(
            id: .random(), item: state.item, kind: .conflict, content: .random(), size: made.size,
            modified: made.modified, saved: now, time: time.next(), device: store.identity.device,
            author: requester.author, parents: [base], base: base,
            hash: made.size <= Self.hashedAtOnce ? ContentHash.sha256(of: staged.file.raw, size: made.size) : nil,
            attributes: current.attributes, flags: [.sealed, .beside])
        try custodian.keep(
            copying: staged.file.raw, as: loser.content, custodian.label(of: loser, state, node))
        state.isRecorded = true
        state.mayHaveBranches = true
        state.siblings.add(loser)
        let event = change(.conflict, in: spot.parent, spot.name, item: state.item, version: loser.id, by: requester)
        record(
            spot.parent, rows + [.version(current)] + itemRows(state, stat) + [.version(loser), .change(event)])
        hashLater(loser)
    }

    /// Something for the two to have parted from, where a document has no older version: what it holds now, as if both
    /// had begun with that.
    private func addBeginning(
        of current: Version, _ live: SharedDescriptor, _ state: inout Document.State, _ node: Node,
        _ requester: Requester
    ) throws -> Version {
        var beginning = current
        (beginning.id, beginning.kind, beginning.content) = (.random(), .history, .random())
        (beginning.parents, beginning.base, beginning.author) = ([], nil, requester.author)
        beginning.saved = current.saved.before
        beginning.time = HybridTime(wall: current.time.wall.before, logical: 0)
        beginning.flags = [.sealed, .beside]
        try custodian.keep(
            copying: live.raw, as: beginning.content, custodian.label(of: beginning, state, node))
        state.siblings.add(beginning)
        return beginning
    }

    private func liveDescriptor(_ spot: Spot) throws(Errno) -> SharedDescriptor {
        try spot.open(flags: O_RDONLY)
    }
}

extension Timestamp {
    /// The last moment before this one.
    fileprivate var before: Timestamp { advanced(byNanoseconds: -1) }
}
