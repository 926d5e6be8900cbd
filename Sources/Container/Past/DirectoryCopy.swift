// Making a copy of a directory as it was, over the engine (`restore DIR --at TIME --to PATH`).

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Copies names, contents, modes, times and links of then to a name that is free, for as much as the caller may read.
/// Used by one thread.
final class DirectoryCopy {
    private let moment: Moment
    private let principal: Principal
    private let target: TreePath
    /// Everything to be made, directories before what is in them: known before the first name is made.
    private var items: [Item] = []
    private var outcome: RestoreOutcome

    private struct Item {
        var was: PastName
        var copy: TreePath
    }

    private var live: CallersTree { moment.live }
    private var ground: EngineGround { moment.ground }
    private var finder: Finder { ground.finder }

    init(_ moment: Moment, _ path: TreePath, to target: TreePath, as principal: Principal) throws {
        (self.moment, self.principal, self.target) = (moment, principal, target)
        outcome = RestoreOutcome(path: target, entries: 0)
        try moment.requireHistory(of: path)
        switch try moment.find(path) {
        case .directory(let top): items = [Item(was: top, copy: target)]
        case .other: throw OperationError(.notFound, "was not a directory then", path: path)
        case .nothing:
            let there = try? live.directory(at: path, as: principal)
            let isOlder = try there.map(moment.had) ?? false
            throw isOlder ? OperationError.missing(path) : OperationError.noDirectoryThen(path)
        }
        var next = 0
        while next < items.count {
            let (was, copy) = (items[next].was, items[next].copy)
            next += 1
            guard was.isDirectory else { continue }
            for (name, inner) in try moment.names(in: was).sorted(by: { $0.key < $1.key }) {
                items.append(Item(was: inner, copy: copy.appending(name)))
            }
        }
        outcome.entries = items.count
        guard try finder.looking(as: principal, { try $0.spot(target).stat == nil }) else {
            throw OperationError.taken(target)
        }
    }

    func carryOut(_ report: OperatedContainer.Report) throws -> RestoreOutcome {
        var directories: [(path: TreePath, stat: FileStat, times: DirectoryTimes.Times?)] = []
        let times = FormerTimes(moment)
        for (count, item) in items.enumerated() {
            do {
                try report(count)
                guard let stat = try copy(item), stat.isDirectory else { continue }
                directories.append((item.copy, stat, try times.of(item.was.file, now: .init(stat))))
            } catch { throw OperationError.unfinishedCopy(error, count, of: items.count, target) }
        }
        // Last, and from below: making entries changes the times.
        for directory in directories.reversed() {
            try live.finishDirectory(directory.path, like: directory.stat, directory.times)
        }
        return outcome
    }

    // MARK: One entry

    /// Makes it; the attributes of what it is a copy of, nil if that is not in this container or is gone for good.
    private func copy(_ item: Item) throws -> FileStat? {
        if let name = item.was.name, !name.row.hasNoVersions, try copyDocument(name, to: item.copy) { return nil }
        guard let source = try source(of: item.was) else { return nil }
        let stat = try Backing.stat(source.raw)
        guard finder.tree.fileID(stat).number != 0, stat.key.device == finder.tree.rootKey.device else { return nil }
        switch stat.type {
        case UInt32(S_IFREG): try copyFile(source, stat, to: item.copy)
        case UInt32(S_IFDIR):
            // Filled by its owner at first, whatever its mode was.
            let mode = mode_t(stat.permissions | 0o700)
            try make(item.copy) { caller, parent, name in
                _ = try live.requests.makeDirectory(caller, parent: parent, name: name, mode: mode)
            }
        case UInt32(S_IFLNK):
            let link = try Backing.readLink([], in: source.raw)
            try make(item.copy) { caller, parent, name in
                _ = try live.requests.makeSymlink(caller, parent: parent, name: name, target: link)
            }
        case UInt32(S_IFIFO), UInt32(S_IFSOCK):
            try make(item.copy) { caller, parent, name in
                let mode = mode_t(stat.mode)
                _ = try live.requests.makeNode(caller, parent: parent, name: name, mode: mode, device: 0)
            }
        default: throw OperationError(.invalid, "a device cannot be copied", path: item.copy)
        }
        try live.settleCopy(item.copy, like: stat, principal)
        return stat
    }

    private func make(_ path: TreePath, _ body: (Caller, UInt64, [UInt8]) throws -> Void) throws {
        try live.act(on: path, principal, removing: false) { caller, spot in
            try body(caller, spot.parent.id, spot.name.bytes)
        }
    }

    /// What an entry stands for, held; nil if it is gone for good, or on another file system.
    private func source(of was: PastName) throws -> SharedDescriptor? {
        let place = try was.name?.row.file.flatMap { file in try moment.facts.names(of: file).first }
        let path = try was.path ?? place.flatMap { place in
            finder.livePath(of: place.directory)?.appending(place.name)
        }
        if let path {
            return try finder.looking(as: principal) { walk in
                guard path != .root else {
                    try walk.require([.read, .execute], on: walk.directory(.root), .root)
                    return finder.tree.root
                }
                let spot = try walk.spot(path)
                if spot.node?.isForeign ?? true { return nil }
                if was.isDirectory { try walk.require([.read, .execute], on: spot) }
                return try spot.hold()
            }
        }
        guard let file = was.name?.row.file, let entry = try moment.facts.departed(file),
            let deletion = try ground.past.deletions([entry]).first
        else { return nil }
        guard finder.mayKnow(deletion, principal) else { throw OperationError.denied(deletion.path) }
        let kept = ground.state.deletedArea.place(of: deletion.id)
        let flags = linux_O_PATH | O_NOFOLLOW
        return SharedDescriptor(try Backing.open(Array(kept.name.utf8), in: kept.directory.rawValue, flags: flags))
    }

    // MARK: Files

    /// - Returns: false if no version of it is known.
    private func copyDocument(_ name: NameThen, to path: TreePath) throws -> Bool {
        guard let then = try moment.content(of: name) ?? moment.nearest(of: name) else { return false }
        if let doubt = then.doubt { outcome.note(doubt, path) }
        let record = then.record(at: path)
        guard finder.mayRead(then.version, of: record, as: principal) else { throw OperationError.denied(path) }
        let content = try finder.content(of: then.version, in: record)
        let held = try Backing.stat(content.raw)
        // A version's own file itself knows best: modes and times change without a save.
        let isOwn = finder.tree.fileID(held).number == then.version.content.high && held.size == then.version.size
        let mode = isOwn ? held.permissions : then.version.attributes.mode
        let attributes = then.version.attributes
        let owner = isOwn ? (held.raw.user, held.raw.group) : (attributes.owner, attributes.group)
        try put(content, mode, isOwn ? held.modified : then.version.modified, owner, to: path)
        return true
    }

    /// Without versions: ignored, or never saved.
    private func copyFile(_ source: SharedDescriptor, _ stat: FileStat, to path: TreePath) throws {
        guard AccessRule.allows(.read, to: principal, on: try Attributes(held: source.raw)) else {
            throw OperationError.denied(path)
        }
        let file = SharedDescriptor(try Backing.openToRead(source.raw))
        let content = OpenContent(descriptor: file, size: stat.size)
        try put(content, stat.permissions, stat.modified, (stat.raw.user, stat.raw.group), to: path)
    }

    private func put(
        _ content: OpenContent, _ mode: UInt32, _ modified: Timestamp, _ owner: (user: UInt32, group: UInt32),
        to path: TreePath
    ) throws {
        try EngineReplacing(ground: ground).putNew(at: path, as: principal) { new, _ in
            try new.fill(from: content)
            try new.copyAttributes(of: content.raw, all: principal.isRoot)
            let group = principal.primaryGroup ?? .max
            let (user, other) = principal.isRoot ? owner : (principal.user, group)
            if principal.isRoot || finder.tree.servesOthers {
                _ = try Backing.check { fchown(new.file.raw, user, other) }
            }
            _ = try Backing.check { fchmod(new.file.raw, mode_t(mode & 0o777)) }
            _ = try Backing.check { futimens(new.file.raw, [modified.timespec, modified.timespec]) }
        }
    }
}
