// A directory going back in place to what it was: what documents held, and whether the caller may do it all.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension PastReturn {
    // MARK: Contents

    /// Gives each document what it held.
    func bringContentsBack(_ report: (_ done: Int) throws -> Void) throws {
        let (documents, parted) = try past.documentsChanged(since: aftermath.time, within: path, in: live)
        // What is parted in the catalog and not on the disk.
        for path in parted { outcome.note("it is as it is now: it shares its file with another name", path) }
        for document in documents where !settled.contains(document.item) {
            try report(outcome.entries + outcome.displaced)
            try bringBack(document)
        }
    }

    private func bringBack(_ document: DocumentRecord) throws {
        guard let (former, found) = try past.contentThen(of: document, aftermath) else { return }
        let then = found.version
        if let doubt = found.doubt { outcome.note(doubt, document.path) }
        guard !live.holds(then, of: former, document) else { return try bringModeBack(then, document) }
        times.note(directoryOf: document.path)
        let staged = try live.stage(then, of: former, as: principal)
        try Backing.check { futimens(staged.file.raw, [then.modified.timespec, then.modified.timespec]) }
        _ = try live.replace(
            document.path, with: Replacement(staged: staged, parents: [then.id], expected: document.current?.id),
            as: principal)
        outcome.entries += 1
        try bringModeBack(then, document, counts: false)
    }

    /// Of the version in the file the file itself knows best: its mode changes without a save.
    private func bringModeBack(_ then: Version, _ document: DocumentRecord, counts: Bool = true) throws {
        guard then.id != document.current?.id else { return }
        let isChanged = try live.changeMode(ofDocument: document.path, as: principal) { stat in
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
        var known = KnownDirectories()
        for entry in names.missing {
            try requireHome(of: entry)
            switch entry.source {
            case .live: try live.requireChange(of: entry.path, removing: true, as: principal)
            case .deleted(let deletion):
                guard live.mayTake(deletion, principal, &known) else { throw OperationError.denied(deletion.path) }
                try requireReturn(of: deletion)
            case .lost(let document, let content):
                guard live.mayRead(content.version, of: document, as: principal) else {
                    throw OperationError.denied(document.path)
                }
            }
        }
        let moved = Set(names.missing.filter { $0.now != nil }.map(\.path))
        for entry in names.unwanted { try live.requireDisplacing(entry.path, except: moved, as: principal) }
        for name in try past.untoldToDisplace(since: aftermath.time, within: path, in: live).going {
            try live.requireChange(of: name, removing: true, as: principal)
        }
        for document in try past.documentsChanged(since: aftermath.time, within: .root, in: live).documents {
            guard let entry = names.tree.present(document.path), names.isWanted(entry) else { continue }
            try requireContent(of: document) { try live.requireWriting(to: document.path, as: principal) }
        }
    }

    /// The directory that it comes into.
    private func requireHome(of entry: PastEntry) throws {
        guard let home = names.home(of: entry), let name = entry.then?.name else { return }
        if home.isPresent {
            let path = home.path.appending(name)
            try live.requireChange(of: path, removing: false, as: principal)
        } else if case .deleted(let deletion) = home.source,
            !AccessRule.allows([.write, .execute], to: principal, on: deletion.attributes)
        {
            throw OperationError.denied(deletion.path)
        }
    }

    /// A deleted document that was saved since gets what it held.
    private func requireReturn(of deletion: Deletion) throws {
        guard deletion.type == .file, let item = deletion.item else { return }
        let versions = try past.store.versions(of: item)
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
        guard let (former, found) = try past.contentThen(of: document, aftermath),
            !live.holds(found.version, of: former, document)
        else { return }
        try requireWriting()
        guard live.mayRead(found.version, of: former, as: principal) else {
            throw OperationError.denied(document.path)
        }
    }
}
