// fsync(2): the content becomes durable together with the record of its version (DESIGN 9).

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    public func synchronize(node id: UInt64, handle: UInt64, dataOnly: Bool) throws(Errno) {
        let descriptor = try descriptor(id, handle)
        let isLabeled = nodes[id].map { label($0, handle, descriptor) } ?? false
        // The kept former content is in the same journal: fsync, not fdatasync, makes that durable too, and before the
        // overwritten data.
        try store.contents.synchronizing { () throws(Errno) in
            _ = try Backing.check { dataOnly && !isLabeled ? fdatasync(descriptor.raw) : fsync(descriptor.raw) }
        }
    }

    /// Records a file's content as a version and labels the file with it: after a crash this is no unfinished save,
    /// even if the catalog's end was lost.
    private func label(_ node: Node, _ handle: UInt64, _ descriptor: SharedDescriptor) -> Bool {
        guard node.isRegular, !node.isForeign, let writer = writer(of: node, handle) else { return false }
        let isReplacing = writer.state.withLock(\.isReplacing)
        do {
            let isLabeled = try withLiveDocument(of: node) { (state, _, name) throws(Errno) -> Bool in
                guard !state.isUnversioned, !state.isUnannounced else { return false }
                // A database is left alone after a crash, and synchronizes too often (DESIGN 5.1: captured when quiet).
                let isInPlace = !isReplacing || writer.flags & (O_ACCMODE | O_TRUNC) == O_RDWR
                if isInPlace, DatabaseRule.isDatabase(name.name, file: descriptor.raw) { return false }
                try saveForLabel(&state, node, name, writer)
                guard let current = state.current, state.isRecorded, let stamp = state.stamp, state.labeled != stamp
                else { return state.isRecorded }
                let label = ContentStore.Label(
                    version: current, path: path(of: name.name, in: name.parent),
                    place: Place(directory: name.parent.file, name: name.name))
                guard store.contents.label(live: FileDescriptor(rawValue: descriptor.raw), label) else {
                    // Without a label the catalog has to know it.
                    store.flush()
                    return false
                }
                noteLabel(&state, stamp, try Backing.stat(descriptor.raw))
                return true
            }
            return isLabeled ?? false
        } catch {
            logger.error(
                "a synchronized file could not be recorded: \(error)",
                metadata: ["file": "\(nodes.path(node) ?? .root)"])
            return false
        }
    }

    /// The writer whose changes are synchronized: the handle's, or any other one. An empty file is a save of the handle
    /// that has emptied it, whose program may be a rival.
    private func writer(of node: Node, _ handle: UInt64) -> OpenFile? {
        let file = serving.files[handle].flatMap { $0.isWritable ? $0 : nil } ?? node.writers.first
        guard let file, (try? Backing.stat(file.descriptor.raw))?.size == 0 else { return file }
        return file.state.withLock(\.hasEmptied) ? file : emptier(of: node, besides: file) ?? file
    }

    private func saveForLabel(
        _ state: inout Document.State, _ node: Node, _ name: Node.Name, _ writer: OpenFile
    ) throws(Errno) {
        let stat = try Backing.stat(writer.descriptor.raw)
        guard state.current == nil || state.isReturning || state.differs(from: stat) else { return }
        let isReplacing = writer.state.withLock(\.isReplacing)
        let saved = try save(
            &state, node, in: name.parent, name.name, file: writer.descriptor.raw,
            PendingSave(
                kind: isReplacing ? .replacing : .appendOrInPlace, isAppend: writer.isAppending && !isReplacing,
                requester: writer.requester, amends: writer.state.withLock(\.saved)))
        writer.state.withLock { $0.saved = saved }
    }

    /// The label has changed the file's `st_ctim`; a write at the same moment must still be noticed.
    private func noteLabel(_ state: inout Document.State, _ before: Stamp, _ stat: FileStat) {
        let after = Stamp(stat)
        guard after.size == before.size, after.modified == before.modified else { return }
        state.stamp = after
        state.labeled = after
    }
}
