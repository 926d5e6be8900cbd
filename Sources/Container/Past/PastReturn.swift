// A directory going back in place to what it was: how it gets its names of then again.

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
    let names: NamesDifference

    var outcome: RestoreOutcome
    var times: DirectoryTimes
    /// Documents that hold what they should, though they were saved just now.
    var settled: Set<ItemID>
    /// What could not go where it was, and lies where it does today.
    private var refused: [PastEntry] = []

    /// Looks, and changes nothing.
    init(
        _ past: Past, _ live: any ReturningTree, _ path: TreePath, _ aftermath: Aftermath, as principal: Principal
    ) throws {
        (self.past, self.live) = (past, live)
        (self.principal, self.path, self.aftermath) = (principal, path, aftermath)
        names = try NamesDifference(past, live, path, aftermath)
        settled = names.held
        outcome = RestoreOutcome(path: path, entries: 0)
        times = try DirectoryTimes(past, live, at: aftermath.time)
        for entry in names.missing {
            if entry.now != nil { times.note(directoryOf: entry.path) }
            if let home = names.home(of: entry), home.isPresent, let name = entry.then?.name {
                times.note(directoryOf: home.path.appending(name))
            }
        }
        for entry in names.unwanted { times.note(directoryOf: entry.path) }
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
            throw outcome.ended(by: error)
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
        var missing = names.missing
        let waiting = missing.filter { $0.now != nil }
        let holders = Set(waiting.flatMap { sequence(first: $0) { $0.now?.parent } }.map { ObjectIdentifier($0) })
        for entry in names.unwanted where !holders.contains(ObjectIdentifier(entry)) { try displace(entry, report) }
        while !missing.isEmpty {
            var rest: [PastEntry] = []
            for entry in missing {
                try report(outcome.entries + outcome.displaced)
                if try !place(entry) { rest.append(entry) }
            }
            let isStuck = rest.count == missing.count
            missing = rest
            guard isStuck, try !makeWay(for: missing, report) else { continue }
            for entry in missing { outcome.note("its name is taken", thenPath(of: entry)) }
            refused += missing.filter { $0.now != nil }
            break
        }
        for entry in names.unwanted where entry.now != nil {
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
        guard let home = names.home(of: entry), let name = entry.then?.name, home.isPresent, !home.lies(within: entry),
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
    private func makeWay(for missing: [PastEntry], _ report: (_ done: Int) throws -> Void) throws -> Bool {
        for entry in missing {
            guard let home = names.home(of: entry), let name = entry.then?.name, let there = home.present[name],
                let above = there.now?.parent
            else { continue }
            if missing.contains(where: { $0 === there }) {
                try setAside(there, in: above)
            } else if let inner = missing.first(where: { $0.now != nil && $0.lies(within: there) }) {
                try setAside(inner, in: above)
            } else if names.unwanted.contains(where: { $0 === there }) {
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
