// Saves that end on a file whose name is no longer its own: another save took it, or it was deleted.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The last close of a writer of a displaced or deleted file: what it wrote is a version too (DESIGN 5.1).
    func settleOrphan(_ file: OpenFile, _ requester: Requester, isClosed: Bool = false) {
        guard let orphan = orphans.take(file.node) else { return }
        do {
            let stat = try Backing.stat(file.descriptor.raw)
            // Another writer of it has still to be heard.
            guard file.node.openings.state.withLock(\.writers) <= (isClosed ? 0 : 1) else { return orphans.add(orphan, file.node) }
            guard orphan.isChanged(stat) else { return dropUnneededCopy(orphan) }
            switch nodes.location(file.node).whereabouts {
            case .deleted(let deletion): try settleDeleted(orphan, deletion, file, stat, requester)
            default: try settleDisplaced(orphan, file, stat, requester)
            }
        } catch {
            logger.error("what was written to a replaced file could not be kept: \(error)")
        }
    }

    /// The content is the deleted entry itself: what it holds now is the item's current version, which the one that was
    /// deleted precedes.
    private func settleDeleted(
        _ orphan: Orphan, _ deletion: DeletionID, _ file: OpenFile, _ stat: FileStat, _ requester: Requester
    ) throws(Errno) {
        guard var entry = try store(throwing: .ioError, { () throws(StoreError) in try store.deletion(deletion) }) else { return }
        entry.size = stat.size
        let hash = contentHash(file, stat)
        let rows: [VersionStore.Mutation] = orphan.document.state.withLock { state in
            guard var current = state.current, hash == nil || hash != current.hash || stat.size != current.size else {
                return []
            }
            // What was appended to still begins the file: then both versions name its content.
            let isAppended = !state.isKept
            let version = Version(
                id: .random(), item: state.item, kind: .current, content: isAppended ? current.content : .random(),
                size: stat.size, modified: stat.modified, saved: now, time: time.next(), device: store.identity.device,
                author: requester.author, parents: [current.id], base: nil, hash: hash, attributes: Attributes(stat),
                flags: .sealed)
            current.kind = .history
            state.current = version
            state.isRecorded = true
            (state.isKept, state.sharesContent) = (false, isAppended)
            return [.version(current), .version(version)] + itemRows(state, stat)
        }
        store.commit([.deletion(entry)] + rows)
    }

    /// A copy that was made before a writer could change the file is nobody's if it did not, and the document has no rows.
    private func dropUnneededCopy(_ orphan: Orphan) {
        orphan.document.state.withLock { state in
            guard state.isKept, !state.isRecorded, let current = state.current else { return }
            try? store.contents.remove(current.content)
            state.isKept = false
        }
    }

    private func contentHash(_ file: OpenFile, _ stat: FileStat) -> [UInt8]? {
        stat.size <= Self.hashedAtOnce ? ContentHash.sha256(of: file.descriptor.raw, size: stat.size) : nil
    }

    /// The name of a deleted file came back: the version that it was is a kept content from now on. The file itself is
    /// that content, unless it was copied already, or somebody goes on writing to it: what they write is settled when
    /// they close it, and they reach the file by their descriptors until then.
    func keep(
        _ deletion: DeletionID, of document: Document, _ state: inout Document.State, _ label: ContentStore.Label
    ) throws(Errno) {
        let content = label.version.content
        guard state.isKept || orphans.hold(document) else {
            try store.deletedArea.moveToContents(deletion, as: content, label)
            return nodes.relocate(deletion, to: content)
        }
        let entry = store.deletedArea.name(of: deletion)
        let path = Array(entry.name.utf8)
        if !state.isKept {
            let file = try Backing.openQuietly(path, in: entry.directory.rawValue)
            defer { Glibc.close(file) }
            try retryingWhenFull(wanted: store.contents.canReflink ? 0 : label.version.size) { () throws(Errno) in
                _ = try store.contents.keep(copying: FileDescriptor(rawValue: file), as: content, label)
            }
            state.isKept = true
        }
        let held = try Backing.open(path, in: entry.directory.rawValue, flags: linux_O_PATH | O_NOFOLLOW)
        nodes.letGo(deletion, SharedDescriptor(held))
        try store.deletedArea.remove(deletion)
    }

    /// The name shows another save: this one becomes history or a conflict beside it (DESIGN 6.1).
    private func settleDisplaced(
        _ orphan: Orphan, _ file: OpenFile, _ stat: FileStat, _ requester: Requester
    ) throws(Errno) {
        let rows: [VersionStore.Mutation] = try orphan.document.state.withLock { state throws(Errno) in
            guard let current = state.current, let place = state.places.first else { return [] }
            let hash = contentHash(file, stat)
            if let hash, let base = orphan.base, let version = try? store.version(base), version.hash == hash { return [] }
            let pending = Save(
                kind: .orphaned, actor: requester.actor, base: orphan.base,
                equalsCurrent: hash != nil && hash == current.hash && stat.size == current.size)
            let decision = SaveRule.decide(pending, current: current.id, saver: state.saver, 
                isQuiet: isQuiet(orphan.parent, place.name))
            guard case .orphan(let kind, let base) = decision else { return [] }
            let version = Version(
                id: .random(), item: state.item, kind: kind, content: .random(), size: stat.size,
                modified: stat.modified, saved: now, time: time.next(), device: store.identity.device,
                author: requester.author, parents: base.map { [$0] } ?? [], base: base, hash: hash,
                attributes: Attributes(stat), flags: .sealed)
            let path = nodes.path(orphan.parent).map { $0.appending(place.name) } ?? .root
            _ = try store.contents.keep(
                copying: FileDescriptor(rawValue: file.descriptor.raw), as: version.content,
                ContentStore.Label(version: version, path: path, place: place))
            var rows: [VersionStore.Mutation] = [.version(version)]
            if !state.isRecorded { rows += [.version(current)] + itemRows(state, stat) }
            if kind == .conflict {
                let event = change(
                    .conflict, in: orphan.parent, place.name, item: state.item, version: version.id, by: requester)
                rows.append(.change(event))
            }
            return rows
        }
        record(orphan.parent, rows)
    }
}
