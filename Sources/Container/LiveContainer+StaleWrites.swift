// Saves from stale content under `stale-writes`: `refuse` and `merge` (DESIGN 6.3); `keep` is the plain rule.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// With `refuse`, fails with ESTALE where nothing has happened yet, if the actor would replace a version that it
    /// has not seen. The kernel asks a second time with the same answer; it is told once.
    /// - Parameter isSame: whether the content that would come is the current one; asked last.
    func refuseIfStale(
        _ state: inout Document.State, _ parent: Node, _ name: FileName, _ requester: Requester,
        unless isSame: (Document.State) -> Bool = { _ in false }
    ) throws(Errno) {
        guard settings.staleWrites == .refuse, let current = state.current, !state.isUnversioned else { return }
        guard isStale(&state, parent, name, requester), !isSame(state) else { return }
        if state.refused?.version != current.id { state.refused = .init(actors: [], version: current.id) }
        if let actor = requester.actor?.ref, state.refused?.actors.insert(actor).inserted == true {
            let event = change(.conflict, in: parent, name, item: state.item, version: current.id, by: requester)
            record(parent, [.change(event)])
        }
        throw Errno(rawValue: ESTALE)
    }

    /// A refused program must not remove the name instead: vim would, and leave an empty file
    /// (docs/decisions/0008-refused-unlink.md).
    func refuseUnlinkIfRefused(_ state: Document.State, _ requester: Requester) throws(Errno) {
        if isRefused(state, requester) { throw Errno(rawValue: ESTALE) }
    }

    /// The same for a document that is about to be renamed to a name that its actor makes up, as vim does with `f~`:
    /// the program would save content from a stale read under the old name, and no call could be refused any more.
    func refuseAwayIfStale(
        _ entry: Entry, as name: FileName, _ document: Document?, _ requester: Requester
    ) throws(Errno) {
        guard settings.staleWrites == .refuse, let document, observers.isEphemeral(name, requester) else { return }
        try document.state.withLock { state throws(Errno) in
            try refuseIfStale(&state, entry.parent, entry.name, requester)
        }
    }

    /// Whether a file that is about to be renamed over a document has its current content: that replaces nothing. In
    /// this way vim puts back a copy that it has made, once it was refused.
    func putsBack(_ state: Document.State, _ move: Move, _ target: Entry) -> Bool {
        guard let current = state.current, move.source.stat.size == current.size, current.size <= Self.hashedAtOnce
        else { return false }
        guard let old = current.hash ?? contentHash(of: target) else { return false }
        return contentHash(of: move.source) == old
    }

    private func contentHash(of entry: Entry) -> [UInt8]? {
        guard let file = try? Backing.openQuietly(entry.name.bytes, in: entry.directory.raw, entry.stat.key) else {
            return nil
        }
        defer { Glibc.close(file) }
        return ContentHash.sha256(of: file, size: entry.stat.size)
    }

    /// Whether an actor was refused because it has not seen the current version.
    func isRefused(_ state: Document.State, _ requester: Requester?) -> Bool {
        guard settings.staleWrites == .refuse, let refused = state.refused, let current = state.current,
            refused.version == current.id, let actor = requester?.actor?.ref
        else { return false }
        return refused.actors.contains(actor)
    }

    private func isStale(
        _ state: inout Document.State, _ parent: Node, _ name: FileName, _ requester: Requester
    ) -> Bool {
        guard let current = state.current, let actor = requester.actor,
            let base = observers.base(of: actor, item: state.item), base != current.id
        else { return false }
        return SaveRule.isStale(
            actor, base: base, current: current.id, saver: state.saver, isQuiet: isQuiet(parent, name))
            && !goesBack(base, to: current)
    }

    /// With `merge`, joins a save that has just become a conflict with the version it lost against, if their edits do
    /// not overlap. Called without any lock held; the saver waits for it.
    /// - Parameter saved: the version that the save made.
    func mergeIfConflicting(_ document: Document, _ node: Node, saved: VersionID?, by requester: Requester) {
        guard settings.staleWrites == .merge, let saved else { return }
        let pair: (mine: Version, loser: VersionID)? = document.state.withLock { state in
            guard let current = state.current, current.id == saved, let conflict = state.conflict,
                conflict.winner == saved
            else { return nil }
            state.conflict = nil
            return (current, conflict.loser)
        }
        guard let pair else { return }
        do {
            try merge(document, node, mine: pair.mine, loser: pair.loser, requester)
        } catch {
            logger.info("not merged, the conflict stays: \(error)")
        }
    }

    private func merge(
        _ document: Document, _ node: Node, mine: Version, loser id: VersionID, _ requester: Requester
    ) throws(Errno) {
        let versions = try store(throwing: .ioError) { () throws(StoreError) in try store.versions(of: mine.item) }
        // Not what the saver had started from: of the loser it may be no ancestor, if an earlier merge did not come
        // about.
        guard let baseID = MergeBase.of(mine.id, and: id, in: versions.map { HistoryNode($0) }),
            let base = versions.first(where: { $0.id == baseID }), let loser = versions.first(where: { $0.id == id })
        else { return logger.info("not merged, the conflict stays: from what the two parted is not known any more") }
        let file = try openForMerge(node)
        let (baseFile, otherFile) = (try openContent(of: base), try openContent(of: loser))
        let texts = MergeInput(
            mine: try ContentText.read(file.raw, size: mine.size),
            base: try ContentText.read(baseFile.raw, size: base.size),
            other: try ContentText.read(otherFile.raw, size: loser.size))
        guard let merged = ThreeWayMerge.merge(texts) else { return }
        _ = try withLiveDocument(of: node) { (state, found, name) throws(Errno) in
            // Another program may have saved meanwhile, or the name has another file: then there is nothing to merge
            // any more.
            guard found === document, state.current?.id == mine.id, !state.differs(from: try Backing.stat(file.raw))
            else { return }
            try keepCopy(&state, of: node, from: file.raw)
            // Two authors have chosen the content that it has now.
            try SetIDRule.drop(on: file.raw)
            try replace(file, texts.mine, with: merged)
            let stat = try Backing.stat(file.raw)
            var version = mine
            version.kind = .history
            state.siblings.add(version)
            let result = Version(
                id: .random(), item: state.item, kind: .current, content: .random(), size: stat.size,
                modified: stat.modified, saved: now, time: time.next(), device: store.identity.device,
                author: Author(
                    userID: requester.author.userID, user: requester.author.user, program: "versionsfs", process: 0),
                parents: [loser.id, mine.id], base: base.id,
                hash: ContentHash.sha256(of: file.raw, size: stat.size), attributes: Attributes(stat), flags: .sealed)
            state.current = result
            state.stamp = Stamp(stat)
            state.isKept = false
            state.saver = nil
            let saved = change(.saved, in: name.parent, name.name, item: state.item, version: result.id, by: nil)
            let resolved = change(.resolved, in: name.parent, name.name, item: state.item, version: loser.id, by: nil)
            record(
                name.parent,
                [.version(version), .kind(loser.id, .history), .version(result)] + itemRows(state, stat)
                    + [.change(saved), .change(resolved)])
        }
        serving.passthrough.changed(node)
    }

    /// On a full disk the file is what it was.
    private func replace(_ file: SharedDescriptor, _ old: [UInt8], with new: [UInt8]) throws(Errno) {
        do throws(Errno) {
            try ContentText.replace(file.raw, with: new)
        } catch {
            try ContentText.replace(file.raw, with: old)
            throw error
        }
    }

    private func openForMerge(_ node: Node) throws(Errno) -> SharedDescriptor {
        try names.reading { () throws(Errno) in
            try openOwn(node, flags: O_RDWR)
        }
    }
}
