// Changing attributes: modes, owners, times, sizes, extended attributes.

import CLinux
import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A request's changes of a file's attributes; nil leaves a field as it is.
public struct AttributeEdit: Sendable {
    public var mode: mode_t?
    public var user: uid_t?
    public var group: gid_t?
    public var size: off_t?
    /// `tv_nsec` may be UTIME_NOW.
    public var accessed: timespec?
    public var modified: timespec?
    public var dropsSetID = false

    public init() {}
}

extension LiveContainer {
    public func setAttributes(
        _ caller: Caller, node id: UInt64, handle: UInt64?, _ edit: AttributeEdit
    ) throws(Errno) -> FileAttributes {
        let node = try node(id)
        learn(caller)
        if let size = edit.size { try resize(caller, node, handle, to: size) }
        let isLive = node.isRegular && !node.isForeign && nodes.location(node).name != nil
        return try names.reading { () throws(Errno) in
            let place = try reach(node)
            defer { withExtendedLifetime(place) {} }
            let before = try look(at: place, handle)
            guard edit.changesMetadata else { return attributes(before, of: node) }
            // An untouched file's version derives from its times: before they change it becomes a document.
            let document = isLive && edit.modified != nil
                ? try document(of: node, before) : node.isRegular ? knownDocument(of: node) : nil
            let after = try change(edit, at: place, node, before, document, caller, handle)
            if before.permissions != after.permissions || before.raw.user != after.raw.user
                || before.raw.group != after.raw.group || edit.modified != nil && before.modified != after.modified
            {
                attributesChanged(node, document, caller)
                noteIgnoreFile(rightsOf: node)
            }
            return attributes(after, of: node)
        }
    }

    /// The node's own file: a writer's descriptor spares three calls. Called with the name lock held.
    private func reach(_ node: Node) throws(Errno) -> Location {
        guard isLive(node), let writer = node.writers.first else { return try ownFile(of: node) }
        return Location(directory: writer.descriptor, path: [])
    }

    private func look(at place: Location, _ handle: UInt64?) throws(Errno) -> FileStat {
        if let handle, let file = serving.files[handle] { return try Backing.stat(file.descriptor.raw) }
        return try Backing.stat(place.path, in: place.directory.raw)
    }

    /// Under the document's lock, or a release in between would take the new times for a change of the content.
    /// - Returns: the file as it is then.
    private func change(
        _ edit: AttributeEdit, at place: Location, _ node: Node, _ before: FileStat, _ document: Document?,
        _ caller: Caller, _ handle: UInt64?
    ) throws(Errno) -> FileStat {
        guard let document else {
            try apply(edit, to: place, node, before, caller)
            return try look(at: place, handle)
        }
        return try document.state.withLock { state throws(Errno) in
            let wasClean = !state.differs(from: try look(at: place, handle))
            try apply(edit, to: place, node, before, caller)
            let after = try look(at: place, handle)
            note(after, &state, wasClean: wasClean, hasTimes: edit.modified != nil)
            return after
        }
    }

    /// A document's metadata have changed: not its content, if it was as recorded before.
    private func note(_ stat: FileStat, _ state: inout Document.State, wasClean: Bool, hasTimes: Bool) {
        if wasClean, state.stamp?.file == stat.key { state.stamp = Stamp(stat) }
        let times = hasTimes && !state.differs(from: stat) ? itemRows(state, stat) : []
        let rows = times + attributeRows(&state, stat)
        if !rows.isEmpty { store.commit(rows) }
    }

    /// - Parameter before: the file as it is.
    private func apply(
        _ edit: AttributeEdit, to place: Location, _ node: Node, _ before: FileStat, _ caller: Caller
    ) throws(Errno) {
        let dropsSetID = edit.dropsSetID && before.hasSetID
        let isBound = dropsSetID && setIDIsBound(before, caller)
        if edit.user != nil || edit.group != nil {
            try Backing.chown(place.path, in: place.directory.raw, user: edit.user ?? .max, group: edit.group ?? .max)
        }
        if let mode = edit.mode {
            try Backing.chmod(place.path, in: place.directory.raw, mode: mode & 0o7777)
        } else if dropsSetID {
            let stat = try Backing.stat(place.path, in: place.directory.raw)
            let kept = SetIDRule.afterChange(stat.permissions, byStranger: isBound)
            if kept != stat.permissions {
                try Backing.chmod(place.path, in: place.directory.raw, mode: mode_t(kept))
            }
        }
        if edit.accessed != nil || edit.modified != nil {
            let omit = timespec(tv_sec: 0, tv_nsec: Int(linux_UTIME_OMIT))
            try Backing.setTimes(
                place.path, in: place.directory.raw, accessed: edit.accessed ?? omit, modified: edit.modified ?? omit)
        }
    }

    /// Reports changed metadata, unless the change feed does not have the file yet.
    func attributesChanged(_ node: Node, _ document: Document?, _ caller: Caller) {
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
    func noteAttributes(_ document: Document, _ node: Node, _ handle: UInt64? = nil) {
        guard let stat = try? statLocked(node, handle: handle) else { return }
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
    private func resize(_ caller: Caller, _ node: Node, _ handle: UInt64?, to size: off_t) throws(Errno) {
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
                databases.captureBeforeLoss(&state, node, name.name, in: name.parent)
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

extension LiveContainer {
    /// The requests of ioctl(2) that chattr(1) and lsattr(1) make, with the size of what they carry.
    private static let fileFlagRequests: [UInt32: Int] = [
        0x8008_6601: 4, 0x4008_6602: 4,  // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS
        0x801c_581f: 28, 0x401c_5820: 28,  // FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR
    ]

    private static let settingRequests: Set<UInt32> = [0x4008_6602, 0x401c_5820]

    /// ioctl(2), as far as it concerns attributes of files; the kernel has checked the caller's rights.
    public func control(
        node id: UInt64, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8] {
        let node = try node(id)
        guard let size = Self.fileFlagRequests[command], node.isRegular || node.isDirectory, input.count <= size,
            outputSize <= size
        else { throw .inappropriateIOCTLForDevice }
        var bytes = Array(input) + [UInt8](repeating: 0, count: size - input.count)
        try names.reading { () throws(Errno) in
            try preservingStamp(of: node.isRegular ? knownDocument(of: node) : nil, node) { () throws(Errno) in
                let file = try openOwn(node, flags: O_RDONLY | O_NONBLOCK)
                try Backing.check {
                    bytes.withUnsafeMutableBytes { linux_ioctl(file.raw, UInt(command), $0.baseAddress) }
                }
            }
        }
        // A setting request moves the change time, which the kernel may have kept; a notice of attributes waits for
        // nothing.
        if Self.settingRequests.contains(command) { serving.passthrough.kernel.side?.invalidate(node: id, data: false) }
        return Array(bytes.prefix(outputSize))
    }
}

extension AttributeEdit {
    fileprivate var changesMetadata: Bool {
        mode != nil || user != nil || group != nil || accessed != nil || modified != nil || dropsSetID
    }
}
