// Translates the container's values to the driver's, and back.

import CFuse3
import Container
import FUSE
import Glibc
import SystemPackage

extension FUSE.Caller {
    var inContainer: Container.Caller {
        Container.Caller(user: user, group: group, thread: thread, umask: umask, dropsSetID: dropsSetID)
    }
}

extension NodeAttributes {
    init(_ attributes: FileAttributes) {
        self.init(stat: attributes.stat, valid: attributes.valid, born: attributes.born)
    }
}

extension Entry {
    init(_ found: Found) {
        self.init(
            node: found.node, generation: 0, attributes: NodeAttributes(found.attributes), entryValid: found.nameValid)
    }

    /// A missing name, which the kernel may cache for so many seconds.
    init(missingFor seconds: Double) {
        self.init(
            node: 0, generation: 0, attributes: NodeAttributes(stat: stat(), valid: 0), entryValid: seconds)
    }

    /// `.` and `..`: a listing with attributes names them without a lookup.
    init(dots item: ListedEntry) {
        var attributes = stat()
        attributes.st_ino = ino_t(item.inode)
        attributes.st_mode = item.type
        self.init(node: 0, generation: 0, attributes: NodeAttributes(stat: attributes, valid: 0), entryValid: 0)
    }
}

extension Opened {
    init(_ reply: OpenReply) {
        var flags: OpenFlags = []
        if reply.backing != 0 {
            flags.insert(.passthrough)
            if reply.isMediated { flags.insert(.directIO) }
        } else if reply.keepsCache {
            flags.insert(.keepCache)
        }
        if reply.needsNoFlush { flags.insert(.noFlush) }
        self.init(handle: reply.handle, flags: flags, backing: reply.backing)
    }
}

extension Created {
    init(_ creation: Creation) {
        self.init(entry: Entry(creation.found), opened: Opened(creation.reply))
    }
}

extension CopyEnd {
    init(_ range: FileRange) { self.init(node: range.node, handle: range.handle, offset: range.offset) }
}

extension AttributeEdit {
    init(_ change: AttributeChange) {
        self.init()
        mode = change.mode
        user = change.user
        group = change.group
        size = change.size
        accessed = change.accessed.map(\.timespec)
        modified = change.modified.map(\.timespec)
        dropsSetID = change.dropsSetID
    }
}

extension AttributeChange.Time {
    fileprivate var timespec: timespec {
        switch self {
        case .now: LiveContainer.timeNow
        case .at(let time): time
        }
    }
}
