// Reading, writing and closing through open handles.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    func openFile(_ handle: UInt64) throws(Errno) -> OpenFile {
        guard let file = serving.files[handle] else { throw .badFileDescriptor }
        return file
    }

    /// A descriptor for a call through a handle; the handle that readers share has none of its own.
    func descriptor(_ node: UInt64, _ handle: UInt64, flags: Int32 = O_RDONLY) throws(Errno) -> SharedDescriptor {
        if handle != OpenFileTable.sharedReader { return try openFile(handle).descriptor }
        let node = try self.node(node)
        guard node.isRegular || node.isDirectory else { throw .badFileDescriptor }
        return try names.reading { () throws(Errno) in
            try openOwn(node, flags: flags)
        }
    }

    public func read(
        node: UInt64, handle: UInt64, into buffer: UnsafeMutableRawBufferPointer, offset: off_t
    ) throws(Errno) -> Int {
        let descriptor = try descriptor(node, handle)
        leaveAccessTime(descriptor)
        return try Backing.check { pread(descriptor.raw, buffer.baseAddress, buffer.count, offset) }
    }

    /// Reads for a program count as accesses; from now on through this descriptor (see ``quietly``).
    private func leaveAccessTime(_ descriptor: SharedDescriptor) {
        let flags = fcntl(descriptor.raw, F_GETFL)
        guard flags >= 0, flags & linux_O_NOATIME != 0 else { return }
        _ = fcntl(descriptor.raw, F_SETFL, flags & ~linux_O_NOATIME)
    }

    /// - Parameter flags: the open file's as they are by now; nil: as it was opened. A program may take O_APPEND away,
    ///   or set it, at any time, and bytes that were stored through a mapping come without.
    public func write(
        _ caller: Caller, node: UInt64, handle: UInt64, _ bytes: UnsafeRawBufferPointer, offset: off_t,
        flags: Int32? = nil
    ) throws(Errno) -> Int {
        let file = try openFile(handle)
        if caller.dropsSetID { SetIDRule.drop(on: file.descriptor.raw, by: caller) }
        guard file.isWritable else { throw .badFileDescriptor }
        let flags = flags ?? file.flags
        let appends = flags & O_APPEND != 0
        if !appends { file.hasWrittenInside.store(true, ordering: .sequentiallyConsistent) }
        // The kernel writes out bytes that were stored through a mapping without any flags.
        let isStored = flags & O_ACCMODE == O_RDONLY
        let appending = appends && file.isAppending
        return try changing(file, appends: appending, isStored: isStored, adding: bytes.count) { () throws(Errno) in
            try file.put(bytes, at: offset, flags)
        }
    }

    /// Runs a change of the file through a handle, for up to `count` bytes more.
    private func changing<Result>(
        _ file: OpenFile, appends: Bool = false, isStored: Bool = false, adding count: Int, mustSucceed: Bool = false,
        _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        file.state.withLock {
            ($0.changes, $0.begun) = ($0.changes + 1, $0.begun + 1)
            $0.hasChanged = true
        }
        defer { file.state.withLock { $0.changes -= 1 } }
        try willChange(file, appends: appends, isStored: isStored)
        hear(.writing(handle: file.id, appends: appends))
        return try space.retryingWhenFull(wanted: UInt64(max(0, count)), mayWait: true, mustSucceed: mustSucceed, body)
    }

    /// Keeps the current content before the first byte of it is overwritten through a handle.
    func willChange(_ file: OpenFile, appends: Bool, isStored: Bool = false) throws(Errno) {
        let isLive: Void? = try withLiveDocument(of: file.node) { (state, _, _) throws(Errno) in
            try willChange(&state, file, appends: appends, isStored: isStored)
        }
        // The content of a displaced file was kept then; a deleted content is still in the deleted file.
        guard isLive == nil, let document = orphans.document(of: file.node) else { return }
        let key = try Backing.stat(file.descriptor.raw).key
        try document.state.withLock { state throws(Errno) in
            guard state.stamp?.file == key else { return }
            try willChange(&state, file, appends: appends, isStored: isStored)
        }
    }

    private func willChange(
        _ state: inout Document.State, _ file: OpenFile, appends: Bool, isStored: Bool
    ) throws(Errno) {
        if appends {
            guard !state.isAppendedTo, !state.isKept, state.current != nil else { return }
            state.isAppendedTo = !state.contentDiffers(from: try Backing.stat(file.descriptor.raw))
            return
        }
        guard let current = state.current, !state.isKept, !state.isReturning, !state.isUnversioned else { return }
        // A version of an earlier save through this handle is amended, not kept, unless another handle has appended to
        // it, or another item's version has its content in the file.
        let isOwn =
            file.state.withLock { $0.saved == current.id } && !current.flags.contains(.sealed) && !state.sharesContent
        // Bytes that are stored through a mapping after a close are no part of the content that the close has
        // acknowledged.
        if isOwn, !state.isAppendedTo, !(isStored && file.state.withLock(\.isFlushed)) { return }
        guard !state.contentDiffers(from: try Backing.stat(file.descriptor.raw)) else { return }
        try keepCopy(&state, of: file.node, from: file.descriptor.raw, isDurable: true)
    }

    public func allocate(
        _ caller: Caller, node: UInt64, handle: UInt64, mode: Int32, offset: off_t, length: off_t
    ) throws(Errno) {
        let file = try openFile(handle)
        let lacking = try requireRoom(file, mode: mode, offset: offset, length: length)
        try changing(file, adding: Int(clamping: lacking), mustSucceed: true) { () throws(Errno) in
            // The kernel leaves it to us and does not say so (unlike for writes).
            if caller.user != 0 { SetIDRule.drop(on: file.descriptor.raw, by: caller) }
            _ = try Backing.check { linux_fallocate(file.descriptor.raw, mode, offset, length) }
        }
    }

    public func seek(node: UInt64, handle: UInt64, offset: off_t, whence: Int32) throws(Errno) -> off_t {
        let descriptor = try descriptor(node, handle)
        return try Backing.check { lseek(descriptor.raw, offset, whence) }
    }

    public func copyRange(
        _ caller: Caller, from source: CopyEnd, to target: CopyEnd, length: Int
    ) throws(Errno) -> Int {
        let from = try descriptor(source.node, source.handle)
        leaveAccessTime(from)
        let file = try openFile(target.handle)
        return try changing(file, adding: length) { () throws(Errno) in
            if caller.user != 0 { SetIDRule.drop(on: file.descriptor.raw, by: caller) }
            var (sourceOffset, targetOffset) = (source.offset, target.offset)
            return try Backing.check {
                linux_copy_file_range(from.raw, &sourceOffset, file.descriptor.raw, &targetOffset, length)
            }
        }
    }

    /// close(2) of a descriptor: the moment of a save (DESIGN 5.1).
    public func flush(_ caller: Caller, handle: UInt64) {
        guard let file = serving.files[handle], file.isWriter else { return }
        // A child that ends closes what it inherited; only who opened the handle saves with it.
        guard let opener = file.requester.actor?.ref,
            callers.actor(closing: caller.thread)?.ref == opener
        else { return }
        observers.filled(
            nodes.location(file.node).name.map { Place(directory: $0.parent.file, name: $0.name) }, by: opener)
        save(file, file.requester, isLast: false, by: opener)
        hear(.closed(handle: handle))
        if file.mayBeMapped { mappedFiles.watchStores(of: file) }
    }

    /// The last close of an open handle: what was saved through it is sealed.
    public func release(node id: UInt64, handle: UInt64) {
        guard handle != OpenFileTable.sharedReader else {
            if let node = nodes[id] { node.openings.state.withLock { $0.closeReader() } }
            return
        }
        guard let closed = closeHandle(handle) else { return }
        // Only now is our own descriptor closed, which would count as a writer.
        mappedFiles.settleMapping(of: closed.node, by: closed.requester)
    }

    /// - Returns: the node and the program that opened it, if the handle was a writer's.
    private func closeHandle(_ handle: UInt64) -> (node: Node, requester: Requester)? {
        guard let file = serving.files.remove(handle) else { return nil }
        let isWriter = file.isWriter
        if isWriter {
            mappedFiles.noteMappable(file)
            seal(file)
            let kind: Save.Kind = file.state.withLock(\.isReplacing) ? .replacing : .appendOrInPlace
            shareSave(in: file.node, from: file.descriptor, kind, by: file.requester)
            hear(.released(handle: handle))
            if file.flags & O_TRUNC != 0 {
                store.contents.hasten(FileDescriptor(rawValue: file.descriptor.raw), number: file.node.id)
            }
        } else {
            file.node.openings.state.withLock { $0.closeReader() }
        }
        serving.end(file.claim, file.coordinated)
        return isWriter ? (file.node, file.requester) : nil
    }

    /// Saves what a handle has changed, for good: it is no writer any more. The two are one step, or of two that are
    /// released at once each would leave the save to the other.
    func seal(_ file: OpenFile) {
        save(file, file.requester, isLast: true)
        // A file that has no document, or one that was replaced or deleted.
        file.node.release(file)
        if !isLive(file.node) { settleOrphan(file, file.requester, isLast: true) }
    }

    /// - Parameter closer: the process that closes it just now; it may run another program than at the opening.
    private func save(_ file: OpenFile, _ requester: Requester, isLast: Bool, by closer: ActorRef? = nil) {
        defer { space.trimming.catchUp() }
        if let document = knownDocument(of: file.node) { learnSiblings(of: document, for: requester) }
        var hasSaved = false
        do {
            let found = try withLiveDocument(of: file.node) { (state, document, name) throws(Errno) -> Document in
                defer {
                    if isLast {
                        file.node.release(file)
                        dropUnneededCopy(&state, file.node)
                    }
                }
                let former = state.current
                try save(file, &state, under: name, requester, isLast: isLast, by: closer)
                // A file that comes to a former name of it is another document (decisions/0010).
                hasSaved = state.current != former
                if former != nil, hasSaved { tombstones.settle(document, opened: file.opened) }
                return document
            }
            guard let document = found else {
                var requester = requester
                if let closer { requester.author.program = callers.program(ofClosing: closer) }
                return isLast ? () : settleOrphan(file, requester, isLast: false)
            }
            // A rename merges what it has saved itself, before it is answered. No program waits for a release: if the
            // release merged it, the next save would come first.
            if hasSaved { mergeIfConflicting(document, file.node, saved: file.state.withLock(\.saved), by: requester) }
        } catch {
            logger.error(
                "a save could not be recorded: \(error)", metadata: ["file": "\(nodes.path(file.node) ?? .root)"])
        }
    }

    private func save(
        _ file: OpenFile, _ state: inout Document.State, under name: Node.Name, _ requester: Requester, isLast: Bool,
        by closer: ActorRef?
    ) throws(Errno) {
        var requester = requester
        let others = file.node.writers.filter { $0 !== file }
        let finished = file.state.withLock(\.finished)
        // A write under way may reach the file before this look at it, or after. An appended version goes on for a
        // minute: no copy is made of it on mere suspicion.
        let isWrittenUnseen = others.contains { file.isAppending ? goesOnUnseen($0) : mayWriteUnseen($0) }
        let stat = try Backing.stat(file.descriptor.raw)
        if hasStoredUnseen(file, state, stat, isLast: isLast) { state.stamp = nil }
        let hasChanged = state.current == nil || state.differs(from: stat)
        let (hasReplaced, wasFlushed, leftBy) = file.state.withLock { state in
            // A shell that closes a file which it has opened for a command has not written anything yet.
            defer {
                if !state.isReplacing || stat.size > 0 { state.isFlushed = true }
                // Nor has a shell that makes a duplicate and closes the first.
                if state.isFlushed, !isLast, hasChanged || state.saved != nil { state.closed = Scheduler.now }
            }
            return (state.isReplacing, state.isFlushed, state.leftBy)
        }
        // Changes since its own close are the other handle's whose release came before this one's.
        if wasFlushed, let leftBy { requester = leftBy }
        let isReplacing = hasReplaced && !(wasFlushed && leftBy != nil)
        if isCapturedLater(file, state, name.name, stat) {
            return databases.captureLater(file.node, requester)
        }
        // Writers in place share the file, as POSIX has it: it is a version once the last of them is done, or quiet.
        // A writer that replaces it has saved it with the close, even if others have it open.
        if !file.isAppending, !isReplacing, others.contains(where: { !$0.isClosing }),
            state.differs(from: stat)
        {
            if isLast {
                passSavedVersion(of: file, to: others, state)
                for other in others { other.state.withLock { $0.leftBy = requester } }
            }
            return
        }
        // close(2) returns before its release: what changed since the save at the close is another opening's if that
        // has had the saved content kept or given up, only appends to it, or has saved since.
        if file.isDone, !others.isEmpty, state.differs(from: stat) { return }
        let own = file.state.withLock(\.saved)
        let isGivenUp = state.current?.flags.contains(.contentLost) ?? false
        let isOthers = state.isKept || isGivenUp || state.isAppendedTo && !file.isAppending || own != state.current?.id
        if isLast, wasFlushed || own != nil, isOthers, !others.isEmpty, state.differs(from: stat) { return }
        // An emptied file may be about to be written: only its last close says that it was meant (5.1), and that of the
        // handle which has emptied it, whose program may be a rival.
        let isOthersEmptying = (!isReplacing || wasFlushed) && emptier(of: file.node, besides: file) != nil
        if stat.size == 0, isReplacing && !isLast || isOthersEmptying { return }
        if let closer, !state.isUnversioned, !state.isUnannounced, state.differs(from: stat) {
            requester.author.program = callers.program(ofClosing: closer)
        }
        let before = state.current?.id
        let isOverwritten = own != before && isOverwritten(state, stat, by: others)
        let pending = PendingSave(
            kind: isReplacing ? .replacing : .appendOrInPlace, isAppend: file.isAppending && !isReplacing,
            requester: requester, amends: isOverwritten ? before : own, isSealed: isLast)
        let saved = try save(
            &state, file.node, in: name.parent, name.name, file: file.descriptor.raw, pending, stat: stat)
        file.state.withLock { $0.settled = max($0.settled, finished) }
        if saved != before || before == nil || isOverwritten { file.state.withLock { $0.saved = saved } }
        // A handle that has written nothing leaves the version to its writer. Else the version is this handle's from
        // now on: what another handle writes is no part of it.
        let isOwn = hasChanged || saved != nil && file.state.withLock(\.saved) == saved
        for other in others where isOwn { other.state.withLock { if $0.saved == saved { $0.saved = nil } } }
        if state.current != nil, isOwn, isWrittenUnseen {
            try keepCopy(&state, of: file.node, from: file.descriptor.raw)
        }
    }

    /// Another handle that has emptied a file, and saved nothing since: that the file is empty is its program's doing.
    func emptier(of node: Node, besides file: OpenFile) -> OpenFile? {
        node.writers.first { $0 !== file && $0.state.withLock(\.hasEmptied) }
    }

    /// Whether a writer that goes on has overwritten its own saved content, of which no copy was kept. The version is
    /// amended then, whichever program saves next.
    private func isOverwritten(_ state: Document.State, _ stat: FileStat, by others: [OpenFile]) -> Bool {
        guard let current = state.current?.id, !state.isKept, !state.isReturning, !state.sharesContent,
            state.contentDiffers(from: stat)
        else { return false }
        return others.contains { $0.state.withLock(\.saved) == current }
    }

    /// Whether a handle writes to a database in place: that is a version once it is quiet, no matter which handle
    /// closes. A new one is a version at its first close, unless another handle is at work in it.
    private func isCapturedLater(_ file: OpenFile, _ state: Document.State, _ name: FileName, _ stat: FileStat) -> Bool
    {
        guard file.flags & O_ACCMODE == O_RDWR, file.flags & O_TRUNC == 0, !state.isUnversioned, stat.size > 0,
            DatabaseRule.isDatabase(name, file: file.descriptor.raw)
        else { return false }
        return state.current != nil || file.node.writers.count > 1
    }

    /// Lets the other writers amend a version that this one synchronized before they are done, unless they only append
    /// to it: then it is still the beginning of the file, and a version of its own.
    private func passSavedVersion(of file: OpenFile, to others: [OpenFile], _ state: Document.State) {
        guard let saved = file.state.withLock(\.saved), saved == state.current?.id, !state.isAppendedTo else { return }
        for other in others {
            other.state.withLock { $0.saved = $0.saved ?? saved }
        }
    }

    /// Whether another writer may overwrite what was just saved without our seeing it, until it is released: its
    /// program may have a duplicate of what it has closed.
    func mayWriteUnseen(_ other: OpenFile) -> Bool {
        !other.isAppending && other.state.withLock { $0.changes > 0 || !$0.isMediated }
    }

    /// The same where names change, which cannot wait as long as copying a big file takes: a handle that was closed a
    /// moment ago is nearly always done, and its release on its way.
    func goesOnUnseen(_ other: OpenFile) -> Bool {
        !other.isAppending && other.state.withLock { $0.changes > 0 || !$0.isMediated && !$0.isClosing }
    }
}

extension Openings.State {
    mutating func closeReader() {
        readers = max(0, readers - 1)
        if count == 0 { cached = false }
    }
}
