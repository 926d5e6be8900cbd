// What a change of a file's attributes means for its document; and sizes, which are its content.

import CLinux
import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: ContentKeeper {
    func make(
        _ change: MetadataChange, look: () throws(Errno) -> FileStat, _ body: () throws(Errno) -> Void
    ) throws(Errno) -> FileStat {
        let node = change.node
        let isLive = node.isRegular && !node.isForeign && nodes.location(node).name != nil
        // An untouched file's version derives from its times: before they change it becomes a document.
        let document = isLive && change.setsModified
            ? try document(of: node, change.before) : node.isRegular ? knownDocument(of: node) : nil
        let after = try make(change, document, look, body)
        if change.isTold(after) {
            attributesChanged(node, document, change.caller)
            noteIgnoreFile(rightsOf: node)
        }
        return after
    }

    /// Under the document's lock, or a release in between would take the new times for a change of the content.
    private func make(
        _ change: MetadataChange, _ document: Document?, _ look: () throws(Errno) -> FileStat,
        _ body: () throws(Errno) -> Void
    ) throws(Errno) -> FileStat {
        guard let document else {
            try body()
            return try look()
        }
        return try document.state.withLock { state throws(Errno) in
            let wasClean = !state.differs(from: try look())
            try body()
            let after = try look()
            note(after, &state, wasClean: wasClean, hasTimes: change.setsModified)
            return after
        }
    }

    func preservingStamp(of node: Node, _ body: () throws(Errno) -> Void) throws(Errno) {
        try preservingStamp(of: node.isRegular ? knownDocument(of: node) : nil, node, body)
    }

    /// Told by ``make(_:look:_:)`` and ``metadataChanged(of:mayHaveMode:by:)``.
    func attributesChanged(of node: Node, by caller: Caller) {}
    func timeWillChange(of node: Node) {}

    func metadataChanged(of node: Node, mayHaveMode: Bool, by caller: Caller) {
        let document = node.isRegular ? knownDocument(of: node) : nil
        if mayHaveMode, let document { noteAttributes(document, node) }
        attributesChanged(node, document, caller)
        noteIgnoreFile(rightsOf: node)
    }

    /// A document's metadata have changed: not its content, if it was as recorded before.
    private func note(_ stat: FileStat, _ state: inout Document.State, wasClean: Bool, hasTimes: Bool) {
        if wasClean, state.stamp?.file == stat.key { state.stamp = Stamp(stat) }
        let times = hasTimes && !state.differs(from: stat) ? itemRows(state, stat) : []
        let rows = times + attributeRows(&state, stat)
        if !rows.isEmpty { store.commit(rows) }
    }

    /// Reports changed metadata, unless the change feed does not have the file yet.
    private func attributesChanged(_ node: Node, _ document: Document?, _ caller: Caller) {
        guard !node.isForeign, let name = nodes.location(node).name else { return }
        let item: ItemID? = document?.state.withLock { state in
            state.isUntold ? nil : state.item
        }
        if document != nil, item == nil { return }
        let event = change(.attributes, in: name.parent, name.name, item: item, by: requester(caller))
        record(name.parent, [.change(event)])
    }

    /// A version has the mode and owner that its file had last: what was made
    /// private must not stay readable as history.
    private func noteAttributes(_ document: Document, _ node: Node) {
        guard let stat = try? statLocked(node) else { return }
        document.state.withLock { state in
            let rows = attributeRows(&state, stat)
            if !rows.isEmpty { store.commit(rows) }
        }
    }

    private func attributeRows(_ state: inout Document.State, _ stat: FileStat) -> [VersionStore.Mutation] {
        // Another file may have taken the name meanwhile.
        guard var current = state.current, !state.isReturning, !state.isUnversioned,
            state.stamp.map({ $0.file == stat.key }) ?? true
        else { return [] }
        let attributes = Attributes(stat)
        guard current.attributes.mode != attributes.mode || current.attributes.owner != attributes.owner
            || current.attributes.group != attributes.group
        else { return [] }
        current.attributes = attributes
        state.current = current
        if state.isKept { custodian.relabel(current) }
        return state.isRecorded ? [.version(current)] : []
    }

    private func isKeptOrDeleted(_ node: Node) -> Bool {
        switch nodes.location(node).whereabouts {
        case .kept, .deleted: true
        case .live, .gone: false
        }
    }

    private func openForTruncation(_ node: Node) throws(Errno) -> SharedDescriptor {
        try names.reading { () throws(Errno) in
            try openOwn(node, flags: O_RDWR)
        }
    }

    /// truncate(2) and ftruncate(2).
    func resize(_ node: Node, _ handle: UInt64?, to size: off_t, by caller: Caller) throws(Errno) {
        guard node.isRegular, size >= 0 else { throw .invalidArgument }
        let open = handle.flatMap { serving.files[$0] }
        let descriptor: SharedDescriptor
        if let open { descriptor = open.descriptor } else { descriptor = try openForTruncation(node) }
        guard case .live = nodes.location(node).whereabouts, !node.isForeign,
            let name = nodes.location(node).name
        else {
            if open == nil, isKeptOrDeleted(node) { throw Errno(rawValue: ESTALE) }
            if let open { try willChange(open, appends: false) }
            return _ = try Backing.check { ftruncate(descriptor.raw, size) }
        }
        // A program that works with a database has it open for reading, too.
        let isStranger = open.map { $0.flags & O_ACCMODE == O_WRONLY } ?? true
        if isStranger { databases.captureAhead(node) }
        let document = try document(of: node, try Backing.stat(descriptor.raw))
        let access = open == nil ? access(.updating, at: name.name, in: name.parent, node) : nil
        let hasChanged = try document.state.withLock { state throws(Errno) in
            guard case .live = nodes.location(node).whereabouts, knownDocument(of: node) === document else {
                // The name was taken away meanwhile: the kernel looks it up again, unless the file is open.
                guard open != nil else { throw Errno(rawValue: ESTALE) }
                try Backing.check { ftruncate(descriptor.raw, size) }
                return true
            }
            let stat = try Backing.stat(descriptor.raw)
            guard stat.size != UInt64(size) else {
                // Nothing changes but the times.
                let wasClean = !state.differs(from: stat)
                try Backing.check { ftruncate(descriptor.raw, size) }
                if wasClean { state.stamp = Stamp(try Backing.stat(descriptor.raw)) }
                return false
            }
            if open == nil { try refuseIfStale(&state, name.parent, name.name, requester(caller)) }
            if isStranger {
                captureBeforeLoss(&state, node, name.name, in: name.parent)
            }
            try keepBeforeTruncation(&state, node, stat, descriptor, to: size, open, caller)
            try Backing.check { ftruncate(descriptor.raw, size) }
            state.isAppendedTo = false
            hear(
                .resized(
                    name.place, node.file, handle: open?.id, size: UInt64(size), open?.requester ?? requester(caller)))
            if let open {
                open.state.withLock { ($0.hasChanged, $0.begun) = (true, $0.begun + 1) }
                if size == 0 {
                    open.state.withLock { $0.isReplacing = true }
                    if let claim = open.claim { serving.arbiter.truncated(claim, node, open.requester.actor) }
                }
            } else {
                // Nothing will be closed: the truncation is a save of its own.
                try save(
                    &state, node, in: name.parent, name.name, file: descriptor.raw,
                    PendingSave(kind: .appendOrInPlace, requester: requester(caller), isSealed: true))
                tombstones.settle(document, opened: Scheduler.now)
                if node.writers.contains(where: { mayWriteUnseen($0) }) {
                    try keepCopy(&state, of: node, from: descriptor.raw)
                }
            }
            return true
        }
        if hasChanged, open == nil { shareSave(in: node, from: descriptor, .appendOrInPlace, by: requester(caller)) }
        if hasChanged { report([access], by: caller) }
    }

    private func keepBeforeTruncation(
        _ state: inout Document.State, _ node: Node, _ stat: FileStat, _ descriptor: SharedDescriptor, to size: off_t,
        _ open: OpenFile?, _ caller: Caller
    ) throws(Errno) {
        // Unsaved bytes of other writers become a version before they go. (A closed writer has saved its own.)
        if stat.size > 0,
            open == nil || node.writers.contains(where: { $0 !== open && !$0.isClosing }),
            state.contentDiffers(from: stat) || state.isAppendedTo && state.differs(from: stat)
        {
            try saveUnfinished(&state, node, file: descriptor.raw)
        }
        let isOwnSave = open?.state.withLock { $0.saved != nil && $0.saved == state.current?.id } ?? false
        if !state.contentDiffers(from: stat), !isOwnSave {
            do throws(Errno) { try keepCopy(&state, of: node, from: descriptor.raw) } catch {
                guard UInt64(size) < stat.size else { throw error }
                try discardForTruncation(&state, of: node, by: open?.requester ?? requester(caller), error)
            }
        }
    }
}
