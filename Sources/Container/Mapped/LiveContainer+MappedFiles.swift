// Contents that programs store through shared mappings: the acknowledged one is kept, each new one becomes a version.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: MappedFileKeeper {
    /// How long stores may go on before the content becomes a version all the same.
    private static let longestNanoseconds: Int64 = 60_000_000_000
    /// Up to this size a mapped file is copied where there is no reflink, and compared.
    private static let copiedMapped: UInt64 = 64 << 20
    /// The same again and again, where nothing is ever written out and so no time moves.
    private static let comparedInMemory: UInt64 = 16 << 20

    func mayBeMapped(_ node: Node) { documents.document(of: node)?.state.withLock { $0.mayBeMapped = true } }

    func openForLease(_ node: Node) throws(Errno) -> SharedDescriptor {
        try names.reading { () throws(Errno) in try openOwn(node, flags: O_RDONLY) }
    }

    func mappingEnded(of node: Node) {
        if survivors.remove(node.file, nodes.key(of: node)) {
            serving.passthrough.kernel.side?.invalidate(node: node.id, data: true)
        }
        _ = try? withLiveDocument(of: node) { (state, _, _) throws(Errno) in
            state.mayBeMapped = false
            state.provisional = nil
            dropUnneededCopy(&state, node)
        }
    }

    /// A copy that was made before a writer could change the file is not needed if the writer did not, and the document
    /// has no rows.
    func dropUnneededCopy(_ state: inout Document.State, _ node: Node) {
        guard !node.mayChange, state.isKept, !state.isRecorded, let current = state.current,
            let stat = try? statLocked(node), !state.contentDiffers(from: stat)
        else { return }
        custodian.drop(current.content)
        state.isKept = false
    }

    /// Keeps the content of a mapped file when it is first looked at, and makes a version of a content that has changed
    /// since and is quiet.
    /// - Parameter own: the handle that the mapping was made through, if it is open still; no other writer may be.
    func capture(
        mapped node: Node, _ look: inout MappingWatch.Look, isOver: Bool, by own: OpenFile?, mayWait: Bool
    ) throws(Errno) {
        // The content of a file that was deleted or displaced meanwhile was kept then, or is in the deleted file.
        guard isLive(node) else { return }
        let file = try openForLease(node)
        let stat = try Backing.stat(file.raw)
        // A file that survivors write to may not be known yet; a look at it finds changes from before this mount.
        _ = try names.reading { () throws(Errno) in try document(of: node, stat) }
        let isFirst = !isOver && !node.hasWriters(but: own) && (!look.isKept || isUnkept(node, file, own))
        if isFirst {
            try keepMapped(node, file, own)
            look.isKept = true
        }
        // From now on the next store into each page moves the time.
        if !isOver, look.synchronized != Stamp(stat) {
            try synchronizeMapped(file)
            look.synchronized = Stamp(stat)
        }
        var content: (hash: [UInt8], isCurrent: Bool)?
        if isFirst || isInMemory(file) {
            content = comparable(node, file, upTo: isFirst ? Self.copiedMapped : Self.comparedInMemory)
        }
        try record(node, file, content, &look, own, mayWait: mayWait && !isOver, goesOn: !isOver)
    }

    /// Whether another close has saved since the last content was kept, through a handle that passes through.
    private func isUnkept(_ node: Node, _ file: SharedDescriptor, _ own: OpenFile?) -> Bool {
        guard let own, own.state.withLock(\.isPassed), let name = nodes.location(node).name,
            let document = knownDocument(of: node)
        else { return false }
        return document.state.withLock { !$0.isKept && $0.current != nil }
            && !DatabaseRule.isDatabase(name.name, file: file.raw)
    }

    private func isInMemory(_ file: SharedDescriptor) -> Bool { linux_ordering_of(file.raw) == linux_ordering_none }

    private func synchronizeMapped(_ file: SharedDescriptor) throws(Errno) {
        // The copy of the content before lies in the same journal (see ``synchronize(node:handle:dataOnly:)``).
        try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fdatasync(file.raw) } }
    }

    /// Keeps the content that the last close has acknowledged, and sees to it that rows name it.
    private func keepMapped(_ node: Node, _ file: SharedDescriptor, _ own: OpenFile?) throws(Errno) {
        _ = try withLiveDocument(of: node) { (state, _, name) throws(Errno) in
            state.mayBeMapped = true
            guard let current = state.current, !node.hasWriters(but: own), !state.isUnversioned,
                !state.isUnannounced, !state.isReturning, !DatabaseRule.isDatabase(name.name, file: file.raw)
            else { return }
            if !state.isKept, current.size > Self.copiedMapped, !store.contents.canReflink { return }
            // It may have been kept before this mount, and be all that is left of it.
            if store.contents.contains(current.content), store.isWhole(current) { state.isKept = true }
            try keepCopy(&state, of: node, from: file.raw, isDurable: true)
            guard state.isKept, !state.isRecorded, let kept = state.current else { return }
            state.isRecorded = true
            let stat = try Backing.stat(file.raw)
            record(name.parent, [.version(kept)] + itemRows(state, stat))
        }
    }

    /// The content's hash, and whether it is that of the current version, where no time can tell; nil: too big to be
    /// read.
    private func comparable(
        _ node: Node, _ file: SharedDescriptor, upTo limit: UInt64
    ) -> (hash: [UInt8], isCurrent: Bool)? {
        guard let document = knownDocument(of: node), let current = document.state.withLock(\.current),
            current.size <= limit, let hash = ContentHash.sha256(of: file.raw, size: current.size)
        else { return nil }
        if let known = current.hash { return (hash, known == hash) }
        guard let kept = try? store.contents.open(current.content) else { return nil }
        defer { try? kept.close() }
        return ContentHash.sha256(of: kept.rawValue, size: current.size).map { (hash, $0 == hash) }
    }

    private func record(
        _ node: Node, _ file: SharedDescriptor, _ content: (hash: [UInt8], isCurrent: Bool)?,
        _ look: inout MappingWatch.Look, _ own: OpenFile?, mayWait: Bool, goesOn: Bool
    ) throws(Errno) {
        _ = try withLiveDocument(of: node) { (state, document, name) throws(Errno) in
            // Another writer makes versions itself.
            guard !node.hasWriters(but: own), state.current != nil, !state.isUnversioned, !state.isReturning
            else { return }
            let stat = try Backing.stat(file.raw)
            if let content, !content.isCurrent { state.stamp = nil }
            guard state.differs(from: stat) else {
                (look.seen, look.since) = (nil, nil)
                return
            }
            let seen = look.seen
            look.seen = (Stamp(stat), content?.hash)
            let since = look.since ?? Scheduler.now
            look.since = since
            // Where times move, one look has no hash.
            let isSame = seen?.hash == nil || content == nil || seen?.hash == content?.hash
            let isQuiet = seen?.stamp == Stamp(stat) && isSame
            guard isQuiet || !mayWait || Scheduler.now - since > Self.longestNanoseconds else { return }
            (look.seen, look.since) = (nil, nil)
            if DatabaseRule.isDatabase(name.name, file: file.raw) {
                let unknown = Requester(actor: nil, author: callers.owner(of: stat))
                return databases.captureLater(node, look.requester ?? unknown)
            }
            let isReplacing = own?.state.withLock(\.isReplacing) ?? false
            if isReplacing, stat.size == 0 { return }
            let provisional = state.isKept || state.provisional != state.current?.id ? nil : state.provisional
            if provisional != nil { state.isRecorded = true }
            let saved = try save(
                &state, node, in: name.parent, name.name, file: file.raw,
                PendingSave(
                    kind: isReplacing ? .replacing : .appendOrInPlace, requester: look.requester,
                    amends: provisional ?? own?.state.withLock(\.saved), isSealed: true),
                stat: stat)
            own?.state.withLock { $0.saved = saved }
            guard goesOn, store.contents.canReflink || stat.size <= Self.copiedMapped else { return }
            try keepCopy(&state, of: node, from: file.raw, isDurable: true)
        }
    }

    /// Whether a mapping has changed the content that a close has saved, before the handle was closed for good or
    /// released: into a page that waits to be written already, no time tells of it.
    func hasStoredUnseen(_ file: OpenFile, _ state: Document.State, _ stat: FileStat, isLast: Bool) -> Bool {
        guard file.mayBeMapped, let current = state.current, let hash = current.hash, !state.differs(from: stat),
            stat.size <= Self.hashedAtOnce, stat.size == current.size
        else { return false }
        let mayHave = file.state.withLock { $0.isPassed && ($0.isFlushed || isLast) && $0.saved == current.id }
        return mayHave && ContentHash.sha256(of: file.descriptor.raw, size: stat.size) != hash
    }
}
