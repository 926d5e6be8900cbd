// Bringing a directory back as it was at a time: names by undoing the change feed, contents by the versions of then.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

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
            if target == nil { _ = try looking(as: principal) { try $0.directory(path) } }
            try requireThen(path, at: time)
            if let target {
                return try copyDirectory(path, at: time, to: target, as: principal, report: report)
            }
            var outcome = RestoreOutcome(path: path, entries: 0)
            let plan = try namesSince(time, within: path)
            var times = try DirectoryTimes(self, at: time)
            defer { times.apply(within: path) }
            for name in plan.flatMap({ [$0.path, $0.from].compactMap { $0 } }) { times.note(directoryOf: name) }
            for change in plan {
                try report(outcome.entries + outcome.displaced)
                try undo(change, path, at: time, principal, &outcome)
            }
            for document in try documentsChanged(since: time, within: path, principal) {
                try report(outcome.entries + outcome.displaced)
                guard let then = versionAt(time, of: document), !isCurrent(then, of: document) else { continue }
                times.note(directoryOf: document.path)
                let staged = try stage(then, of: document, as: principal)
                try Backing.check { futimens(staged.file.raw, [then.modified.timespec, then.modified.timespec]) }
                _ = try replace(
                    document.path,
                    with: Replacement(staged: staged, parents: [then.id], expected: document.current?.id), as: principal
                )
                outcome.entries += 1
            }
            return outcome
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
            case .created, .undeleted: if path.isWithin(change.path) { exists = false }
            case .deleted: if path.isWithin(change.path) { exists = true }
            default:
                guard let from = change.from else { continue }
                if exists, path.isWithin(change.path) {
                    path = TreePath(names: from.names + path.names.dropFirst(change.path.names.count))
                } else if path.isWithin(from) {
                    exists = true
                }
            }
        }
        return exists
    }

    /// The version that was current at a moment: the last one saved until then that was not a loser from the start.
    func versionAt(_ time: Timestamp, of document: DocumentRecord) -> Version? {
        document.versions.filter { $0.saved <= time && !$0.flags.contains(.contentLost) }.max { $0.time < $1.time }
    }

    /// The changes of names since a moment, last first, without those that undo one another.
    func namesSince(_ time: Timestamp, within path: TreePath) throws -> [Change] {
        let rows = try changesOfNames(since: time).filter { change in
            (change.path.isWithin(path) || change.from?.isWithin(path) ?? false) && change.path != path
        }
        return withoutPassing(rows).reversed()
    }

    /// All changes of names since a moment, in order.
    private func changesOfNames(since time: Timestamp) throws -> [Change] { try changesOfNames { $0 > time } }

    /// Those whose time is one that is asked for.
    func changesOfNames(where isWanted: (Timestamp) -> Bool) throws -> [Change] {
        var rows: [Change] = []
        var after: UInt64 = 0
        while true {
            let page = try store.changes(after: after, limit: 5000)
            guard let last = page.last else { return rows }
            after = last.sequence
            rows += page.map(\.1).filter { change in
                isWanted(change.time) && [.created, .renamed, .deleted, .undeleted].contains(change.event)
            }
        }
    }

    /// A name that was made and deleted since needs neither made nor deleted again.
    private func withoutPassing(_ rows: [Change]) -> [Change] {
        var made: [TreePath: Int] = [:]
        var gone: [TreePath: Int] = [:]
        var passing: Set<Int> = []
        for (index, row) in rows.enumerated() {
            switch row.event {
            case .undeleted where gone[row.path] != nil:
                passing.formUnion([gone.removeValue(forKey: row.path), index].compactMap { $0 })
            case .created, .undeleted:
                made[row.path] = index
                gone[row.path] = nil
            case .deleted:
                if let start = made.removeValue(forKey: row.path) {
                    passing.formUnion([start, index])
                } else {
                    gone[row.path] = index
                }
            default:
                // What was renamed is followed no further, nor is anything below it.
                for known in [row.path, row.from].compactMap({ $0 }) {
                    made = made.filter { !$0.key.isWithin(known) }
                    gone = gone.filter { !$0.key.isWithin(known) }
                }
            }
        }
        return rows.enumerated().filter { !passing.contains($0.offset) }.map(\.element)
    }

    private func undo(
        _ change: Change, _ root: TreePath, at time: Timestamp, _ principal: Principal, _ outcome: inout RestoreOutcome
    ) throws {
        switch change.event {
        case .created, .undeleted:
            outcome.displaced += try displace(change.path, principal)
        case .deleted:
            guard let found = try deletion(of: change), try isFree(change.path, principal) else { return }
            try undeleteOne(found, to: change.path, as: principal)
            outcome.entries += 1
        case .renamed:
            guard let from = change.from else { return }
            if let item = change.item, let lost = try namelessDocument(item, at: from) {
                // It was renamed over another document, which has its name still.
                guard from.isWithin(root), try isFree(from, principal), let then = versionAt(time, of: lost) else {
                    return
                }
                let staged = try stage(then, of: lost, as: principal)
                _ = try putNew(
                    staged, at: from, mode: then.attributes.mode, modified: then.modified, parents: [then.id],
                    as: principal)
                outcome.entries += 1
                return
            }
            if try isFree(change.path, principal) { return }
            guard from.isWithin(root), try isFree(from, principal) else {
                // It was elsewhere, or its name is taken by what it was then: the newer name goes.
                if change.path.isWithin(root) { outcome.displaced += try displace(change.path, principal) }
                return
            }
            try move(change.path, to: from, principal)
            outcome.entries += 1
        default: return
        }
    }

    /// A document whose file was renamed over another: its versions are there, and no name has it.
    func namelessDocument(_ item: ItemID, at path: TreePath) throws -> DocumentRecord? {
        guard let row = try store.item(item), row.places.isEmpty, try store.deletions(of: item).isEmpty else {
            return nil
        }
        return DocumentRecord(path: path, item: item, versions: try store.versions(of: item))
    }

    private func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool {
        do {
            return try looking(as: principal) { try $0.spot(path).stat == nil }
        } catch let error as OperationError where error.kind == .notFound {
            return true
        }
    }

    /// A name goes to the deleted area with everything below it; how many entries that were.
    private func displace(_ path: TreePath, _ principal: Principal) throws -> Int {
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

    private func move(_ path: TreePath, to target: TreePath, _ principal: Principal) throws {
        try act(on: path, principal) { caller, spot in
            try act(on: target, principal) { _, new in
                // The name does not come back as what left it: the thing itself does.
                _ = tombstones.take(at: new.place, now: now) { _ in false }
                try rename(
                    caller, parent: spot.parent.id, name: spot.name.bytes, newParent: new.parent.id,
                    newName: new.name.bytes, flags: 0)
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
        since time: Timestamp, within path: TreePath, _ principal: Principal
    ) throws -> [DocumentRecord] {
        try store.allItems().compactMap { item in
            guard !item.places.isEmpty, let current = try store.version(item.current), current.saved > time,
                let place = try store.path(of: item), place.isWithin(path)
            else { return nil }
            return try? document(item.id, as: principal)
        }.filter { $0.deletion == nil }
    }
}
