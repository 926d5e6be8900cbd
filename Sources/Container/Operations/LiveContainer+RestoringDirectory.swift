// Bringing a directory back as it was at a time: names by undoing the change feed, contents by the versions of then.

import CLinux
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
            if target == nil { try requireReachable(path, at: time, principal) }
            try requireThen(path, at: time)
            let aftermath = Aftermath(since: time, try changes { $0.time > time }, try store.deletions(within: nil))
            if let target {
                return try copyDirectory(path, aftermath, to: target, as: principal, report: report)
            }
            let run = try PastReturn(self, path, aftermath, as: principal)
            try run.requireRights()
            try run.carryOut(report)
            return run.outcome
        }
    }

    /// Refuses a directory that is not there and cannot come back under its name.
    private func requireReachable(_ path: TreePath, at time: Timestamp, _ principal: Principal) throws {
        do {
            _ = try looking(as: principal) { try $0.directory(path) }
        } catch let error as OperationError where error.kind == .notFound {
            let since = try changes { $0.time > time && $0.concernsNames }
            if since.contains(where: { $0.from.map { path.isWithin($0) && path != $0 } ?? false }) {
                throw Self.renamedAbove(path)
            }
            guard since.contains(where: { $0.event == .deleted && path.isWithin($0.path) || $0.from == path }) else {
                throw error
            }
        }
    }

    static func renamedAbove(_ path: TreePath) -> OperationError {
        OperationError(
            .notFound, "a directory above it was renamed after that time", path: path,
            advice: "restore a copy with --to PATH")
    }

    private static var adoptionKey: String { "adopted" }

    /// Remembers when the directory became a container. Called once, at the first opening.
    func noteAdoption() {
        guard !options.isReadOnly else { return }
        store.commit([.setting(key: Self.adoptionKey, value: Array("\(options.clock.now().nanoseconds)".utf8))])
    }

    /// nil where it is not known: an older container, or a catalog that was made anew.
    var adoption: Timestamp? {
        let text = ((try? store.setting(Self.adoptionKey)) ?? nil).map { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { Int64($0) }.map { Timestamp(nanoseconds: $0) }
    }

    /// Refuses a moment that has not come, one that the change feed does not reach back to, and one at which there was
    /// no such directory: all that is in it would go.
    func requireThen(_ path: TreePath, at time: Timestamp) throws {
        guard time <= options.clock.now() else { throw OperationError.notYet(path) }
        if let adoption, time < adoption { throw OperationError.tooEarly(path, begins: adoption) }
        // A catalog that was made anew does not know since when there is a container, nor what happened before.
        let first = try store.changes(after: 0, limit: 1).first
        if first.map({ $0.sequence > 1 || adoption == nil }) ?? (adoption == nil),
            first.map({ $0.1.time > time }) ?? true
        {
            throw OperationError.tooEarly(path, begins: first?.1.time)
        }
        guard try existed(path, at: time) else {
            throw OperationError(
                .invalid, "no such directory at that time", path: path,
                advice: "give a later time; `versionsctl history` shows when a file in it was saved")
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

    func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool {
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

    func move(_ path: TreePath, to target: TreePath, _ principal: Principal) throws {
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
}
