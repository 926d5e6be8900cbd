// fsync(2): the content becomes durable together with the record of which version it is (DESIGN 9).

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    public func synchronize(node id: UInt64, handle: UInt64, dataOnly: Bool) throws(Errno) {
        let descriptor = try descriptor(id, handle)
        let isLabelled = nodes[id].map { label($0, descriptor) } ?? false
        // What is kept of the content before lies in the same journal: fsync, not fdatasync, makes that durable too,
        // before what was overwritten can be.
        try store.contents.synchronizing { () throws(Errno) in
            _ = try Backing.check { dataOnly && !isLabelled ? fdatasync(descriptor.raw) : fsync(descriptor.raw) }
        }
    }

    /// Records what a file holds as a version and has the file say so itself: after a crash this is no unfinished save,
    /// even if the catalog's end was lost.
    private func label(_ node: Node, _ descriptor: SharedDescriptor) -> Bool {
        guard node.isRegular, !node.isForeign, let name = nodes.location(node).name, let document = knownDocument(of: node)
        else { return false }
        guard let writer = openFiles.all.first(where: { $0.node === node && $0.isWritable }) else { return false }
        let (isReplacing, saved) = writer.state.withLock { ($0.isReplacing, $0.saved) }
        do {
            return try document.state.withLock { state throws(Errno) in
                guard !state.isUnversioned else { return false }
                if !isReplacing {
                    // What is written in place is set aside after a crash only where the version before it was kept. A
                    // database is left alone then; it is synchronised too often to be labelled (DESIGN 5.1: captured
                    // when quiet).
                    guard state.isKept || saved != nil && saved == state.current?.id,
                        !isDatabase(name.name, descriptor)
                    else { return false }
                }
                try saveForLabel(&state, node, name, descriptor)
                guard let current = state.current, state.isRecorded, let stamp = state.stamp, state.labelled != stamp
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
        } catch {
            logger.error("a synchronised file could not be recorded: \(error)", metadata: ["file": "\(name.name)"])
            return false
        }
    }

    private func saveForLabel(
        _ state: inout Document.State, _ node: Node, _ name: Node.Name, _ descriptor: SharedDescriptor
    ) throws(Errno) {
        let stat = try Backing.stat(descriptor.raw)
        guard state.current == nil || state.isReturning || state.differs(from: stat) else { return }
        let writer = openFiles.all.first { $0.node === node && $0.isWritable }
        let isReplacing = writer?.state.withLock(\.isReplacing) ?? false
        let isAppend = writer.map { $0.isAppending && !isReplacing } ?? false
        let saved = try save(
            &state, node, in: name.parent, name.name, file: descriptor.raw,
            PendingSave(
                kind: isReplacing ? .replacing : .appendOrInPlace, isAppend: isAppend, requester: writer?.requester,
                amends: writer?.state.withLock(\.saved)))
        writer?.state.withLock { $0.saved = saved }
    }

    private func isDatabase(_ name: FileName, _ file: SharedDescriptor) -> Bool {
        var header = [UInt8](repeating: 0, count: Databases.headerLength)
        let count = pread(file.raw, &header, header.count, 0)
        return Databases.isDatabase(name, header: Array(header.prefix(max(0, count))))
    }

    /// The label has changed the file's `st_ctim`; a write at the same moment must not hide behind that.
    private func noteLabel(_ state: inout Document.State, _ before: Stamp, _ stat: FileStat) {
        let after = Stamp(stat)
        guard after.size == before.size, after.modified == before.modified else { return }
        state.stamp = after
        state.labelled = after
    }
}
