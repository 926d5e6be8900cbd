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
    /// - Parameter isLast: false for the close(2) of a handle whose release is still to come.
    func settleOrphan(_ file: OpenFile, _ requester: Requester, isLast: Bool) {
        // Another writer of it has still to be heard; but a writer that has replaced the whole has saved that.
        let waits = isLast || !file.state.withLock(\.isReplacing)
        // An emptied file may be about to be written: only its last close says that it was meant (5.1).
        if !waits, (try? Backing.stat(file.descriptor.raw))?.size == 0 { return }
        let taken = orphans.take(file.node) {
            waits && file.node.writers.contains { $0 !== file }
        }
        guard var orphan = taken else { return }
        // A write under way may reach the file before this look at it, or after.
        let isWrittenUnseen = file.node.writers.contains { $0 !== file && mayWriteUnseen($0) }
        do {
            let stat = try Backing.stat(file.descriptor.raw)
            // A handle that closed it with bytes in it has not emptied it. The one that did has just come, and settles
            // it itself, unless it has gone by now, or was a duplicate of this one.
            if isLast, stat.size == 0, file.state.withLock({ $0.isReplacing && $0.isFlushed }) {
                orphans.add(orphan, file.node)
                guard let again = orphans.take(file.node, unless: { file.node.hasWriters }) else { return }
                orphan = again
            }
            if !isLast {
                file.state.withLock { ($0.isFlushed, $0.closed) = (true, Scheduler.now) }
                // Writes after this close are looked at when the handle is released.
                var rest = orphan
                rest.stamp = Stamp(stat)
                orphans.add(rest, file.node)
            }
            guard orphan.isChanged(stat) else {
                return isLast ? dropUnneededCopy(orphan) : keepOwn(file, orphan, stat, isWrittenUnseen: isWrittenUnseen)
            }
            switch nodes.location(file.node).whereabouts {
            case .deleted(let deletion):
                let isDone = try settleDeleted(
                    orphan, deletion, file, stat, requester, isWrittenUnseen: isWrittenUnseen)
                if !isDone { try settleDisplaced(orphan, file, stat, requester) }
            default: try settleDisplaced(orphan, file, stat, requester)
            }
        } catch {
            logger.error("what was written to a replaced file could not be kept: \(error)")
        }
    }

    /// The content is the deleted entry itself: what it holds now is the item's current version, which the one that was
    /// deleted precedes.
    /// - Returns: false if its name has come back meanwhile, with another file.
    private func settleDeleted(
        _ orphan: Orphan, _ deletion: DeletionID, _ file: OpenFile, _ stat: FileStat, _ requester: Requester,
        isWrittenUnseen: Bool
    ) throws(Errno) -> Bool {
        let found = try store(throwing: .ioError) { () throws(StoreError) in try store.deletion(deletion) }
        guard var entry = found else { return isDeleted(file.node, deletion) }
        entry.size = stat.size
        let hash = contentHash(file, stat)
        return orphan.document.state.withLock { state in
            // A name comes back with the document's lock held.
            guard isDeleted(file.node, deletion) else { return false }
            var rows: [VersionStore.Mutation] = [.deletion(entry)]
            defer { store.commit(rows) }
            guard var current = state.current else {
                // It was never saved under its name. The last to close it leaves it in the file; what others go on with
                // is not that.
                guard stat.size > 0, !state.isUnversioned, file.node.writers.contains(where: { $0 !== file }) else {
                    return true
                }
                let first = settled(
                    state, stat, hash, requester.author, content: .random(), parents: state.origin.map { [$0] } ?? [])
                install(first, &state, stat, isShared: false)
                // A program that goes on from it is no rival of its own save, nor are its kin.
                state.saver = requester.actor
                copyIfWritten(&state, file, isWrittenUnseen)
                rows += [.version(state.current ?? first)] + itemRows(state, stat)
                return true
            }
            guard hash == nil || hash != current.hash || stat.size != current.size else { return true }
            // A content that was only appended to still begins the file: then both versions name it.
            let isHere = !state.isKept && !state.isReturning && !store.contents.contains(current.content)
            if isHere, file.state.withLock(\.saved) == current.id, !current.flags.contains(.sealed),
                !state.sharesContent, !state.isAppendedTo
            {
                // It goes on with what it has saved itself.
                (current.size, current.modified, current.saved) = (stat.size, stat.modified, now)
                (current.hash, current.attributes) = (hash, Attributes(stat))
                install(current, &state, stat, isShared: false)
            } else {
                // Where no hash tells: before it is written over, it is kept.
                let isAppended = isHere && stat.size >= current.size
                    && (current.hash == nil
                        ? file.isAppending || state.isAppendedTo : begins(file.descriptor.raw, stat, with: current))
                if isHere, !isAppended, !isElsewhere(current) { current.flags.insert(.contentLost) }
                let next = settled(
                    state, stat, hash, requester.author, content: isAppended ? current.content : .random(),
                    parents: [current.id])
                current.kind = .history
                rows.append(.version(current))
                install(next, &state, stat, isShared: isAppended)
            }
            state.saver = requester.actor
            disown(current.id, but: file)
            copyIfWritten(&state, file, isWrittenUnseen)
            if let current = state.current { rows.append(.version(current)) }
            rows += itemRows(state, stat)
            return true
        }
    }

    /// A name that had come back goes with a file that was not saved yet: what that holds is the item's current version
    /// from now on. A deleted file always holds that, also after a kill. Its writers go on with the version.
    func saveReturned(
        _ state: inout Document.State, _ entry: LeavingName, _ deletion: Deletion
    ) -> [VersionStore.Mutation] {
        guard state.isReturning, var current = state.current, !state.isUnversioned else { return [] }
        let writers = entry.node?.writers ?? []
        let author = writers.first?.requester.author ?? deletion.author
        var hash: [UInt8]?
        if entry.stat.size <= Self.hashedAtOnce, let file = try? store.deletedArea.open(deletion.id) {
            hash = ContentHash.sha256(of: file.rawValue, size: entry.stat.size)
            try? file.close()
        }
        if hash != nil, hash == current.hash, entry.stat.size == current.size {
            (state.stamp, state.isReturning, state.sharesContent) = (Stamp(entry.stat), false, !state.isKept)
            return []
        }
        var next = settled(state, entry.stat, hash, author, content: .random(), parents: [current.id])
        if !writers.isEmpty { next.flags.remove(.sealed) }
        current.kind = .history
        install(next, &state, entry.stat, isShared: false)
        for writer in writers { writer.state.withLock { $0.saved = next.id } }
        return [.version(current), .version(next)]
    }

    /// A version that is in a deleted file.
    private func settled(
        _ state: Document.State, _ stat: FileStat, _ hash: [UInt8]?, _ author: Author, content: ContentID,
        parents: [VersionID]
    ) -> Version {
        Version(
            id: .random(), item: state.item, kind: .current, content: content, size: stat.size, modified: stat.modified,
            saved: now, time: time.next(), device: store.identity.device, author: author, parents: parents,
            hash: hash, attributes: Attributes(stat), flags: .sealed)
    }

    private func install(_ version: Version, _ state: inout Document.State, _ stat: FileStat, isShared: Bool) {
        state.current = version
        state.stamp = Stamp(stat)
        state.isRecorded = true
        (state.isKept, state.sharesContent, state.isReturning, state.isAppendedTo) = (false, isShared, false, false)
        state.siblings.doubt()
    }

    /// Another program may go on writing to a deleted file at any time.
    private func copyIfWritten(_ state: inout Document.State, _ file: OpenFile, _ isWrittenUnseen: Bool) {
        guard isWrittenUnseen else { return }
        do throws(Errno) {
            try keepCopy(&state, of: file.node, from: file.descriptor.raw)
        } catch { logger.error("what was written to a deleted file could not be copied: \(error)") }
    }

    /// A rename had saved what a handle closes on now, before the name was deleted: others may go on with it as before.
    private func keepOwn(_ file: OpenFile, _ orphan: Orphan, _ stat: FileStat, isWrittenUnseen: Bool) {
        orphan.document.state.withLock { state in
            guard let current = state.current, file.state.withLock(\.saved) == current.id, state.stamp?.file == stat.key
            else { return }
            disown(current.id, but: file)
            copyIfWritten(&state, file, isWrittenUnseen)
            if let current = state.current, state.isRecorded { store.commit([.version(current)]) }
        }
    }

    /// A version is what one handle has saved from now on: what others go on to write is no part of it.
    private func disown(_ version: VersionID, but file: OpenFile) {
        for other in file.node.writers where other !== file {
            other.state.withLock { if $0.saved == version { $0.saved = nil } }
        }
    }

    private func isDeleted(_ node: Node, _ deletion: DeletionID) -> Bool {
        if case .deleted(deletion) = nodes.location(node).whereabouts { true } else { false }
    }

    /// A copy that was made before a writer could change the file is needed by no version if the writer changed nothing
    /// and the document has no rows.
    private func dropUnneededCopy(_ orphan: Orphan) {
        orphan.document.state.withLock { state in
            guard state.isKept, !state.isRecorded, let current = state.current else { return }
            custodian.drop(current.content)
            state.isKept = false
        }
    }

    private func contentHash(_ file: OpenFile, _ stat: FileStat) -> [UInt8]? {
        stat.size <= Self.hashedAtOnce ? ContentHash.sha256(of: file.descriptor.raw, size: stat.size) : nil
    }

    /// The name of a deleted file came back: the version that it was is a kept content from now on. The file itself is
    /// that content, unless it was copied already, or a program goes on writing to it. What it writes is settled at its
    /// close; until then it reaches the file by its descriptor.
    func keep(
        _ deletion: DeletionID, of document: Document, _ state: inout Document.State, _ label: ContentStore.Label
    ) throws(Errno) {
        let content = label.version.content
        let entry = store.deletedArea.place(of: deletion)
        let path = Array(entry.name.utf8)
        // The last of its writers may be about to settle what it has written.
        let isChanged = state.contentDiffers(from: try Backing.stat(path, in: entry.directory.rawValue))
        // A file that had come back and was not saved yet is not what the version was: that is kept elsewhere.
        let isElsewhere = state.isKept || state.isReturning
        guard isElsewhere || isChanged || orphans.hold(document) else {
            return try custodian.keep(deletion, as: content, label)
        }
        if !isElsewhere {
            let file = try Backing.openQuietly(path, in: entry.directory.rawValue, nil)
            defer { Glibc.close(file) }
            try space.retryingWhenFull(wanted: store.contents.canReflink ? 0 : label.version.size) { () throws(Errno) in
                try custodian.keep(copying: file, as: content, label)
            }
            state.isKept = true
            // A program that has it open may have written to it since it was saved: behind it, or over it, and then
            // there is nothing else.
            let isOver = isChanged && state.current.map { isOverwritten($0, in: file) } ?? false
            if let current = state.current, let kept = asKept(current, size: isOver ? nil : current.size),
                kept != current
            {
                state.current = kept
                custodian.relabel(kept.id, in: content) { ($0.size, $0.hash) = (kept.size, kept.hash) }
                if state.isRecorded { store.commit([.version(kept)]) }
            }
        }
        let held = try Backing.open(path, in: entry.directory.rawValue, flags: linux_O_PATH | O_NOFOLLOW)
        nodes.detach(deletion, SharedDescriptor(held))
        try custodian.remove(deletion)
    }

    /// Whether a file does not begin with a version any more, as far as that can be told.
    private func isOverwritten(_ version: Version, in file: Int32) -> Bool {
        guard version.hash != nil, let stat = try? Backing.stat(file) else { return false }
        return !begins(file, stat, with: version)
    }

    /// The file that has the name now.
    private func liveStat(of orphan: Orphan) -> FileStat? {
        guard let place = orphan.document.state.withLock(\.places.first) else { return nil }
        return names.reading { () throws(Never) -> FileStat? in
            guard let directory = try? descriptor(of: orphan.parent) else { return nil }
            return try? Backing.stat(place.name.bytes, in: directory.raw)
        }
    }

    /// Whether the catalog has an item, as far as it can be asked.
    private func isRecorded(_ item: ItemID) -> Bool {
        do throws(StoreError) { return try store.item(item) != nil } catch { return true }
    }

    /// The row of an item that has no file.
    private func itemRow(_ state: Document.State, _ current: Version) -> VersionStore.Mutation {
        let file = Item.LiveFile(id: FileID(0), size: current.size, modified: current.modified)
        return .item(Item(id: state.item, places: state.places, current: current.id, file: file))
    }

    /// The name shows another save: this one becomes history or a conflict beside it (DESIGN 6.1).
    private func settleDisplaced(
        _ orphan: Orphan, _ file: OpenFile, _ stat: FileStat, _ requester: Requester
    ) throws(Errno) {
        let live = liveStat(of: orphan)
        // Reading waits for what is queued: not with the document locked.
        let versions = (try? store.versions(of: orphan.document.item)) ?? []
        try orphan.document.state.withLock { state throws(Errno) in
            guard let current = state.current else { return }
            // By now the document may have lost its name, too.
            let hasName = !state.places.isEmpty
            let place = state.places.first ?? Place(directory: orphan.parent.file, name: orphan.name)
            let hash = contentHash(file, stat)
            // Nothing was written since, or the same again: the version before is this one.
            if hash != nil, let before = versions.first(where: { $0.id == orphan.base }), before.size == stat.size,
                self.hash(of: before) == hash
            {
                return
            }
            let seen = requester.actor.flatMap { observers.base(of: $0, item: state.item) }
            let id = VersionID.random()
            let pending = Save(
                kind: .orphaned, actor: requester.actor, base: seen,
                equalsCurrent: hash != nil && hash == current.hash && stat.size == current.size,
                isLoserLeftOut: hash != nil && versions.contains {
                    SaveRule.isLeftOut(id, besides: $0, base: seen) && $0.size == stat.size && self.hash(of: $0) == hash
                })
            let decision = decide(pending, current, state, isQuiet: isQuiet(orphan.parent, place.name))
            guard case .orphan(var kind, let base) = decision else { return }
            // There is no conflict about a file that cannot be opened.
            if !hasName { kind = .history }
            // As history it follows what it was written over; as a rival it goes on from what its author had seen.
            let parents = (kind == .conflict ? base : orphan.base).map { [$0] } ?? []
            var version = Version(
                id: id, item: state.item, kind: kind, content: .random(), size: stat.size,
                modified: stat.modified, saved: now, time: time.next(), device: store.identity.device,
                author: requester.author, parents: parents, base: kind == .conflict ? base : nil, hash: hash,
                attributes: Attributes(stat), flags: [.sealed, .beside])
            let path = nodes.path(orphan.parent).map { $0.appending(place.name) } ?? .root
            let label = ContentStore.Label(version: version, path: path, place: place)
            try space.retryingWhenFull(wanted: store.contents.canReflink ? 0 : stat.size) { () throws(Errno) in
                try custodian.keep(copying: file.descriptor.raw, as: version.content, label)
            }
            if let kept = asKept(version, size: nil), kept != version {
                if kept.size == 0, stat.size > 0 {
                    // A program has emptied it while it was copied.
                    return try custodian.remove(version.content)
                }
                version = kept
                custodian.relabel(kept)
            }
            state.mayHaveBranches = true
            state.siblings.add(version)
            state.isParted = false
            observers.saved(version.id, of: state.item, by: requester.actor, now: version.saved)
            var rows: [VersionStore.Mutation] = [.version(version)]
            if let settled = SaveRule.settled(by: pending, decision), let row = settle(settled, &state) {
                rows.append(row)
            }
            if !hasName, !isRecorded(state.item) {
                // A file that was made to be renamed has gone without a trace: only this version is left of it.
                state.current = version
                state.isRecorded = true
                rows = [.version(version), itemRow(state, version)]
            } else if !state.isRecorded {
                state.isRecorded = true
                rows += [.version(current)] + (live.map { itemRows(state, $0) } ?? [itemRow(state, current)])
            }
            if kind == .conflict {
                let event = change(
                    .conflict, in: orphan.parent, place.name, item: state.item, version: version.id, by: requester)
                rows.append(.change(event))
            }
            record(orphan.parent, rows)
        }
    }
}
