// Bringing deleted things back: a file, or a directory with the group of deletions that it went with (DESIGN 3.2).

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    // MARK: What can come back

    /// What a request to undelete is about.
    public enum Undeletable: Sendable {
        /// An entry of the deleted area, with what was deleted from it.
        case entry(Deletion)
        /// A directory that came back without all that was deleted from it.
        case unfinished(UnfinishedUndelete)
        /// A live directory, and the last group of deletions from it and below.
        case inside(TreePath, FileID, group: DeletionID)
    }

    /// What undeleting a path brings back: the rest of what an earlier undeletion left; the last group that was deleted
    /// from a directory which is there; else the last thing that was deleted at the path.
    ///
    /// - Parameter elsewhere: it is not to come back to the path: what was deleted at it goes before what was in it.
    public func undeletable(
        at path: TreePath, elsewhere: Bool = false, as principal: Principal
    ) throws(OperationError) -> Undeletable {
        try operation {
            let begun = try store.unfinishedUndeletes()
            if elsewhere, let found = try deletions(at: path).first, mayKnow(found, principal) { return .entry(found) }
            if let directory = try? looking(as: principal, { try $0.directory(path).file }) {
                if let found = begun.first(where: { $0.file == directory }) { return .unfinished(found) }
                if let last = try lastDeletion(in: directory, at: path, principal) {
                    return .inside(path, directory, group: last.group)
                }
            }
            if let found = try deletions(at: path).first, mayKnow(found, principal) { return .entry(found) }
            if let found = begun.last(where: { $0.path == path && livePath(of: $0.file) != nil }) {
                return .unfinished(found)
            }
            throw OperationError(
                .nothingToDo, "nothing was deleted here", path: path,
                advice: "`versionsctl deleted` lists deleted files")
        }
    }

    /// The undeletion that has begun with an entry of this id, whose first digits will do; nil if there is none.
    public func unfinishedUndelete(_ digits: String) throws(OperationError) -> UnfinishedUndelete? {
        try operation {
            guard digits.utf8.count >= 6 else { return nil }
            return try store.unfinishedUndeletes().first { $0.id.hex.hasPrefix(digits.lowercased()) }
        }
    }

    /// The directories whose undeletion has begun and not ended, with how many entries are still deleted.
    public func unfinishedUndeletes() throws(OperationError) -> [(path: TreePath, remaining: Int)] {
        try operation {
            try store.unfinishedUndeletes().compactMap { unfinished in
                guard let path = livePath(of: unfinished.file) else { return nil }
                let remaining = try rest(of: unfinished.group, within: path).remaining
                return remaining == 0 ? nil : (path, remaining)
            }
        }
    }

    func remaining(of group: DeletionID, within path: TreePath) throws -> Int {
        try rest(of: group, within: path).remaining
    }

    private func lastDeletion(in directory: FileID, at path: TreePath, _ principal: Principal) throws -> Deletion? {
        // By its identity, for it may have had another name then; and below it by the path.
        let below = try store.deletions(within: path).filter { $0.path != path }
        return try (store.deletions(in: directory) + below).sorted { $1.deleted < $0.deleted }.first { deletion in
            guard let home = livePath(of: deletion.place.directory) else { return false }
            return home.isWithin(path) && mayKnow(deletion, principal)
        }
    }

    // MARK: Bringing it back

    /// Moves a deleted thing back to where it was, or to `target`.
    public func undelete(
        _ deletion: Deletion, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        try undelete(.entry(deletion), to: target, as: principal, report: report)
    }

    /// Moves deleted things back to where they were, or one to `target`. A directory comes with everything of its
    /// group, with modes, times and attributes; directories above it that were deleted come back too, empty. What fails
    /// of one entry is told in the outcome, and the rest comes back. Asked again, it goes on where it ended.
    ///
    /// - Parameter expecting: hears how many entries are to come back, before the first one does.
    /// - Throws: `exists` if the name is taken; whatever ended it, with what is still deleted in its words.
    public func undelete(
        _ what: Undeletable, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }, expecting: @escaping (_ entries: Int) -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        defer { endUndeletes() }
        return try operation {
            try withoutActuallyEscaping(report) { report in
                let run = Undeletion(
                    self, as: principal, by: requester(principal), report: report, expecting: expecting)
                switch what {
                case .entry(let deletion): return try undelete(deletion, to: target, run)
                case .unfinished(let unfinished): return try goOn(unfinished, to: target, run)
                case .inside(let path, _, let group):
                    guard target == nil else {
                        throw OperationError(
                            .invalid, "the directory exists, and its deleted files go back into it", path: path,
                            advice: "leave out --to, or name one of the entries of `versionsctl deleted`")
                    }
                    return try finish(path, group, run) {
                        try goOn(nil, group, path, asked: true, run)
                    }
                }
            }
        }
    }

    private func undelete(_ deletion: Deletion, to target: TreePath?, _ run: Undeletion) throws -> RestoreOutcome {
        guard mayTake(deletion, run.principal) else { throw OperationError.denied(deletion.path) }
        let group = deletion.type == .directory ? try store.deletions(group: deletion.group) : [deletion]
        let (path, revived) = try target.map { ($0, 0) } ?? home(of: deletion, as: run.principal)
        let parentTimes = try timesBefore(deletion, group, at: path)
        var outcome = try finish(path, deletion.type == .directory ? deletion.group : nil, run) {
            try run.run(deletion, to: path, Self.byDirectory(group.filter { $0.id != deletion.id }))
        }
        if let parentTimes, let parent = path.parent {
            setTimes(accessed: parentTimes.accessed, modified: parentTimes.modified, of: parent)
        }
        // Those above it that had to come back with it.
        outcome.entries += revived
        outcome.directories = run.directories + revived
        return outcome
    }

    private func goOn(_ unfinished: UnfinishedUndelete, to target: TreePath?, _ run: Undeletion) throws
        -> RestoreOutcome
    {
        guard let path = livePath(of: unfinished.file) else { throw OperationError.missing(unfinished.path) }
        if let target, target != path {
            throw OperationError(
                .exists, "undeleted in part already", path: path,
                advice: "`versionsctl undelete` without --to brings back the rest")
        }
        // Who began it was asked for his rights then; some of its directories may forbid him to make names by now.
        let isHis = run.principal.isRoot || run.principal.user == unfinished.user
        return try finish(path, unfinished.group, run) {
            try goOn(unfinished, unfinished.group, path, asked: !isHis, run)
        }
    }

    private func goOn(
        _ unfinished: UnfinishedUndelete?, _ group: DeletionID, _ path: TreePath, asked: Bool, _ run: Undeletion
    ) throws {
        let rest = try rest(of: group, within: path)
        if asked {
            var known = KnownDirectories()
            for entry in rest.directories.values.flatMap({ rest.children[$0] ?? [] }) {
                guard mayTake(entry, run.principal, &known) else { throw OperationError.denied(entry.path) }
            }
        }
        try run.goOn(unfinished, rest.directories, rest.children, asked: asked)
    }

    /// Runs it and says what it did; what ended it says what it did not.
    private func finish(
        _ path: TreePath, _ group: DeletionID?, _ run: Undeletion, _ body: () throws -> Void
    ) throws -> RestoreOutcome {
        do {
            try body()
        } catch {
            var error = OperationError.wrap(error)
            guard run.count > 0, let group, let rest = try? rest(of: group, within: path) else { throw error }
            error.message += "; \(run.count) came back, \(rest.remaining) are still deleted"
            error.advice = (error.errno == .noSpace ? "make room, then " : "") + "`versionsctl undelete` goes on"
            error.path = path
            throw error
        }
        var outcome = RestoreOutcome(path: path, entries: run.count, directories: run.directories)
        outcome.problems = run.problems
        if !run.problems.isEmpty, let group { outcome.remaining = try rest(of: group, within: path).remaining }
        return outcome
    }

    /// What of a group is still deleted from live directories at or below a path, and from what was deleted from those.
    private func rest(
        of group: DeletionID, within path: TreePath
    ) throws -> (directories: [TreePath: FileID], children: Undeletion.Children, remaining: Int) {
        let children = Self.byDirectory(try store.deletions(group: group))
        var directories: [TreePath: FileID] = [:]
        for file in children.keys {
            if let home = livePath(of: file), home.isWithin(path) { directories[home] = file }
        }
        return (directories, children, Undeletion.count(below: Array(directories.values), children))
    }

    private static func byDirectory(_ deletions: [Deletion]) -> Undeletion.Children {
        Dictionary(grouping: deletions, by: \.place.directory)
    }

    /// Moves an entry to a name that the kernel is just giving it, with what was deleted from it: the kernel has looked
    /// at the caller's rights. What does not come with it stays deleted.
    func undelete(_ id: DeletionID, to name: Node.Name, _ requester: Requester) throws(OperationError) {
        try operation {
            guard let deletion = try store.deletion(id) else { throw Errno.noSuchFileOrDirectory }
            let group = deletion.type == .directory ? try store.deletions(group: deletion.group) : []
            let run = Undeletion(self, as: .container, by: requester, tellsOfTop: false) { _ in }
            do {
                try run.run(
                    deletion, to: path(of: name.name, in: name.parent), Self.byDirectory(group.filter { $0.id != id }))
            } catch {
                // It is there, if not all that was in it: a rename that failed would say that it is not.
                guard run.count > 0 else { throw error }
                logger.error("not everything was undeleted with its directory: \(deletion.path): \(error)")
            }
        }
    }

    /// Moves one entry back without what was deleted from it.
    func undeleteOne(_ deletion: Deletion, to path: TreePath, as principal: Principal) throws {
        guard mayTake(deletion, principal) else { throw OperationError.denied(deletion.path) }
        try moveOut(deletion, to: path, as: principal, by: requester(principal))
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
            // A new directory of its name serves.
            if (try? looking(as: principal, { try $0.directory(path) })) != nil {
                return (path.appending(deletion.place.name), revived)
            }
            try moveOut(gone, to: path, as: principal, by: requester(principal))
            return (path.appending(deletion.place.name), revived + 1)
        }
        // Its directory was removed for good; another of that path serves.
        return (deletion.path, 0)
    }

    /// The surviving directory's times before the group's first deletion from it, if nothing has changed there since
    /// the last.
    private func timesBefore(
        _ deletion: Deletion, _ group: [Deletion], at path: TreePath
    ) throws -> (accessed: Timestamp, modified: Timestamp)? {
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
        return isUntouched ? (first.parentAccessed, first.parentModified) : nil
    }

    func setTimes(accessed: Timestamp, modified: Timestamp, of directory: TreePath) {
        let changed = try? looking(as: .container) { walk -> UInt64 in
            let node = try walk.directory(directory)
            let descriptor = try descriptor(of: node)
            try Backing.setTimes([46], in: descriptor.raw, accessed: accessed.timespec, modified: modified.timespec)
            return node.id
        }
        // A program may have looked the name up since it came back.
        if let changed { serving.passthrough.kernel.side?.invalidate(node: changed, data: false) }
    }

    func setMode(_ mode: UInt32, of path: TreePath) throws {
        try looking(as: .container) { walk in
            let spot = try walk.spot(path)
            // A program may have put a symlink in its place.
            let flags = linux_O_PATH | O_NOFOLLOW | O_DIRECTORY
            let directory = SharedDescriptor(try Backing.open(spot.name.bytes, in: spot.directory.raw, flags: flags))
            try Backing.chmod([], in: directory.raw, mode: mode_t(mode))
        }
    }

    /// One entry out of the deleted area under a free name, with its document.
    func moveOut(
        _ deletion: Deletion, to path: TreePath, as principal: Principal, by requester: Requester, tells: Bool = true
    ) throws {
        let deletion = try deletedDatabases.complete(deletion)
        try changing(as: principal) { walk, changed, names in
            let spot = try walk.spot(path)
            guard spot.stat == nil else { throw taken(path) }
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
            case .fileExists: throw taken(spot.path)
            case .noSuchFileOrDirectory:
                throw OperationError(.contentMissing, "the deleted entry is gone", path: deletion.path)
            default: throw explained(error, at: spot)
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
