// Changing attributes: modes, owners, times, sizes, extended attributes.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// What a request changes of a file's attributes; nil leaves a field as it is.
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
        if let size = edit.size { try resize(caller, node, handle, to: size) }
        let document = node.isRegular ? knownDocument(of: node) : nil
        return try names.reading { () throws(Errno) in
            if edit.changesMetadata {
                try preservingStamp(of: document, node, handle: handle) { () throws(Errno) in
                    try apply(edit, to: node, handle)
                }
                if let document, edit.modified != nil { noteTimes(document, node, handle) }
            }
            return attributes(try statLocked(node, handle: handle), of: node)
        }
    }

    private func apply(_ edit: AttributeEdit, to node: Node, _ handle: UInt64?) throws(Errno) {
        let place = try editable(node, handle)
        if edit.user != nil || edit.group != nil {
            try Backing.chown(place.path, in: place.directory.raw, user: edit.user ?? .max, group: edit.group ?? .max)
        }
        if let mode = edit.mode {
            try Backing.chmod(place.path, in: place.directory.raw, mode: mode & 0o7777)
        } else if edit.dropsSetID {
            let stat = try Backing.stat(place.path, in: place.directory.raw)
            let kept = SetIDRule.afterChange(stat.permissions)
            if kept != stat.permissions, node.isRegular {
                try Backing.chmod(place.path, in: place.directory.raw, mode: mode_t(kept))
            }
        }
        if edit.accessed != nil || edit.modified != nil {
            let omit = timespec(tv_sec: 0, tv_nsec: Int(linux_UTIME_OMIT))
            try Backing.setTimes(
                place.path, in: place.directory.raw, accessed: edit.accessed ?? omit, modified: edit.modified ?? omit)
        }
    }

    /// A location for calls that take a path; a file without a name is reached through who has it open.
    private func editable(_ node: Node, _ handle: UInt64?) throws(Errno) -> Location {
        if case .gone = nodes.location(node).whereabouts, node.id != Node.rootID {
            guard let file = handle.flatMap({ openFiles[$0] }) ?? openFiles.all.first(where: { $0.node === node }) else {
                throw .noSuchFileOrDirectory
            }
            return Location(directory: file.descriptor, path: Array("/proc/self/fd/\(file.descriptor.raw)".utf8))
        }
        return try location(of: node)
    }

    private func noteTimes(_ document: Document, _ node: Node, _ handle: UInt64?) {
        guard let stat = try? statLocked(node, handle: handle) else { return }
        let rows: [VersionStore.Mutation] = document.state.withLock { state in
            state.differs(from: stat) ? [] : itemRows(state, stat)
        }
        if !rows.isEmpty { store.commit(rows) }
    }

    private func openForTruncation(_ node: Node) throws(Errno) -> SharedDescriptor {
        try names.reading { () throws(Errno) in
            let place = try location(of: node)
            return SharedDescriptor(try Backing.open(place.path, in: place.directory.raw, flags: O_RDWR | O_NOFOLLOW))
        }
    }

    /// truncate(2) and ftruncate(2).
    private func resize(_ caller: Caller, _ node: Node, _ handle: UInt64?, to size: off_t) throws(Errno) {
        guard node.isRegular else { throw .invalidArgument }
        let open = handle.flatMap { openFiles[$0] }
        let descriptor: SharedDescriptor
        if let open { descriptor = open.descriptor } else { descriptor = try openForTruncation(node) }
        guard case .live = nodes.location(node).whereabouts, !node.isForeign,
            let name = nodes.location(node).name
        else {
            return _ = try Backing.check { ftruncate(descriptor.raw, size) }
        }
        let document = try document(of: node, try Backing.stat(descriptor.raw))
        try document.state.withLock { state throws(Errno) in
            let stat = try Backing.stat(descriptor.raw)
            guard stat.size != UInt64(size) else { return }
            if open == nil { try refuseIfStale(&state, name.parent, name.name, requester(caller)) }
            let isOwnSave = open?.state.withLock { $0.saved != nil && $0.saved == state.current?.id } ?? false
            if !state.differs(from: stat), !isOwnSave { try keepCopy(&state, of: node, from: descriptor.raw) }
            try Backing.check { ftruncate(descriptor.raw, size) }
            if let open {
                if size == 0 {
                    open.state.withLock { $0.isReplacing = true }
                    if let claim = open.claim { arbiter.truncated(claim, state.item, open.requester.actor) }
                }
            } else {
                // Nothing will be closed: the truncation is a save of its own.
                try save(
                    &state, node, in: name.parent, name.name, file: descriptor.raw,
                    PendingSave(kind: .appendOrInPlace, requester: requester(caller), isSealed: true))
            }
        }
    }
}

extension AttributeEdit {
    fileprivate var changesMetadata: Bool {
        mode != nil || user != nil || group != nil || accessed != nil || modified != nil || dropsSetID
    }
}

/// Which permission bits survive a change by somebody who may not keep set-id bits.
enum SetIDRule {
    /// The set-user-id bit goes; the set-group-id bit goes where the group may execute (elsewhere it means locking).
    static func afterChange(_ mode: UInt32) -> UInt32 {
        var mode = mode & ~UInt32(S_ISUID)
        if mode & UInt32(S_IXGRP) != 0 { mode &= ~UInt32(S_ISGID) }
        return mode
    }
}
