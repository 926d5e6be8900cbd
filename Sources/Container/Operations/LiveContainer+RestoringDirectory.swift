// Bringing a directory back as it was at a time: names by undoing the change feed, contents by the versions of then.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// What has been done so far to bring a directory back in place.
private struct PastRun {
    var outcome: RestoreOutcome
    /// Documents that hold what they should, though they were saved just now.
    var settled: Set<ItemID> = []
    /// What undone undeletions and returns have taken away: the deletions before those get it.
    var taken = Taken<Deletion>()
}

extension LiveContainer {
    /// Brings a directory back as it was, in place: names made since go to the deleted area, deleted and renamed ones
    /// come back, each document gets the content that it had. With `target` only a copy is made.
    ///
    /// The feed holds the last 100,000 changes; of names that changed before those nothing is known.
    public func restoreDirectory(
        _ path: TreePath, at time: Timestamp, to target: TreePath? = nil, as principal: Principal,
        report: (_ done: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> RestoreOutcome {
        try operation {
            let lost = target == nil ? try lostDirectory(path, at: time, principal) : nil
            try requireThen(path, at: time)
            let aftermath = Aftermath(since: time, try changes { $0.time > time }, try store.deletions(within: nil))
            if let target {
                return try copyDirectory(path, aftermath, to: target, as: principal, report: report)
            }
            var run = PastRun(outcome: RestoreOutcome(path: path, entries: 0))
            let plan = aftermath.steps(within: path, lost: lost)
            var times = try DirectoryTimes(self, at: time)
            defer { times.apply(within: path) }
            for name in plan.flatMap({ [$0.change.path, $0.change.from] }) { name.map { times.note(directoryOf: $0) } }
            // First, for what was deleted comes back under such a name; and again for what comes back with a directory.
            try displaceUntold(since: time, within: path, principal, &times, &run)
            for step in plan {
                try report(run.outcome.entries + run.outcome.displaced)
                try undo(step, aftermath, principal, &run)
            }
            for left in try displaceUntold(since: time, within: path, principal, &times, &run) {
                run.outcome.note("it was made since, and stays: a program is writing it", left)
            }
            if lost != nil { _ = try looking(as: principal) { try $0.directory(path) } }
            for document in try documentsChanged(since: time, within: path, principal, &run)
            where !run.settled.contains(document.item) {
                try report(run.outcome.entries + run.outcome.displaced)
                times.note(directoryOf: document.path)
                try bringBack(document, aftermath, principal, &run)
            }
            return run.outcome
        }
    }

    /// - Returns: those that stay.
    @discardableResult
    private func displaceUntold(
        since time: Timestamp, within path: TreePath, _ principal: Principal, _ times: inout DirectoryTimes,
        _ run: inout PastRun
    ) throws -> [TreePath] {
        let (count, left) = try displaceUntoldNames(since: time, within: path, as: principal) {
            times.note(directoryOf: $0)
        }
        run.outcome.displaced += count
        return left
    }

    /// Gives a document what it held then.
    private func bringBack(
        _ document: DocumentRecord, _ aftermath: Aftermath, _ principal: Principal, _ run: inout PastRun
    ) throws {
        guard let (former, found) = try contentThen(of: document, aftermath) else { return }
        let then = found.version
        if let doubt = found.doubt { run.outcome.note(doubt, document.path) }
        if isCurrent(then, of: document), then.size == document.current?.size { return }
        let staged = try stage(then, of: former, as: principal)
        try Backing.check { futimens(staged.file.raw, [then.modified.timespec, then.modified.timespec]) }
        _ = try replace(
            document.path, with: Replacement(staged: staged, parents: [then.id], expected: document.current?.id),
            as: principal)
        run.outcome.entries += 1
    }

    /// What has to come back first for a directory to be brought back in place: itself, or what it went with. Nil if it
    /// is there.
    private func lostDirectory(_ path: TreePath, at time: Timestamp, _ principal: Principal) throws -> TreePath? {
        do {
            _ = try looking(as: principal) { try $0.directory(path) }
            return nil
        } catch let error as OperationError where error.kind == .notFound {
            let since = try changes { $0.time > time && $0.concernsNames }
            if since.contains(where: { $0.from.map { path.isWithin($0) && path != $0 } ?? false }) {
                throw OperationError(
                    .notFound, "a directory above it has been renamed since", path: path,
                    advice: "give --to: then a copy is made")
            }
            guard since.contains(where: { $0.event == .deleted && path.isWithin($0.path) || $0.from == path }) else {
                throw error
            }
            var lost = path
            while let above = lost.parent, above != .root, try isFree(above, principal) { lost = above }
            return lost
        }
    }

    private static var adoptionKey: String { "adopted" }

    /// Remembers when the directory became a container. Called once, at the first opening.
    func noteAdoption() {
        guard !options.isReadOnly else { return }
        store.commit([.setting(key: Self.adoptionKey, value: Array("\(options.clock.now().nanoseconds)".utf8))])
    }

    /// nil where it is not known: an older container, or a catalog that was made anew.
    private var adoption: Timestamp? {
        let text = ((try? store.setting(Self.adoptionKey)) ?? nil).map { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { Int64($0) }.map { Timestamp(nanoseconds: $0) }
    }

    /// Refuses a moment that has not come, one that the change feed does not reach back to, and one at which there was
    /// no such directory: all that is in it would go.
    private func requireThen(_ path: TreePath, at time: Timestamp) throws {
        guard time <= options.clock.now() else {
            throw OperationError(
                .invalid, "this time has not come yet", path: path, advice: "give a time that has passed")
        }
        if let adoption, time < adoption {
            throw OperationError(
                .invalid, "of this time nothing is known: the directory became a container later", path: path,
                advice: "give a time since then")
        }
        // A catalog that was made anew does not know since when there is a container, nor what happened before.
        let first = try store.changes(after: 0, limit: 1).first
        if first.map({ $0.sequence > 1 || adoption == nil }) ?? (adoption == nil),
            first.map({ $0.1.time > time }) ?? true
        {
            throw OperationError(
                .invalid, "what names there were then is not known: the changes that are remembered begin later",
                path: path,
                advice: "restore its documents by --version, which versionsctl history lists")
        }
        guard try existed(path, at: time) else {
            throw OperationError(
                .invalid, "it did not exist then", path: path,
                advice: "give a later time: versionsctl history of a document in it shows when it was saved")
        }
    }

    /// Whether there was something at a path, by the changes of it and of all above it, last first. What has only been
    /// renamed since was there under its former name.
    private func existed(_ path: TreePath, at time: Timestamp) throws -> Bool {
        var (path, exists) = (path, true)
        for change in try changesOfNames(since: time).reversed() {
            switch change.event {
            case .created where change.detail.isExchange: continue
            case .created, .undeleted: if path.isWithin(change.path) { exists = false }
            case .deleted: if path.isWithin(change.path) { exists = true }
            default:
                guard let from = change.from else { continue }
                if exists, path.isWithin(change.path) {
                    path = TreePath(names: from.names + path.names.dropFirst(change.path.names.count))
                } else if path.isWithin(from) {
                    exists = true
                    guard change.detail.isExchange else { continue }
                    path = TreePath(names: change.path.names + path.names.dropFirst(from.names.count))
                }
            }
        }
        return exists
    }

    /// All changes of names since a moment, in order.
    private func changesOfNames(since time: Timestamp) throws -> [Change] {
        try changes { $0.time > time && $0.concernsNames }
    }

    /// The changes that are asked for, in order.
    func changes(where isWanted: (Change) -> Bool) throws -> [Change] {
        var rows: [Change] = []
        var after: UInt64 = 0
        while true {
            let page = try store.changes(after: after, limit: 5000)
            guard let last = page.last else { return rows }
            after = last.sequence
            rows += page.map(\.1).filter(isWanted)
        }
    }

    private func undo(
        _ step: Aftermath.Step, _ aftermath: Aftermath, _ principal: Principal, _ run: inout PastRun
    ) throws {
        let change = step.change
        switch change.event {
        case .created, .undeleted:
            run.outcome.displaced += try displace(change.path, principal)
            let now = try store.deletions(within: change.path).first { $0.path == change.path }
            if let now { run.taken.put(now, by: change) }
        case .deleted:
            let found = try deletion(of: change, aftermath) ?? run.taken.give(change)
            guard try isFree(change.path, principal) else { return }
            if let found {
                try undeleteOne(found, to: change.path, as: principal)
                run.outcome.entries += 1
            } else if let lost = try lostContent(change, aftermath) {
                try putBack(lost, at: change.path, principal, &run)
            }
        case .renamed:
            guard let from = change.from else { return }
            let wasInside = step.before.contains { from.isWithin($0) }
            let isInside = step.after.contains { change.path.isWithin($0) }
            if change.detail.isExchange { return try exchangeBack(change, from, wasInside, isInside, principal, &run) }
            if change.version != nil {
                // It was renamed over another document, which has its name still.
                if wasInside, try isFree(from, principal), let lost = try lostContent(change, aftermath) {
                    try putBack(lost, at: from, principal, &run)
                }
                return
            }
            if try isFree(change.path, principal) { return }
            guard wasInside, try isFree(from, principal) else {
                // It was elsewhere, or its name is taken by what it was then: the newer name goes.
                if isInside { run.outcome.displaced += try displace(change.path, principal) }
                return
            }
            try move(change.path, to: from, principal)
            run.outcome.entries += 1
        default: return
        }
    }

    /// Two names change places again; what of them lay elsewhere then goes.
    private func exchangeBack(
        _ change: Change, _ from: TreePath, _ wasInside: Bool, _ isInside: Bool, _ principal: Principal,
        _ run: inout PastRun
    ) throws {
        switch (wasInside, isInside) {
        case (true, true):
            guard try !isFree(from, principal), try !isFree(change.path, principal) else { return }
            try move(change.path, to: from, principal, flags: linux_RENAME_EXCHANGE)
            run.outcome.entries += 2
        case (true, false), (false, true):
            let (inner, outer) = wasInside ? (from, change.path) : (change.path, from)
            run.outcome.displaced += try displace(inner, principal)
            guard try !isFree(outer, principal) else { return }
            try move(outer, to: inner, principal)
            run.outcome.entries += 1
        case (false, false): return
        }
    }

    /// Puts what a name held under it again, as a new document.
    private func putBack(
        _ lost: (document: DocumentRecord, content: Aftermath.Content), at path: TreePath, _ principal: Principal,
        _ run: inout PastRun
    ) throws {
        let then = lost.content.version
        if let doubt = lost.content.doubt { run.outcome.note(doubt, path) }
        let staged = try stage(then, of: lost.document, as: principal)
        let made = try putNew(
            staged, at: path, mode: then.attributes.mode, modified: then.modified, parents: [then.id], as: principal)
        run.settled.insert(made.item)
        run.outcome.entries += 1
    }

    /// What a name held then that has gone without an entry of the deleted area: renamed over another document, or one
    /// of several names for a moment. Nil if it is not that, or is not kept.
    func lostContent(
        _ change: Change, _ aftermath: Aftermath
    ) throws -> (document: DocumentRecord, content: Aftermath.Content)? {
        let path = change.from ?? change.path
        guard let id = change.version else { return nil }
        // The document itself has its history, wherever it is by now.
        if let item = change.item, case let versions = try store.versions(of: item), !versions.isEmpty {
            return try contentThen(of: DocumentRecord(path: path, item: item, versions: versions), aftermath)
        }
        guard let version = try store.version(id), !version.flags.contains(.contentLost) else { return nil }
        guard change.item != nil else {
            let versions = try store.versions(of: version.item)
            return try contentThen(of: DocumentRecord(path: path, item: version.item, versions: versions), aftermath)
        }
        let document = DocumentRecord(path: path, item: version.item, versions: [version])
        return (document, aftermath.content(version, lastOf: change.item))
    }

    private func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool {
        do {
            return try looking(as: principal) { try $0.spot(path).stat == nil }
        } catch let error as OperationError where error.kind == .notFound {
            return true
        }
    }

    /// A name goes to the deleted area with everything below it; how many entries that were.
    func displace(_ path: TreePath, _ principal: Principal) throws -> Int {
        let found = try? looking(as: principal) { walk -> (Bool, [FileName]) in
            let spot = try walk.spot(path)
            guard let stat = spot.stat else { throw OperationError.missing(path) }
            try walk.requireChange(of: spot, removing: true)
            guard stat.isDirectory else { return (false, []) }
            let directory = try descriptor(of: walk.directory(path))
            return (true, try Backing.list(directory.raw).map(\.name))
        }
        guard let (isDirectory, names) = found else {
            if try isFree(path, principal) { return 0 }
            throw OperationError.denied(path)
        }
        var count = 1
        for name in names { count += try displace(path.appending(name), principal) }
        try act(on: path, principal) { caller, spot in
            if isDirectory {
                try removeDirectory(caller, parent: spot.parent.id, name: spot.name.bytes)
            } else {
                try unlink(caller, parent: spot.parent.id, name: spot.name.bytes)
            }
        }
        return count
    }

    private func move(_ path: TreePath, to target: TreePath, _ principal: Principal, flags: UInt32 = 0) throws {
        try act(on: path, principal) { caller, spot in
            try act(on: target, principal) { _, new in
                // The name does not come back as what left it: the thing itself does.
                _ = tombstones.take(at: new.place, now: now) { _ in false }
                try rename(
                    caller, parent: spot.parent.id, name: spot.name.bytes, newParent: new.parent.id,
                    newName: new.name.bytes, flags: flags)
            }
        }
    }

    /// Runs one of the mount's own requests for the caller, with the nodes of a path held, and tells the kernel.
    func act(
        on path: TreePath, _ principal: Principal, removing: Bool = true, _ body: (Caller, Spot) throws -> Void
    ) throws {
        let walk = Walk(self, as: principal)
        defer { walk.end() }
        let spot = try names.reading { () throws -> Spot in
            let spot = try walk.spot(path)
            try walk.requireChange(of: spot, removing: removing)
            return spot
        }
        var caller = Caller(
            user: principal.user, group: principal.primaryGroup ?? principal.user, thread: principal.process)
        caller.isOperation = true
        try body(caller, spot)
        tellKernel([(spot.parent.id, spot.name)])
    }

    private func documentsChanged(
        since time: Timestamp, within path: TreePath, _ principal: Principal, _ run: inout PastRun
    ) throws -> [DocumentRecord] {
        try store.allItems().compactMap { item in
            guard !item.places.isEmpty, let current = try store.version(item.current), current.saved > time,
                let place = try store.path(of: item), place.isWithin(path)
            else { return nil }
            if let found = try? document(item.id, as: principal) { return found }
            // What is parted in the catalog and not on the disk.
            run.outcome.note("it is as it is now: it shares its file with another name", place)
            return nil
        }.filter { $0.deletion == nil }
    }
}
