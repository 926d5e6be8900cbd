// What undeleting asks of a live container.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    private var undeleting: Undeleting { Undeleting(host: self) }

    public func undeletable(
        at path: TreePath, elsewhere: Bool = false, as principal: Principal
    ) throws(OperationError) -> Undeletable {
        try undeleting.undeletable(at: path, elsewhere: elsewhere, as: principal)
    }

    public func unfinishedUndelete(_ digits: String) throws(OperationError) -> UnfinishedUndelete? {
        try undeleting.unfinishedUndelete(digits)
    }

    public func unfinishedUndeletes() throws(OperationError) -> [(path: TreePath, remaining: Int)] {
        try undeleting.unfinishedUndeletes()
    }

    public func home(of what: Undeletable) -> TreePath { undeleting.home(of: what) }

    public func undelete(
        _ what: Undeletable, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }, expecting: @escaping (_ entries: Int) -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        try undeleting.undelete(what, to: target, as: principal, report: report, expecting: expecting)
    }

    /// Moves a deleted thing back to where it was, or to `target`.
    public func undelete(
        _ deletion: Deletion, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        try undelete(.entry(deletion), to: target, as: principal, report: report)
    }

    func undelete(_ id: DeletionID, to name: Node.Name, _ requester: Requester) throws(OperationError) {
        try undeleting.undelete(id, to: name, requester)
    }

    func undeleteOne(_ deletion: Deletion, to path: TreePath, as principal: Principal) throws {
        try undeleting.undeleteOne(deletion, to: path, as: principal)
    }

    func setTimes(accessed: Timestamp, modified: Timestamp, of directory: TreePath) {
        undeleting.setTimes(accessed: accessed, modified: modified, of: directory)
    }

    func endUndeletes() { if !options.isReadOnly { undeleting.end() } }
}

extension LiveContainer: UndeletingContainer {
    func begunUndeletes() throws -> [UnfinishedUndelete] { try store.unfinishedUndeletes() }
    func note(_ begun: UnfinishedUndelete) { store.commit([begun.kept]) }
    func forget(_ begun: UnfinishedUndelete) { store.commit([begun.forgotten]) }

    func moveOut(
        _ deletion: Deletion, to path: TreePath, as principal: Principal, by requester: Requester, tells: Bool
    ) throws {
        let deletion = try deletedDatabases.complete(deletion)
        try changing(as: principal) { walk, changed, names in
            let spot = try walk.spot(path)
            guard spot.stat == nil else { throw OperationError.taken(path) }
            _ = try name(spot.name.bytes, in: spot.parent, forChange: true)
            try walk.requireChange(of: spot)
            if path != deletion.path { noteReturn(names, of: deletion, to: path) }
            let deletion = try leaveArea(names, deletion, to: spot)
            if tells { changed.append(spot) }
            if deletion.type == .file { try dropRightsOfReturned(spot, requester) }
            let stat = try Backing.stat(spot.name.bytes, in: spot.directory.raw)
            let node = intern(stat, as: Node.Name(parent: spot.parent, name: spot.name), lookups: 1)
            defer { forget(node.id, lookups: 1) }
            nodes.addName(names, Node.Name(parent: spot.parent, name: spot.name), to: node)
            hear(.undeleted(from: deletion.place, to: spot.place, node.file, requester))
            var event = change(.undeleted, in: spot.parent, spot.name, item: deletion.item, by: requester)
            let (from, directory) = (deletion.path, deletion.place.directory)
            if event.path != from { (event.from, event.fromDirectory) = (from, directory) }
            let rest = (path != from ? [Self.returned] : []) + [.change(event)]
            let record = { self.record(spot.parent, [.removeDeletion(deletion.id)] + $0 + rest) }
            if deletion.type == .file { return try revive(names, deletion, spot, node, stat, record) }
            let isDirectory = deletion.type == .directory
            if isDirectory { return record(recordedDirectories.moved(deletion.file, to: spot.place)) }
            guard deletion.type == .link else { return record([]) }
            try joinName(names, deletion, spot.place, node, stat, record)
            // Its other names have another count of names now.
            serving.passthrough.changed(node, data: false)
        }
    }

    /// The entry as it was last: one of several names may have become the file itself.
    private func leaveArea(_ names: borrowing NamesHeldAlone, _ deletion: Deletion, to spot: Spot) throws -> Deletion {
        do {
            return try takeOut(names, deletion.id, to: spot.name, in: spot.directory)
        } catch {
            switch error {
            case .fileExists: throw OperationError.taken(spot.path)
            case .noSuchFileOrDirectory:
                throw OperationError(.contentMissing, "the deleted entry is gone", path: deletion.path)
            default: throw spot.explained(error)
            }
        }
    }

    /// The document of a deleted file goes on under its name. One that was never recorded is found by its file again.
    private func revive(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion, _ spot: Spot, _ node: Node, _ stat: FileStat,
        _ record: ([VersionStore.Mutation]) -> Void
    ) throws {
        var known = tombstones.take(of: deletion, now: now)?.document ?? documentWithoutName(of: deletion)
        if let orphan = orphans.take(node) { known = orphan.document }
        if known == nil, let id = deletion.item, let item = try store.item(id),
            let current = try store.version(item.current)
        {
            let shares = try store.versions(sharing: current.content).contains { $0.item != id }
            known = Document(item: item, current: current, sharesContent: shares)
        }
        guard let document = known else { return record([]) }
        try documents.insert(names, document, at: spot.place)
        document.state.withLock { state in
            state.places = [spot.place]
            let isUnchanged = state.current.map { $0.size == stat.size && $0.modified == stat.modified } ?? false
            if isUnchanged { state.stamp = Stamp(stat) }
            state.isVerified = isUnchanged
            document.wasVerified.store(isUnchanged, ordering: .releasing)
            record(itemRows(state, stat))
        }
    }
}
