// Bringing deleted things back: a file, or a directory with the group of deletions that it went with (DESIGN 3.2).

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The entries of the deleted area at or below a path that the caller may know of, newest first; all for nil.
    public func deleted(within path: TreePath?, as principal: Principal) throws(OperationError) -> [Deletion] {
        try operation {
            if knowsAll(principal) { return try store.deletions(within: path) }
            return known(try store.deletions(within: path), to: principal)
        }
    }

    private func known(_ deletions: [Deletion], to principal: Principal) -> [Deletion] {
        var known = KnownDirectories()
        var result: [Deletion] = []
        for deletion in deletions where mayKnow(deletion, principal, &known) { result.append(deletion) }
        return result
    }

    /// The last thing that was deleted at a path.
    public func deletion(at path: TreePath, as principal: Principal) throws(OperationError) -> Deletion {
        try operation {
            guard let found = try deletions(at: path).first, mayKnow(found, principal) else {
                throw OperationError(
                    .nothingToDo, "nothing was deleted here", path: path, advice: "versionsctl deleted lists what was")
            }
            return found
        }
    }

    /// Moves a deleted thing back to where it was, or to `target`. A directory comes with everything of its group, with
    /// modes, times and attributes; directories above it that were deleted come back too, empty.
    ///
    /// - Throws: `exists` if the name is taken.
    public func undelete(
        _ deletion: Deletion, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        try operation {
            guard mayTake(deletion, principal) else { throw OperationError.denied(deletion.path) }
            let group = deletion.type == .directory ? try store.deletions(group: deletion.group) : [deletion]
            let children = Dictionary(grouping: group, by: \.place.directory)
            let (path, revived) = try target.map { ($0, 0) } ?? home(of: deletion, as: principal)
            let parentTimes = try timesBefore(deletion, group, at: path)
            let progress = Progress(count: revived)
            try withoutActuallyEscaping(report) { report in
                progress.report = report
                defer { progress.report = nil }
                try bringBack(deletion, to: path, children, as: principal, isTop: true, progress)
            }
            if let parentTimes, let parent = path.parent { setTimes(parentTimes, of: parent) }
            return RestoreOutcome(path: path, entries: progress.count)
        }
    }

    /// Moves one entry back without what was deleted from it.
    func undeleteOne(_ deletion: Deletion, to path: TreePath, as principal: Principal) throws {
        guard mayTake(deletion, principal) else { throw OperationError.denied(deletion.path) }
        try bringBack(deletion, to: path, [:], as: principal, isTop: true, Progress(count: 0))
    }

    /// Where an entry goes back to; a directory that was deleted since is brought back for it.
    private func home(of deletion: Deletion, as principal: Principal) throws -> (TreePath, revived: Int) {
        if let directory = livePath(of: deletion.place.directory) {
            return (directory.appending(deletion.place.name), 0)
        }
        if let gone = try store.deletions(within: nil).first(where: {
            $0.type == .directory && $0.file == deletion.place.directory
        }) {
            let (path, revived) = try home(of: gone, as: principal)
            try bringBack(gone, to: path, [:], as: principal, isTop: true, Progress(count: 0))
            return (path.appending(deletion.place.name), revived + 1)
        }
        // Its directory was removed for good; another of that path serves.
        return (deletion.path, 0)
    }

    /// Counts what came back. (An object: the compiler of Swift 6.3 does not end on a captured variable in a recursion.)
    private final class Progress {
        var count: Int
        var report: ((Int) throws -> Void)?
        init(count: Int) { self.count = count }
    }

    private struct Times {
        var accessed: Timestamp
        var modified: Timestamp
    }

    /// The surviving directory's times before the group's first deletion from it, if nothing has changed there since
    /// the last.
    private func timesBefore(_ deletion: Deletion, _ group: [Deletion], at path: TreePath) throws -> Times? {
        let siblings = group.filter { $0.place.directory == deletion.place.directory }
        guard let first = siblings.min(by: { $0.deleted < $1.deleted }),
            let last = siblings.max(by: { $0.deleted < $1.deleted }), siblings.count == 1,
            let parent = path.parent, livePath(of: deletion.place.directory) == parent
        else { return nil }
        let stat = try looking(as: .container) { walk -> FileStat in
            let directory = try descriptor(of: walk.directory(parent))
            return try Backing.stat(path: ".", in: directory.raw)
        }
        // The kernel's clock of files runs a tick behind.
        let isUntouched = stat.modified.since(last.deleted).magnitude < 100_000_000
        return isUntouched ? Times(accessed: first.parentAccessed, modified: first.parentModified) : nil
    }

    private func setTimes(_ times: Times, of directory: TreePath) {
        try? looking(as: .container) { walk in
            let descriptor = try descriptor(of: walk.directory(directory))
            try Backing.setTimes(
                [46], in: descriptor.raw, accessed: times.accessed.timespec, modified: times.modified.timespec)
        }
    }

    /// Moves an entry back, then what was deleted from it, then gives it its times again. 
    private func bringBack(
        _ deletion: Deletion, to path: TreePath, _ children: [FileID: [Deletion]], as principal: Principal,
        isTop: Bool, _ progress: Progress
    ) throws {
        // What comes back below a directory comes with it: the rights on the directory have been looked at.
        try moveOut(deletion, to: path, as: isTop ? principal : .container, by: requester(principal))
        progress.count += 1
        try progress.report?(progress.count)
        guard deletion.type == .directory else { return }
        let inside = (children[deletion.file] ?? []).filter { $0.id != deletion.id }
        // The same name may have been deleted twice: only the last was there when the directory went.
        let latest = Dictionary(grouping: inside, by: \.place.name).compactMap { entries in
            entries.value.max { $0.deleted < $1.deleted }
        }
        guard let first = latest.min(by: { $0.deleted < $1.deleted }) else { return }
        let isWritable = deletion.attributes.mode & 0o300 == 0o300
        if !isWritable { try setMode(deletion.attributes.mode | 0o700, of: path) }
        for child in latest.sorted(by: { $0.place.name < $1.place.name }) {
            try bringBack(
                child, to: path.appending(child.place.name), children, as: principal, isTop: false, progress)
        }
        if !isWritable { try setMode(deletion.attributes.mode, of: path) }
        setTimes(Times(accessed: first.parentAccessed, modified: first.parentModified), of: path)
    }

    private func setMode(_ mode: UInt32, of path: TreePath) throws {
        try looking(as: .container) { walk in
            let spot = try walk.spot(path)
            try Backing.chmod(spot.name.bytes, in: spot.directory.raw, mode: mode_t(mode))
        }
    }

    /// One entry out of the deleted area under a free name, with its document.
    private func moveOut(
        _ deletion: Deletion, to path: TreePath, as principal: Principal, by requester: Requester
    ) throws {
        try changing(as: principal) { walk, changed in
            let spot = try walk.spot(path)
            guard spot.stat == nil else { throw taken(path) }
            _ = try name(spot.name.bytes, in: spot.parent, forChange: true)
            try walk.requireChange(of: spot)
            let deletion = try leaveArea(deletion, to: spot)
            changed.append(spot)
            let stat = try Backing.stat(spot.name.bytes, in: spot.directory.raw)
            let node = intern(stat, as: Node.Name(parent: spot.parent, name: spot.name), lookups: 1)
            defer { forget(node.id, lookups: 1) }
            nodes.addName(Node.Name(parent: spot.parent, name: spot.name), to: node)
            var rows: [VersionStore.Mutation] = [.removeDeletion(deletion.id)]
            if deletion.type == .file { rows += try revive(deletion, spot, node, stat) }
            if deletion.type == .link { rows += try joinName(deletion, spot.place, node, stat) }
            if deletion.type == .directory { rows += recordedDirectories.moved(deletion.file, to: spot.place) }
            let event = change(.undeleted, in: spot.parent, spot.name, item: deletion.item, by: requester)
            record(spot.parent, rows + [.change(event)])
        }
    }

    /// The entry as it was last: one of several names may have become the file itself.
    private func leaveArea(_ deletion: Deletion, to spot: Spot) throws -> Deletion {
        do {
            return try takeOut(deletion.id, to: spot.name, in: spot.directory)
        } catch {
            switch error {
            case .fileExists: throw taken(spot.path)
            case .noSuchFileOrDirectory:
                throw OperationError(.contentMissing, "the deleted entry is not there any more", path: deletion.path)
            default: throw error
            }
        }
    }

    /// The tombstone that a deletion left, if it is still there.
    func takeTombstone(of deletion: Deletion) -> Tombstone? {
        guard let tombstone = tombstones.take(at: deletion.place, now: now, isOpen: { _ in true }) else { return nil }
        switch tombstone.destination {
        case .deleted(let id) where id == deletion.id: return tombstone
        default:
            tombstones.leave(tombstone, at: deletion.place)
            return nil
        }
    }

    /// The document of a deleted file goes on under its name. One that was never recorded is found by its file again.
    private func revive(
        _ deletion: Deletion, _ spot: Spot, _ node: Node, _ stat: FileStat
    ) throws -> [VersionStore.Mutation] {
        var known = takeTombstone(of: deletion)?.document
        if let orphan = orphans.take(node) { known = orphan.document }
        if known == nil, let id = deletion.item, let item = try store.item(id),
            let current = try store.version(item.current)
        {
            let shares = try store.versions(sharing: current.content).contains { $0.item != id }
            known = Document(item: item, current: current, sharesContent: shares)
        }
        guard let document = known else { return [] }
        try documents.insert(document, at: spot.place)
        return document.state.withLock { state in
            state.places = [spot.place]
            let isUnchanged = state.current.map { $0.size == stat.size && $0.modified == stat.modified } ?? false
            if isUnchanged { state.stamp = Stamp(stat) }
            state.isVerified = isUnchanged
            document.wasVerified.store(isUnchanged, ordering: .releasing)
            return itemRows(state, stat)
        }
    }
}
