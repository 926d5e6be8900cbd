// A directory going back in place to what it was: what documents held, and whether the caller may do it all.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension PastReturn {
    // MARK: Contents

    /// Gives each document what it held.
    func bringContentsBack(_ report: (_ done: Int) throws -> Void) throws {
        let (documents, parted) = try container.documentsChanged(since: aftermath.time, within: path)
        // What is parted in the catalog and not on the disk.
        for path in parted { outcome.note("it is as it is now: it shares its file with another name", path) }
        for document in documents where !settled.contains(document.item) {
            try report(outcome.entries + outcome.displaced)
            try bringBack(document)
        }
    }

    private func bringBack(_ document: DocumentRecord) throws {
        guard let (former, found) = try container.contentThen(of: document, aftermath) else { return }
        let then = found.version
        if let doubt = found.doubt { outcome.note(doubt, document.path) }
        guard !container.holds(then, of: former, document) else { return try bringModeBack(then, document) }
        times.note(directoryOf: document.path)
        let staged = try container.stage(then, of: former, as: principal)
        try Backing.check { futimens(staged.file.raw, [then.modified.timespec, then.modified.timespec]) }
        _ = try container.replace(
            document.path, with: Replacement(staged: staged, parents: [then.id], expected: document.current?.id),
            as: principal)
        outcome.entries += 1
        try bringModeBack(then, document, counts: false)
    }

    /// Of the version in the file the file itself knows best: its mode changes without a save.
    private func bringModeBack(_ then: Version, _ document: DocumentRecord, counts: Bool = true) throws {
        guard then.id != document.current?.id else { return }
        let isChanged = try container.changeMode(ofDocument: document.path, as: principal) { stat in
            // Who may not give a file these bits does not get them by bringing its content back.
            let former = then.attributes.mode & 0o777 | then.attributes.mode & stat.permissions & 0o7000
            guard former != stat.permissions else { return nil }
            if principal.isRoot || principal.user == stat.raw.user { return former }
            let mode = String(former, radix: 8)
            outcome.note("its mode was \(mode) then, which only its owner may give it", document.path)
            return nil
        }
        if isChanged, counts { outcome.entries += 1 }
    }

    // MARK: Rights

    /// Refuses what the caller's rights on the directories and files concerned do not allow, before anything is done.
    func requireRights() throws {
        guard !principal.isRoot else { return }
        var known = LiveContainer.KnownDirectories()
        for entry in missing {
            try requireHome(of: entry)
            switch entry.source {
            case .live: try container.requireRemoval(of: entry.path, as: principal)
            case .deleted(let deletion):
                guard container.mayTake(deletion, principal, &known) else { throw OperationError.denied(deletion.path) }
                try requireReturn(of: deletion)
            case .lost(let document, let content):
                guard container.mayRead(content.version, of: document, as: principal) else {
                    throw OperationError.denied(document.path)
                }
            }
        }
        let moved = Set(missing.filter { $0.now != nil }.map(\.path))
        for entry in unwanted { try container.requireDisplacing(entry.path, except: moved, as: principal) }
        for name in try container.untoldToDisplace(since: aftermath.time, within: path).going {
            try container.requireRemoval(of: name, as: principal)
        }
        for document in try container.documentsChanged(since: aftermath.time, within: .root).documents {
            guard let entry = tree.present(document.path), isWanted(entry) else { continue }
            try requireContent(of: document) {
                try container.looking(as: principal) { try $0.require(.write, on: $0.document(document.path).spot) }
            }
        }
    }

    /// The directory that it comes into.
    private func requireHome(of entry: PastEntry) throws {
        guard let home = home(of: entry), let name = entry.then?.name else { return }
        if home.isPresent {
            let path = home.path.appending(name)
            try container.looking(as: principal) { try $0.requireChange(of: $0.spot(path)) }
        } else if case .deleted(let deletion) = home.source,
            !AccessRule.allows([.write, .execute], to: principal, on: deletion.attributes)
        {
            throw OperationError.denied(deletion.path)
        }
    }

    /// A deleted document that was saved since gets what it held.
    private func requireReturn(of deletion: Deletion) throws {
        guard deletion.type == .file, let item = deletion.item else { return }
        let versions = try container.store.versions(of: item)
        guard versions.contains(where: { $0.kind == .current && $0.saved > aftermath.time }) else { return }
        let document = DocumentRecord(path: deletion.path, item: item, versions: versions, deletion: deletion)
        try requireContent(of: document) {
            guard AccessRule.allows(.write, to: principal, on: deletion.attributes) else {
                throw OperationError.denied(deletion.path)
            }
        }
    }

    /// - Parameter requireWriting: throws unless the caller may write the document.
    private func requireContent(of document: DocumentRecord, requireWriting: () throws -> Void) throws {
        guard let (former, found) = try container.contentThen(of: document, aftermath),
            !container.holds(found.version, of: former, document)
        else { return }
        try requireWriting()
        guard container.mayRead(found.version, of: former, as: principal) else {
            throw OperationError.denied(document.path)
        }
    }
}

extension LiveContainer {
    /// Whether a document holds what a version of it, or of what it was then, is: by what is known, else by looking.
    func holds(_ then: Version, of former: DocumentRecord, _ document: DocumentRecord) -> Bool {
        guard let current = document.current, current.size == then.size else { return false }
        if isCurrent(then, of: document) { return true }
        if then.hash != nil, current.hash != nil { return false }
        guard let one = try? content(of: then, in: former), let other = try? content(of: current, in: document) else {
            return false
        }
        return Self.areEqual(one, other)
    }

    /// Whether two contents of one size are the same.
    private static func areEqual(_ one: OpenContent, _ other: OpenContent) -> Bool {
        let length = 1 << 17
        var (first, second) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 0, count: length))
        var offset: UInt64 = 0
        while offset < one.size {
            let wanted = Int(min(UInt64(length), one.size - offset))
            let count = pread(one.raw, &first, wanted, off_t(offset))
            guard count > 0, pread(other.raw, &second, count, off_t(offset)) == count,
                first.prefix(count) == second.prefix(count)
            else { return false }
            offset += UInt64(count)
        }
        return true
    }

    /// The live documents in a directory that were saved since a moment, and the names that have none of their own on
    /// the disk.
    func documentsChanged(
        since time: Timestamp, within path: TreePath
    ) throws -> (documents: [DocumentRecord], parted: [TreePath]) {
        var (documents, parted) = ([DocumentRecord](), [TreePath]())
        for item in try store.allItems() {
            guard !item.places.isEmpty, let current = try store.version(item.current), current.saved > time,
                let place = try store.path(of: item), place.isWithin(path)
            else { continue }
            if let found = try? document(item.id, as: .container) {
                if found.deletion == nil { documents.append(found) }
            } else if try !isFree(place, .container) {
                parted.append(place)
            }
        }
        return (documents, parted)
    }

    /// Throws unless the caller may take a name away.
    func requireRemoval(of path: TreePath, as principal: Principal) throws {
        try looking(as: principal) { try $0.requireChange(of: $0.spot(path), removing: true) }
    }

    /// Throws unless the caller may take a name away with everything below it.
    /// - Parameter others: what is moved elsewhere before that.
    func requireDisplacing(_ path: TreePath, except others: Set<TreePath>, as principal: Principal) throws {
        let names = try looking(as: principal) { walk -> [FileName] in
            let spot = try walk.spot(path)
            try walk.requireChange(of: spot, removing: true)
            guard spot.stat?.isDirectory == true, !others.contains(path) else { return [] }
            let directory = try descriptor(of: walk.directory(path))
            return try Backing.list(directory.raw).map(\.name)
        }
        for name in names { try requireDisplacing(path.appending(name), except: others, as: principal) }
    }

    /// chmod(2) of a document by the caller, whose right to this very file `mode` looks at.
    /// - Parameter mode: what it is to be; nil leaves it as it is.
    func changeMode(
        ofDocument path: TreePath, as principal: Principal, to mode: (FileStat) -> UInt32?
    ) throws -> Bool {
        let walk = Walk(self, as: .container)
        defer { walk.end() }
        let (node, stat) = try names.reading {
            let found = try walk.document(path)
            return (found.node, found.stat)
        }
        guard let mode = mode(stat) else { return false }
        var caller = Caller(
            user: principal.user, group: principal.primaryGroup ?? principal.user, thread: principal.process)
        caller.isOperation = true
        var edit = AttributeEdit()
        edit.mode = mode_t(mode)
        _ = try setAttributes(caller, node: node.id, handle: nil, edit)
        serving.passthrough.kernel.side?.invalidate(node: node.id, data: false)
        return true
    }
}
