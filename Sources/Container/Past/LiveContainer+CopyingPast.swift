// Making a copy of a directory as it was at a time (`restore DIR --at TIME --to PATH`).

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Copies a directory as it was to a name that is free: names, contents, modes, times and links of then, for as
    /// much as the caller may read.
    func copyDirectory(
        _ path: TreePath, _ aftermath: Aftermath, to target: TreePath, as principal: Principal,
        report: (_ done: Int) throws -> Void
    ) throws -> RestoreOutcome {
        let tree = try PastTree(past, self, aftermath)
        guard let top = tree.entry(path) else { throw OperationError.missing(path) }
        guard top.isDirectory else { throw OperationError(.notFound, "was not a directory then", path: path) }
        let plan = Self.plan(tree, top, target)
        guard try looking(as: principal, { try $0.spot(target).stat == nil }) else {
            throw OperationError.taken(target)
        }
        let times = try DirectoryTimes(past, self, at: aftermath.time)
        var outcome = RestoreOutcome(path: target, entries: plan.count)
        var dates: [(TreePath, FileStat)] = []
        var count = 0
        do {
            for step in plan {
                try report(count)
                if let stat = try copy(step.entry, to: step.path, aftermath, principal, &outcome), stat.isDirectory {
                    dates.append((step.path, stat))
                }
                count += 1
            }
        } catch {
            throw OperationError.unfinishedCopy(error, count, of: plan.count, target)
        }
        // Last, and from below: making entries changes the times.
        for (copy, stat) in dates.reversed() {
            let original = TreePath(names: path.names + copy.names.dropFirst(target.names.count))
            try callersTree.finishDirectory(copy, like: stat, times.of(fileID(stat), at: original, now: .init(stat)))
        }
        return outcome
    }

    /// Everything to be made, directories before what is in them: known before the first name is made.
    private static func plan(
        _ tree: PastTree, _ top: PastEntry, _ target: TreePath
    ) -> [(entry: PastEntry, path: TreePath)] {
        var plan = [(entry: top, path: target)]
        var next = 0
        while next < plan.count {
            let (entry, path) = plan[next]
            for (name, child) in tree.children(of: entry).sorted(by: { $0.key < $1.key }) {
                plan.append((child, path.appending(name)))
            }
            next += 1
        }
        return plan
    }

    /// Makes one entry; the attributes of what it is a copy of, nil if that lies on another file system.
    private func copy(
        _ entry: PastEntry, to target: TreePath, _ aftermath: Aftermath, _ principal: Principal,
        _ outcome: inout RestoreOutcome
    ) throws -> FileStat? {
        switch entry.source {
        case .live(.root):
            let stat = try looking(as: principal) { walk -> FileStat in
                try walk.require([.read, .execute], on: walk.directory(.root), .root)
                return try Backing.stat(root.raw)
            }
            try make(Source(stat: stat), target, aftermath, principal, &outcome)
            return stat
        case .live(let path):
            let stat = try looking(as: principal) { walk -> FileStat? in
                let spot = try walk.spot(path)
                guard let stat = spot.stat else { throw OperationError.missing(path) }
                if spot.node?.isForeign ?? false { return nil }
                if stat.isDirectory { try walk.require([.read, .execute], on: spot) }
                return stat
            }
            guard let stat, stat.key.device == rootKey.device else { return nil }
            let source = Source(stat: stat, link: { try self.readLink(path) }, document: {
                try self.recorded(at: path, as: principal)
            }, open: { try self.openLive(path, principal) })
            try make(source, target, aftermath, principal, &outcome)
            return stat
        case .lost(let document, let then):
            let content = try content(of: then.version, in: document)
            let stat = try Backing.stat(content.raw)
            let source = Source(stat: stat, then: then, document: { document })
            try make(source, target, aftermath, principal, &outcome)
            return stat
        case .deleted(let deletion):
            guard mayKnow(deletion, principal) else { throw OperationError.denied(deletion.path) }
            let place = self.place(of: deletion.id)
            let stat = try Backing.stat(place.path, in: place.directory.raw)
            let source = Source(
                stat: stat, link: { try Backing.readLink(place.path, in: place.directory.raw) },
                document: {
                    guard let item = deletion.item else { return nil }
                    return DocumentRecord(
                        path: deletion.path, item: item, versions: try self.store.versions(of: item), deletion: deletion
                    )
                }, open: { try self.openDeleted(place, deletion, principal) })
            try make(source, target, aftermath, principal, &outcome)
            return stat
        }
    }

    /// The document of a live name. One that shares its file with a name which has parted from it is found by its row.
    private func recorded(at path: TreePath, as principal: Principal) throws -> DocumentRecord {
        let found = try document(at: path, as: principal)
        let place = try looking(as: principal) { try $0.spot(path).place }
        guard let row = try store.item(at: place), row.id != found.item else { return found }
        return DocumentRecord(path: path, item: row.id, versions: try store.versions(of: row.id))
    }

    /// Where an entry is copied from.
    private struct Source {
        var stat: FileStat
        /// What it held, if that is known already.
        var then: Aftermath.Content?
        var link: () throws -> [UInt8] = { [] }
        var document: () throws -> DocumentRecord? = { nil }
        /// Its file as it is now.
        var open: () throws -> SharedDescriptor = { throw Errno.noSuchFileOrDirectory }
    }

    private func make(
        _ source: Source, _ target: TreePath, _ aftermath: Aftermath, _ principal: Principal,
        _ outcome: inout RestoreOutcome
    ) throws {
        let mode = mode_t(source.stat.permissions)
        switch source.stat.type {
        case UInt32(S_IFREG): return try makeFile(source, target, aftermath, principal, &outcome)
        case UInt32(S_IFDIR):
            try act(on: target, principal, removing: false) { caller, spot in
                // Filled by its owner at first, whatever its mode was.
                _ = try makeDirectory(caller, parent: spot.parent.id, name: spot.name.bytes, mode: mode | 0o700)
            }
        case UInt32(S_IFLNK):
            let link = try source.link()
            try act(on: target, principal, removing: false) { caller, spot in
                _ = try makeSymlink(caller, parent: spot.parent.id, name: spot.name.bytes, target: link)
            }
        case UInt32(S_IFIFO), UInt32(S_IFSOCK):
            try act(on: target, principal, removing: false) { caller, spot in
                _ = try makeNode(
                    caller, parent: spot.parent.id, name: spot.name.bytes, mode: mode_t(source.stat.mode), device: 0)
            }
        default: throw OperationError(.invalid, "a device cannot be copied", path: target)
        }
        try callersTree.settleCopy(target, like: source.stat, principal)
    }

    private func makeFile(
        _ source: Source, _ target: TreePath, _ aftermath: Aftermath, _ principal: Principal,
        _ outcome: inout RestoreOutcome
    ) throws {
        let document = try source.document()
        let staged: StagedFile
        var (mode, modified, parents) = (source.stat.permissions, source.stat.modified, [VersionID]())
        let former = try document.flatMap { try past.contentThen(of: $0, aftermath) }
        let found = source.then ?? former?.content ?? document?.versions.last.map { .unknown($0) }
        if let document = source.then == nil ? former?.document ?? document : document, let found {
            let then = found.version
            if let doubt = found.doubt { outcome.note(doubt, target) }
            guard mayRead(then, of: document, as: principal) else { throw OperationError.denied(document.path) }
            let content = try content(of: then, in: document)
            staged = try StagedFile(in: store.state)
            try staged.fill(from: content)
            try staged.copyAttributes(of: content.raw, all: principal.isRoot)
            parents = [then.id]
            // Of the version in the file the file itself knows best: modes and times change without a save.
            let isWhole = then.size == document.versions.first { $0.id == then.id }?.size
            if then.kind != .current || !isWhole { (mode, modified) = (then.attributes.mode, then.modified) }
        } else {
            // Without versions: ignored, or never saved.
            let file = try source.open()
            staged = try StagedFile(in: store.state)
            try staged.fill(from: OpenContent(descriptor: file, size: source.stat.size))
            try staged.copyAttributes(of: file.raw, all: principal.isRoot)
        }
        _ = try putNew(staged, at: target, mode: mode, modified: modified, parents: parents, as: principal)
        try callersTree.settleCopy(target, like: source.stat, principal)
    }

    private func readLink(_ path: TreePath) throws -> [UInt8] {
        try looking(as: .container) { walk in
            let spot = try walk.spot(path)
            return try spot.with { file throws(Errno) in try Backing.readLink([], in: file) }
        }
    }

    private func openLive(_ path: TreePath, _ principal: Principal) throws -> SharedDescriptor {
        try looking(as: principal) { walk in
            let spot = try walk.spot(path)
            try walk.require(.read, on: spot)
            guard spot.node?.isRegular == true else { throw OperationError.missing(path) }
            return try spot.open(flags: O_RDONLY)
        }
    }

    private func openDeleted(
        _ place: Location, _ deletion: Deletion, _ principal: Principal
    ) throws -> SharedDescriptor {
        let file = SharedDescriptor(
            try Backing.open(place.path, in: place.directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
        guard AccessRule.allows(.read, to: principal, on: try Attributes(of: file.raw)) else {
            throw OperationError.denied(deletion.path)
        }
        return file
    }
}
