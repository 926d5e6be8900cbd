// Saves whose program goes on writing through the same open while another one moves or replaces the file.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Handles a rename or removal while the author of the current version continues to write its file: the version is
    /// the content so far, without later writes.
    /// - Returns: the file as of that save; nil if no program continues.
    func amendUnfinished(
        _ state: inout Document.State, _ node: Node, _ name: FileName, in directory: SharedDescriptor, parent: Node
    ) throws(Errno) -> FileStat? {
        guard let own = state.current?.id, !state.isKept, !state.isReturning,
            // Another writer's appends are not theirs: the version is still the beginning.
            let writer = node.writers.first(where: {
                $0.state.withLock(\.saved) == own && (!state.isAppendedTo || $0.isAppending)
            })
        else { return nil }
        let file = try Backing.openQuietly(name.bytes, in: directory.raw, nodes.key(of: node))
        defer { Glibc.close(file) }
        let stat = try Backing.stat(file)
        if state.differs(from: stat) {
            try save(
                &state, node, in: parent, name, file: file,
                PendingSave(kind: .replacing, requester: writer.requester, amends: own), stat: stat)
        }
        return stat
    }

    /// The same when the document is about to leave its file under another name: later unseen writes to the file do not
    /// go into this document's version.
    func leaveUnfinished(_ state: inout Document.State, at others: [Place]) throws(Errno) {
        guard let key = state.stamp?.file, let node = nodes.node(key), node.hasWriters,
            let name = nodes.location(node).name, others.contains(name.place)
        else { return }
        let directory = try descriptor(of: name.parent)
        _ = try amendUnfinished(&state, node, name.name, in: directory, parent: name.parent)
        guard node.writers.contains(where: { goesOnUnseen($0) }) else { return }
        let file = try Backing.openQuietly(name.name.bytes, in: directory.raw, key)
        defer { Glibc.close(file) }
        if !state.contentDiffers(from: try Backing.stat(file)) { try keepCopy(&state, of: node, from: file) }
    }
}
