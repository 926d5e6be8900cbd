// A file is renamed over a document: the document goes on with it, and what the file was before leaves its name.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The document's file is now what was renamed over it: records the save.
    func takeOver(
        _ names: borrowing NamesHeldAlone,
        _ state: inout Document.State, _ document: Document, _ move: Move, _ marked: Marked?, _ requester: Requester
    ) throws(Errno) -> SavedByRename {
        var move = move
        if let marked { move.source.stat = marked.stat }
        let former = try former(move, besides: document)
        try store(throwing: .ioError) { () throws(StoreError) in
            try documents.remove(names, at: move.source.place)
            try documents.insert(names, document, at: move.newPlace)
        }
        moveNode(names, move)
        let node = move.source.node
            ?? intern(move.source.stat, as: Node.Name(parent: move.newParent, name: move.newName), lookups: 0)
        defer { if move.source.node == nil { _ = nodes.forget(node.id, lookups: 0) } }
        let (own, isUnfinished) = lookAgain(names, at: former, &move)
        let absorbed = absorb(names, former, into: state.item, move, marked?.hash, requester)
        if state.current?.id == absorbed.beginning { state.current?.parents = [] }
        if former == nil { state.places.removeAll { $0 == move.source.place } }
        let file: SharedDescriptor
        if let marked {
            file = marked.file
        } else {
            file = SharedDescriptor(
                try Backing.openQuietly(move.newName.bytes, in: move.newDirectory.raw, move.source.stat.key))
        }
        if let former, !former.state.withLock(\.places.isEmpty) {
            // It goes on under its other names.
            keepForItself(names, former, of: node, in: file.raw, move.source.stat)
        }
        // Whatever the stamp says, this is another file: only its content can show that nothing has changed.
        state.stamp = nil
        state.isVerified = true
        var pending = PendingSave(
            kind: .replacing, requester: requester, content: absorbed.content, isSealed: !node.hasWriters,
            accompanying: absorbed.rows)
        pending.known = marked?.hash.map { (move.source.stat.size, move.source.stat.modified, $0) }
        pending.following = { [self, move] state in handOver(former, absorbed, to: &state, move, requester) }
        let saved = try save(&state, node, in: move.newParent, move.newName, file: file.raw, pending)
        if let forgotten = absorbed.forgotten { remove(forgotten.contents, of: forgotten.state) }
        if absorbed.isKept, let former { leaveTombstone(names, of: former, move, requester) }
        // A version that has its content in the same file is not changed by what is still written.
        let isShared = absorbed.content != nil
        let isBeingWritten =
            isUnfinished && node.writers.contains { $0.state.withLock { $0.isOfItsContent && !$0.isClosing } }
        for file in node.writers where !isShared {
            file.state.withLock { state in
                let isItsOwn = isUnfinished ? state.isOfItsContent : state.saved != nil && state.saved == own
                if isBeingWritten || isItsOwn { state.saved = saved }
            }
        }
        // The next save may come by another name of the file, which is another document's.
        let isLinked = move.source.stat.links > 1
        if isLinked || isShared || !isBeingWritten, isLinked || node.writers.contains(where: { goesOnUnseen($0) }) {
            do throws(Errno) {
                try keepCopy(&state, of: node, from: file.raw, isDurable: isLinked)
            } catch { logger.error("what was renamed while others may write to it could not be copied: \(error)") }
        }
        return SavedByRename(document: document, node: node, version: saved)
    }

    /// Looks at a file that has its new name. An open that had found the old one may just have kept the saved content,
    /// and emptied the file: from now on no such open goes on. (The rename itself has changed only the ctime.)
    /// - Returns: the version that was saved before, and whether a program is in the middle of writing another. It goes
    ///   on with this save. If none is, this is a save that only its own writer amends.
    private func lookAgain(
        _ names: borrowing NamesHeldAlone, at former: Document?, _ move: inout Move
    ) -> (own: VersionID?, isUnfinished: Bool) {
        guard let former else { return (nil, true) }
        return former.state.withLock { state in
            let known = move.source.stat
            if let found = try? Backing.stat(move.newName.bytes, in: move.newDirectory.raw),
                found.size != known.size || found.modified != known.modified
            {
                move.source.stat = found
            }
            return (state.current?.id, state.current == nil || state.differs(from: move.source.stat))
        }
    }

    /// The fate of a file's document, after the file was renamed over another.
    private struct Absorbed {
        /// The file's content, if it is a version's.
        var content: ContentID?
        /// It keeps its history, without a name.
        var isKept = false
        /// It goes without a trace.
        var forgotten: (state: Document.State, contents: Set<ContentID>)?
        /// The version of the target that was its child, and has no parents now.
        var beginning: VersionID?
        /// The change feed has told of its name, and nothing else tells that it is gone.
        var isMissed = false
        /// Its version under its other names.
        var goesOn: VersionID?
        /// Its rows, for the transaction of the save that has its content: without that it would be nowhere.
        var rows: [VersionStore.Mutation] = []
    }

    /// The document that the file is which comes; nil if that is the very one that it comes to, whose lock is held, by
    /// another of its names.
    private func former(_ move: Move, besides document: Document) throws(Errno) -> Document? {
        if let found = try? documents.document(at: move.source.place) {
            if found === document { return nil }
        } else if let node = move.source.node {
            let known = nodes.allNames(node)
            for name in (known.first.map { [$0] } ?? []) + known.others {
                guard let found = try? documents.document(at: name.place) else { continue }
                if found === document { return nil }
                break
            }
        }
        return try moved(move)
    }

    /// A file that was made to be renamed here loses its document; any other stays an item whose name may come back.
    private func absorb(
        _ names: borrowing NamesHeldAlone, _ former: Document?, into target: ItemID, _ move: Move, _ hash: [UInt8]?,
        _ requester: Requester
    ) -> Absorbed {
        guard let former else { return Absorbed() }
        return former.state.withLock { state in
            state.places.removeAll { $0 == move.source.place }
            var result = Absorbed()
            guard state.places.isEmpty, !state.isUnversioned, var current = state.current else {
                // It goes on under its other names, or was never saved.
                result.rows = itemRows(state, move.source.stat)
                result.isMissed = state.isNameTold
                if state.isRecorded, !state.places.isEmpty { result.goesOn = state.current?.id }
                return result
            }
            if state.isUnannounced {
                if state.isKept { custodian.drop(current.content) }
                return result
            }
            if isScaffolding(state, of: target, move, requester) {
                result.isMissed = state.isNameTold
                guard state.isRecorded else { return result }
                // Another item's version may have its content in this file, which goes on.
                if state.sharesContent, !state.isKept, !state.contentDiffers(from: move.source.stat) {
                    result.content = current.content
                }
                result.rows = [.forgetItem(state.item)]
                if !current.parents.isEmpty, let copy = state.standIn?.copy {
                    result.rows.append(.parents(copy, []))
                    result.beginning = copy
                }
                result.forgotten = (state, ownContents(of: state))
                return result
            }
            result.isKept = true
            // A content that is kept already is the file's no more: the file is to be kept for itself.
            let isElsewhere = state.isKept || state.isReturning
            if !isElsewhere {
                let differs = state.contentDiffers(from: move.source.stat)
                let isBeingSaved =
                    move.source.node?.writers.contains { $0.state.withLock(\.saved) == current.id } ?? false
                if differs, !isBeingSaved {
                    current.flags.insert(.contentLost)
                } else {
                    if differs {
                        // Later writes through the same handle amend the version that it saved a moment ago.
                        (current.size, current.modified) = (move.source.stat.size, move.source.stat.modified)
                        current.hash = hash
                        state.stamp = Stamp(move.source.stat)
                    }
                    result.content = current.content
                    // The hash may have been unknown. With it a save of the same content under the old name is
                    // recognized.
                    if current.hash == nil, current.size == move.source.stat.size { current.hash = hash }
                }
            }
            if !state.isReturning { state.sharesContent = !state.isKept }
            state.isAbsorbed = true
            state.isRecorded = true
            state.current = current
            var row = current
            row.kind = .history
            result.rows = [.version(row)] + itemRows(state, move.source.stat)
            return result
        }
    }

    /// A document of one version, by the same family of processes, was made to be renamed; unless what it was renamed
    /// to is what programs call a backup. So was one that was renamed here before, was called back by its name and was
    /// saved once more: the target has its first version.
    private func isScaffolding(
        _ state: Document.State, of target: ItemID, _ move: Move, _ requester: Requester
    ) -> Bool {
        // Its name came back, and what it was is kept elsewhere: it is not what the file is.
        if state.isReturning { return false }
        guard let current = state.current, !observers.isBackup(move.newName, of: move.source.name),
            current.parents.isEmpty || isBackFrom(target, state, current)
        else { return state.maker != nil && state.current?.parents.isEmpty ?? true }
        guard let saver = state.saver, let actor = requester.actor, saver.isOfOneFamily(with: actor),
            isOfTheMoment(current)
        else { return false }
        // It was saved, and is being written again: what was saved is in the file no more, or not for long.
        if state.isKept, move.source.node?.hasWriters ?? false { return false }
        if state.isKept || state.isAppendedTo, state.differs(from: move.source.stat) { return false }
        // A deleted name that comes back has its content from it.
        if state.hasDeletedName || state.mayHaveBranches, (try? store.deletions(of: state.item).isEmpty) != true {
            return false
        }
        // Bytes from a descriptor of before are a version too, and not an ancestor of the current one.
        if current.parents.isEmpty, !state.mayHaveBranches { return true }
        return (try? store.versions(of: state.item))?.count == current.parents.count + 1
    }

    /// Whether the document was renamed to the target's name, and has had one save since its own name came back.
    private func isBackFrom(_ target: ItemID, _ state: Document.State, _ current: Version) -> Bool {
        guard let standIn = state.standIn, standIn.item == target else { return false }
        return current.parents == [standIn.first]
    }

    /// A pinned version is no scaffolding, nor is one that has been there for long.
    func isOfTheMoment(_ version: Version) -> Bool {
        !version.flags.contains(.pinned) && now.since(version.saved) <= Observers.makersTimeNanoseconds
    }

    /// The file held a version's content, and as their beginning that of earlier ones; another content that is equal
    /// serves them all from now on.
    /// - Returns: the rows of the earlier ones.
    private func share(
        _ content: ContentID, with current: Version, of state: Document.State, for target: ItemID,
        isForgotten: Bool = false
    ) -> [VersionStore.Mutation] {
        // A version that is current elsewhere has its bytes there, unless its name came back unsaved.
        var others = ((try? store.versions(sharing: current.content)) ?? []).filter { other in
            if other.id == current.id { return false }
            if other.kind != .current { return true }
            return other.item != target && other.item != state.item && rename(other, to: content)
        }
        for index in others.indices { others[index].content = content }
        custodian.addLabels(to: content) {
            let labels = others.map { custodian.label(of: $0) }
            guard !isForgotten else { return labels }
            // It leaves its name.
            var own = current
            (own.content, own.kind) = (content, .history)
            return labels + [custodian.namelessLabel(of: own)]
        }
        // Only where it is: what else is recorded of them may have changed by now.
        return others.map { .content($0.id, content) }
    }

    /// A document whose name came back has the content of its current version elsewhere until it is saved.
    /// - Parameter version: one that was current a moment ago. A save may have made it history since.
    /// - Returns: whether it has no file of its own, so that its content is called otherwise now.
    func rename(_ version: Version, to content: ContentID) -> Bool {
        let place = try? store.item(version.item)?.places.first
        // It may have been deleted again, before anyone had saved it.
        let known = place.flatMap { try? documents.document(at: $0) }
        guard let document = known ?? orphans.document(of: version.item) ?? tombstones.document(of: version.item)
        else { return false }
        return document.state.withLock { state in
            guard let current = state.current else { return false }
            guard current.id == version.id else { return !store.contents.contains(version.content) }
            guard state.isReturning, !state.isKept else { return false }
            state.current?.content = content
            return true
        }
    }

    /// A document with a content in the renamed file finds that content where the save has it.
    /// - Returns: rows for the save's transaction: without them these contents would be nowhere.
    private func handOver(
        _ former: Document?, _ absorbed: Absorbed, to target: inout Document.State, _ move: Move, _ requester: Requester
    ) -> [VersionStore.Mutation] {
        guard let former else { return [] }
        if absorbed.isKept { return leaveName(of: former, sharing: &target, move, requester) }
        let missed = absorbed.isMissed ? [departure(of: former, absorbed, target, move, requester)] : []
        guard let forgotten = absorbed.forgotten, absorbed.content != nil else { return missed }
        return handOn(forgotten.state, to: &target) + missed
    }

    /// Listeners that were told of a name hear that it is gone, and where to. The version tells what it held, so that
    /// it can be brought back. Of a target that was never told, they hear nothing now.
    private func departure(
        of former: Document, _ absorbed: Absorbed, _ target: Document.State, _ move: Move, _ requester: Requester
    ) -> VersionStore.Mutation {
        guard !target.isUnannounced, !target.isUnversioned, let version = target.current?.id else {
            return .change(change(.deleted, in: move.source.parent, move.source.name, item: former.item, by: requester))
        }
        return renamed(move, item: former.item, replacing: absorbed.goesOn ?? version, requester)
    }

    /// Other items' versions had their content in the file of a document that is forgotten: it is another one's now.
    private func handOn(_ former: Document.State, to target: inout Document.State) -> [VersionStore.Mutation] {
        guard let current = former.current, let holder = target.current?.content else { return [] }
        target.sharesContent = true
        return current.content == holder
            ? [] : share(holder, with: current, of: former, for: target.item, isForgotten: true)
    }

    /// The item of a file that was renamed over another keeps its history; its last version is what the other's file
    /// holds now.
    /// - Returns: its rows.
    private func leaveName(
        of former: Document, sharing target: inout Document.State, _ move: Move, _ requester: Requester
    ) -> [VersionStore.Mutation] {
        let rows = former.state.withLock { state -> [VersionStore.Mutation] in
            guard var current = state.current, !state.isKept, !state.isReturning, let holder = target.current?.content
            else { return [] }
            target.sharesContent = true
            guard current.content != holder else { return [] }
            let prefixes = share(holder, with: current, of: state, for: target.item)
            current.content = holder
            state.current = current
            current.kind = .history
            return prefixes + [.version(current)]
        }
        return rows + [renamed(move, item: former.item, replacing: target.current?.id, requester)]
    }

    /// If the name of what was renamed comes back, so does its item (DESIGN 5.1).
    private func leaveTombstone(
        _ names: borrowing NamesHeldAlone, of former: Document, _ move: Move, _ requester: Requester
    ) {
        let wasEphemeral = former.state.withLock { $0.current == nil || $0.maker != nil }
        guard let actor = requester.actor, !wasEphemeral else { return }
        tombstones.leave(
            Tombstone(document: former, destination: .moved, actor: actor.ref, time: now), at: move.source.place)
        expireTombstones()
    }
}
