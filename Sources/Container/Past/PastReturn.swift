// A directory going back in place to what it was: the difference between its names of today and those of then, and how
// that is carried out.

import SystemPackage
import VersionModel
import VersionStore

/// One return of a directory to a moment. What is as it was is not touched, so that asking again goes on where it
/// ended, and does nothing once all is so. Used by one thread.
final class PastReturn {
    let past: Past
    let live: any ReturningTree
    let principal: Principal
    let path: TreePath
    let aftermath: Aftermath
    let tree: PastTree
    /// The directory of then.
    let top: PastEntry

    var outcome: RestoreOutcome
    var times: DirectoryTimes
    /// Documents that hold what they should, though they were saved just now.
    var settled: Set<ItemID> = []

    /// What does not lie where it was: to be moved, undeleted or made.
    private(set) var missing: [PastEntry] = []
    /// What lies where it was not, and is nowhere in the directory of then.
    private(set) var unwanted: [PastEntry] = []
    /// Where the directory and those above it go: into what has the names of those above today.
    private var homes: [ObjectIdentifier: PastEntry] = [:]
    /// What could not go where it was, and lies where it does today.
    private var refused: [PastEntry] = []
    /// What was made since and holds what had that name.
    private var standIns: Set<ObjectIdentifier> = []

    /// Looks, and changes nothing.
    init(
        _ past: Past, _ live: any ReturningTree, _ path: TreePath, _ aftermath: Aftermath, as principal: Principal
    ) throws {
        (self.past, self.live) = (past, live)
        (self.principal, self.path, self.aftermath) = (principal, path, aftermath)
        tree = try PastTree(past, live, aftermath)
        let then = tree.entry(path)
        // What had another name then keeps the one that it was asked for by.
        guard let top = then ?? tree.lying(at: path), top === then || top.then != nil else {
            throw OperationError.missing(path)
        }
        guard top.isDirectory else { throw OperationError(.notFound, "was not a directory then", path: path) }
        self.top = top
        outcome = RestoreOutcome(path: path, entries: 0)
        times = try DirectoryTimes(past, live, at: aftermath.time)
        if top === then { try findWayDown() }
        compare()
        for entry in missing {
            if entry.now != nil { times.note(directoryOf: entry.path) }
            if let home = home(of: entry), home.isPresent, let name = entry.then?.name {
                times.note(directoryOf: home.path.appending(name))
            }
        }
        for entry in unwanted { times.note(directoryOf: entry.path) }
    }

    // MARK: The difference

    func home(of entry: PastEntry) -> PastEntry? { homes[ObjectIdentifier(entry)] ?? entry.then?.parent }

    /// Whether it is to be in the directory.
    func isWanted(_ entry: PastEntry) -> Bool { entry.was(within: top) }

    /// The directories above stay what they are today; those that are gone come back.
    private func findWayDown() throws {
        guard var above = tree.entry(.root), path != .root else { return }
        var passed = TreePath.root
        for name in path.names {
            passed = passed.appending(name)
            guard let then = tree.entry(passed) else { throw OperationError.missing(path) }
            _ = tree.children(of: above)
            homes[ObjectIdentifier(then)] = above
            if then === top {
                if let there = above.present[name], there !== top, !isWanted(there) { unwanted.append(there) }
                if !isInPlace(top) { missing.append(top) }
            } else if let there = above.present[name], there.isDirectory {
                above = there
            } else if case .deleted = then.source {
                missing.append(then)
                above = then
            } else {
                throw Past.renamedAbove(path)
            }
        }
    }

    private func isInPlace(_ entry: PastEntry) -> Bool {
        guard let now = entry.now, let home = home(of: entry) else { return false }
        return now.parent === home && now.name == entry.then?.name
    }

    /// A directory without loaded children has not changed.
    private func compare() {
        var next = [top]
        while let directory = next.popLast() {
            guard let children = directory.children else { continue }
            for (name, child) in children.sorted(by: { $0.key < $1.key }) {
                if child.isDirectory { next.append(child) }
                if isInPlace(child) { continue }
                if let there = directory.present[name], isStandIn(there, for: child) {
                    standIns.insert(ObjectIdentifier(there))
                } else {
                    missing.append(child)
                }
            }
            unwanted += directory.present.sorted { $0.key < $1.key }.map(\.value).filter {
                !isWanted($0) && !standIns.contains(ObjectIdentifier($0))
            }
        }
        // What was deleted last comes back first: a name of a file before the names that it had besides.
        missing = missing.enumerated().sorted { one, other in
            let (first, second) = (rank(one.element), rank(other.element))
            guard first.rank == second.rank else { return first.rank < second.rank }
            return first.deleted == second.deleted ? one.offset < other.offset : second.deleted < first.deleted
        }.map(\.element)
    }

    private func rank(_ entry: PastEntry) -> (rank: Int, deleted: Timestamp) {
        switch entry.source {
        case .live: (0, aftermath.time)
        case .deleted(let deletion): (1, deletion.deleted)
        case .lost: (2, aftermath.time)
        }
    }

    /// Whether what lies there holds what was lost: an earlier return has made it.
    private func isStandIn(_ there: PastEntry, for lost: PastEntry) -> Bool {
        guard case .lost(let former, let content) = lost.source, !there.isDirectory, !isWanted(there),
            let document = try? live.document(at: there.path, as: .container),
            live.holds(content.version, of: former, document)
        else { return false }
        settled.insert(document.item)
        return true
    }

    // MARK: Carrying it out

    /// - Throws: what ended it, with what was done until then.
    func carryOut(_ report: (_ done: Int) throws -> Void) throws {
        defer { times.apply(within: path) }
        do {
            // First, for what was deleted comes back under such a name; and again for what comes back with a directory.
            _ = try displaceUntold()
            try bringNamesBack(report)
            for left in try displaceUntold() {
                outcome.note("it was made since, and stays: a program is writing it", left)
            }
            _ = try live.directory(at: path, as: principal)
            try bringContentsBack(report)
        } catch {
            var error = OperationError.wrap(error)
            guard outcome.entries + outcome.displaced > 0 else { throw error }
            error.message += "; until then \(outcome.entries) came back, and \(outcome.displaced) newer names went to "
                + "the deleted area"
            let first = error.errno == .noSpace ? "make room" : error.advice
            let further = "`versionsctl restore --at` with the same time goes on"
            error.advice = first.map { "\($0), then \(further)" } ?? further
            error.path = error.path ?? path
            throw error
        }
    }

    private func displaceUntold() throws -> [TreePath] {
        let (count, left) = try past.displaceUntoldNames(
            since: aftermath.time, within: path, in: live, as: principal
        ) { times.note(directoryOf: $0) }
        outcome.displaced += count
        return left
    }

    private func bringNamesBack(_ report: (_ done: Int) throws -> Void) throws {
        // What is to be moved out of something has to be there until it is.
        let waiting = missing.filter { $0.now != nil }
        let holders = Set(waiting.flatMap { sequence(first: $0) { $0.now?.parent } }.map { ObjectIdentifier($0) })
        for entry in unwanted where !holders.contains(ObjectIdentifier(entry)) { try displace(entry, report) }
        while !missing.isEmpty {
            var rest: [PastEntry] = []
            for entry in missing {
                try report(outcome.entries + outcome.displaced)
                if try !place(entry) { rest.append(entry) }
            }
            let isStuck = rest.count == missing.count
            missing = rest
            guard isStuck, try !makeWay(report) else { continue }
            for entry in missing { outcome.note("its name is taken", thenPath(of: entry)) }
            refused += missing.filter { $0.now != nil }
            break
        }
        for entry in unwanted where entry.now != nil {
            guard let inside = refused.first(where: { $0.lies(within: entry) }) else {
                try displace(entry, report)
                continue
            }
            outcome.note("it was made since, and stays: what was \(thenPath(of: inside)) then is in it", entry.path)
        }
    }

    private func thenPath(of entry: PastEntry) -> TreePath {
        TreePath(names: sequence(first: entry) { $0.then?.parent }.compactMap { $0.then?.name }.reversed())
    }

    private func displace(_ entry: PastEntry, _ report: (_ done: Int) throws -> Void) throws {
        try report(outcome.entries + outcome.displaced)
        outcome.displaced += try live.displace(entry.path, principal)
        entry.leave()
    }

    /// - Returns: false if it cannot go there yet.
    private func place(_ entry: PastEntry) throws -> Bool {
        guard let home = home(of: entry), let name = entry.then?.name, home.isPresent, !home.lies(within: entry),
            home.present[name] == nil
        else { return false }
        let path = home.path.appending(name)
        if case .live = entry.source, try live.isFree(entry.path, principal) {
            // Another program has removed it meanwhile.
            entry.leave()
            return true
        }
        guard try live.isFree(path, principal) else {
            outcome.note("its name is taken", path)
            if entry.now != nil { refused.append(entry) }
            return true
        }
        switch entry.source {
        case .live: try live.move(entry.path, to: path, principal)
        case .deleted(let deletion): try live.undeleteOne(deletion, to: path, as: principal)
        case .lost(let document, let content): try make(document, content, at: path)
        }
        entry.lie(in: home, as: name)
        outcome.entries += 1
        return true
    }

    /// Puts what a name held under it again, as a new document.
    private func make(_ document: DocumentRecord, _ content: Aftermath.Content, at path: TreePath) throws {
        let then = content.version
        if let doubt = content.doubt { outcome.note(doubt, path) }
        let staged = try live.stage(then, of: document, as: principal)
        let made = try live.putNew(
            staged, at: path, mode: then.attributes.mode, modified: then.modified, parents: [then.id], as: principal,
            rows: [])
        settled.insert(made.item)
    }

    /// Names that wait for one another: one of them steps aside. What is not wanted goes once it is empty of what is.
    private func makeWay(_ report: (_ done: Int) throws -> Void) throws -> Bool {
        for entry in missing {
            guard let home = home(of: entry), let name = entry.then?.name, let there = home.present[name],
                let above = there.now?.parent
            else { continue }
            if missing.contains(where: { $0 === there }) {
                try setAside(there, in: above)
            } else if let inner = missing.first(where: { $0.now != nil && $0.lies(within: there) }) {
                try setAside(inner, in: above)
            } else if unwanted.contains(where: { $0 === there }) {
                try displace(there, report)
            } else {
                continue
            }
            return true
        }
        return false
    }

    private func setAside(_ entry: PastEntry, in directory: PastEntry) throws {
        let hex = ContentID.random().hex.prefix(12)
        guard let name = FileName(bytes: ".restoring-\(hex)".utf8) else { return }
        try live.move(entry.path, to: directory.path.appending(name), principal)
        entry.lie(in: directory, as: name)
    }
}
