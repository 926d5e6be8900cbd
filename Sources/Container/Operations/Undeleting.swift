// Bringing deleted things back: a file, or a directory with the group of deletions that it went with (DESIGN 3.2).

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A container whose deleted things come back.
protocol UndeletingContainer: FoundContainer {
    func requester(_ principal: Principal) -> Requester
    /// One entry out of the deleted area under a free name, with its document.
    /// - Parameter tells: whether the kernel is told of the name.
    func moveOut(
        _ deletion: Deletion, to path: TreePath, as principal: Principal, by requester: Requester, tells: Bool
    ) throws
    /// The undeletions that have begun and not ended.
    func begunUndeletes() throws -> [UnfinishedUndelete]
    func note(_ begun: UnfinishedUndelete)
    func forget(_ begun: UnfinishedUndelete)
}

/// Brings deleted things back. It is made for each use.
struct Undeleting {
    let host: any UndeletingContainer
    private var finder: Finder { Finder(host) }
    private var history: any ContainerHistory { host.history }

    // MARK: What can come back

    /// What undeleting a path brings back: the rest of what an earlier undeletion left; the last group that was deleted
    /// from a directory which is there; else the last thing that was deleted at the path.
    ///
    /// - Parameter elsewhere: it is not to come back to the path: what was deleted at it goes before what was in it.
    func undeletable(
        at path: TreePath, elsewhere: Bool = false, as principal: Principal
    ) throws(OperationError) -> Undeletable {
        try operation {
            let begun = try host.begunUndeletes()
            let last = try finder.deletions(at: path).first.flatMap { finder.mayKnow($0, principal) ? $0 : nil }
            if elsewhere, let last { return .entry(last) }
            if let directory = try? finder.looking(as: principal, { try $0.directory(path).file }) {
                if let found = begun.first(where: { $0.file == directory }) { return .unfinished(found) }
                if let last = try lastDeletion(in: directory, at: path, principal) {
                    return .inside(path, directory, group: last.group)
                }
            }
            if let last { return .entry(last) }
            if let found = begun.last(where: { $0.path == path && finder.livePath(of: $0.file) != nil }) {
                return .unfinished(found)
            }
            throw OperationError(
                .nothingToDo, "nothing was deleted here", path: path,
                advice: "`versionsctl deleted` lists deleted files")
        }
    }

    /// The undeletion that has begun with an entry of this id, whose first digits will do; nil if there is none.
    func unfinishedUndelete(_ digits: String) throws(OperationError) -> UnfinishedUndelete? {
        try operation {
            guard digits.utf8.count >= 6 else { return nil }
            return try host.begunUndeletes().first { $0.id.hex.hasPrefix(digits.lowercased()) }
        }
    }

    /// The directories whose undeletion has begun and not ended, with how many entries are still deleted.
    func unfinishedUndeletes() throws(OperationError) -> [(path: TreePath, remaining: Int)] {
        try operation {
            try host.begunUndeletes().compactMap { unfinished in
                guard let path = finder.livePath(of: unfinished.file) else { return nil }
                let remaining = try rest(of: unfinished.group, within: path).remaining
                return remaining == 0 ? nil : (path, remaining)
            }
        }
    }

    private func lastDeletion(in directory: FileID, at path: TreePath, _ principal: Principal) throws -> Deletion? {
        // By its identity, for it may have had another name then; and below it by the path.
        let below = try history.deletions(within: path).filter { $0.path != path }
        return try (history.deletions(in: directory) + below).sorted { $1.deleted < $0.deleted }.first { deletion in
            guard let home = finder.livePath(of: deletion.place.directory) else { return false }
            return home.isWithin(path) && finder.mayKnow(deletion, principal)
        }
    }

    // MARK: Bringing it back

    /// Moves deleted things back to where they were, or one to `target`. A directory comes with everything of its
    /// group, with modes, times and attributes; directories above it that were deleted come back too, empty. What fails
    /// of one entry is told in the outcome, and the rest comes back. Asked again, it goes on where it ended.
    ///
    /// - Parameter expecting: hears how many entries are to come back, before the first one does.
    /// - Throws: `exists` if the name is taken; whatever ended it, with what is still deleted in its words.
    func undelete(
        _ what: Undeletable, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }, expecting: @escaping (_ entries: Int) -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        defer { end() }
        return try operation {
            try withoutActuallyEscaping(report) { report in
                let run = Undeletion(
                    self, as: principal, by: host.requester(principal), report: report, expecting: expecting)
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
        guard finder.mayTake(deletion, run.principal) else { throw OperationError.denied(deletion.path) }
        let group = deletion.type == .directory ? try history.deletions(group: deletion.group) : [deletion]
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
        guard let path = finder.livePath(of: unfinished.file) else { throw OperationError.missing(unfinished.path) }
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
                guard finder.mayTake(entry, run.principal, &known) else { throw OperationError.denied(entry.path) }
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
        let children = Self.byDirectory(try history.deletions(group: group))
        var directories: [TreePath: FileID] = [:]
        for file in children.keys {
            if let home = finder.livePath(of: file), home.isWithin(path) { directories[home] = file }
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
            guard let deletion = try history.deletion(id) else { throw Errno.noSuchFileOrDirectory }
            let group = deletion.type == .directory ? try history.deletions(group: deletion.group) : []
            let run = Undeletion(self, as: .container, by: requester, tellsOfTop: false) { _ in }
            do {
                try run.run(
                    deletion, to: host.tree.path(of: name.name, in: name.parent),
                    Self.byDirectory(group.filter { $0.id != id }))
            } catch {
                // It is there, if not all that was in it: a rename that failed would say that it is not.
                guard run.count > 0 else { throw error }
                host.logger.error("not everything was undeleted with its directory: \(deletion.path): \(error)")
            }
        }
    }

    /// Moves one entry back without what was deleted from it.
    func undeleteOne(_ deletion: Deletion, to path: TreePath, as principal: Principal) throws {
        guard finder.mayTake(deletion, principal) else { throw OperationError.denied(deletion.path) }
        try host.moveOut(deletion, to: path, as: principal, by: host.requester(principal), tells: true)
    }

    /// Where an entry goes back to; a directory that was deleted since is brought back for it.
    private func home(of deletion: Deletion, as principal: Principal) throws -> (TreePath, revived: Int) {
        if let directory = finder.livePath(of: deletion.place.directory) {
            return (directory.appending(deletion.place.name), 0)
        }
        if let gone = try deleted(deletion.place.directory, at: deletion.path.parent) {
            let (path, revived) = try home(of: gone, as: principal)
            // A new directory of its name serves.
            if (try? finder.looking(as: principal, { try $0.directory(path) })) != nil {
                return (path.appending(deletion.place.name), revived)
            }
            try host.moveOut(gone, to: path, as: principal, by: host.requester(principal), tells: true)
            return (path.appending(deletion.place.name), revived + 1)
        }
        // Its directory was removed for good; another of that path serves.
        return (deletion.path, 0)
    }

    /// - Parameter path: where it may have been deleted: that is asked for first.
    private func deleted(_ directory: FileID, at path: TreePath?) throws -> Deletion? {
        let isIt = { (entry: Deletion) in entry.type == .directory && entry.file == directory }
        if let path, let found = try history.deletions(at: path).first(where: isIt) { return found }
        return try history.deletions(within: nil).first(where: isIt)
    }

    /// The surviving directory's times before the group's first deletion from it, if nothing has changed there since
    /// the last.
    private func timesBefore(
        _ deletion: Deletion, _ group: [Deletion], at path: TreePath
    ) throws -> (accessed: Timestamp, modified: Timestamp)? {
        let siblings = group.filter { $0.place.directory == deletion.place.directory }
        guard let first = siblings.min(by: { $0.deleted < $1.deleted }),
            let last = siblings.max(by: { $0.deleted < $1.deleted }), siblings.count == 1,
            let parent = path.parent, finder.livePath(of: deletion.place.directory) == parent
        else { return nil }
        let stat = try finder.looking(as: .container) { walk -> FileStat in
            let directory = try host.tree.descriptor(of: walk.directory(parent))
            return try Backing.stat(path: ".", in: directory.raw)
        }
        // The kernel's clock of files runs a tick behind.
        let isUntouched = stat.modified.since(last.deleted).magnitude < 100_000_000
        return isUntouched ? (first.parentAccessed, first.parentModified) : nil
    }

    func setTimes(accessed: Timestamp, modified: Timestamp, of directory: TreePath) {
        let changed = try? finder.looking(as: .container) { walk -> UInt64 in
            let node = try walk.directory(directory)
            let descriptor = try host.tree.descriptor(of: node)
            try Backing.setTimes([46], in: descriptor.raw, accessed: accessed.timespec, modified: modified.timespec)
            return node.id
        }
        // A program may have looked the name up since it came back.
        if let changed { host.passthrough.kernel.side?.invalidate(node: changed, data: false) }
    }

    func setMode(_ mode: UInt32, of path: TreePath) throws {
        try finder.looking(as: .container) { walk in
            let spot = try walk.spot(path)
            // A program may have put a symlink in its place.
            let flags = linux_O_PATH | O_NOFOLLOW | O_DIRECTORY
            let directory = SharedDescriptor(try Backing.open(spot.name.bytes, in: spot.directory.raw, flags: flags))
            try Backing.chmod([], in: directory.raw, mode: mode_t(mode))
        }
    }

    /// Undeletions of which nothing is missing any more are over: the rest came back one by one, or was removed for
    /// good.
    func end() {
        for unfinished in (try? host.begunUndeletes()) ?? [] {
            guard let path = finder.livePath(of: unfinished.file),
                let left = try? rest(of: unfinished.group, within: path).remaining, left == 0
            else { continue }
            // From below: making a name needs the right to write above.
            for directory in unfinished.open.reversed() {
                guard let path = finder.livePath(of: directory.file) else { continue }
                if let mode = directory.mode { try? setMode(mode, of: path) }
                setTimes(accessed: directory.accessed, modified: directory.modified, of: path)
            }
            host.forget(unfinished)
        }
    }

    /// Where what is undeleted comes back to.
    func home(of what: Undeletable) -> TreePath {
        switch what {
        case .entry(let found):
            finder.livePath(of: found.place.directory)?.appending(found.place.name) ?? found.path
        case .unfinished(let begun): finder.livePath(of: begun.file) ?? begun.path
        case .inside(let path, _, group: _): path
        }
    }
}
