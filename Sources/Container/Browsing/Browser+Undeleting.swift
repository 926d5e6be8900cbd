// Bringing deleted things back: the entry itself, and what was deleted from it together with it (DESIGN 3.2).

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension Browser {
    /// Moves an entry of the deleted area to a name that is free. A directory comes with its last group.
    func undelete(_ id: DeletionID, to name: Node.Name, _ requester: Requester) throws(Errno) {
        // The kernel holds the directory that the entry goes to, and knows what it renames there; of the rest it is
        // told when nothing is locked any more.
        let restored = try container.names.writing { () throws(Errno) in
            guard let deletion = try query({ store throws(StoreError) in try store.deletion(id) }) else {
                throw .noSuchFileOrDirectory
            }
            let directory = try container.descriptor(of: name.parent)
            var revival = Revival(browser: self, requester: requester)
            try revival.bring(
                deletion, to: Spot(name: name.name, directory: name.parent.file, descriptor: directory),
                parent: name.parent, path: container.path(of: name.name, in: name.parent))
            container.record(name.parent, revival.rows)
            return revival.restored
        }
        deletionListings.clear()
        guard let side = container.kernel.side else { return }
        for entry in restored { side.invalidate(entry: entry.name.bytes, in: entry.parent) }
        for node in Set(restored.map(\.parent)) { side.invalidate(node: node, data: true) }
    }

    /// A free name in a directory that is there, or was just brought back.
    private struct Spot {
        var name: FileName
        var directory: FileID
        var descriptor: SharedDescriptor

        var place: Place { Place(directory: directory, name: name) }
    }

    /// One undelete with the rows it leads to. Works with the name lock held for writing.
    private struct Revival {
        let browser: Browser
        let requester: Requester
        var rows: [VersionStore.Mutation] = []
        /// What came back in directories of which the kernel may remember that it was gone.
        var restored: [(parent: UInt64, name: FileName)] = []

        var container: LiveContainer { browser.container }
        var store: VersionStore { browser.store }

        /// - Parameter parent: the node of the directory that `spot` is in; nil if the kernel has none of it.
        mutating func bring(_ deletion: Deletion, to spot: Spot, parent: Node?, path: TreePath) throws(Errno) {
            let deletion = try container.takeOut(deletion.id, to: spot.name, in: spot.descriptor)
            rows.append(.removeDeletion(deletion.id))
            let stat = try Backing.stat(spot.name.bytes, in: spot.descriptor.raw)
            let node = container.nodes.node(stat.key)
            if let node, let parent = parent ?? parentNode(of: spot) {
                container.nodes.addName(Node.Name(parent: parent, name: spot.name), to: node)
                _ = container.orphans.take(node)
            }
            let tombstone = takeTombstone(of: deletion)
            _ = container.tombstones.take(at: spot.place, now: container.now) { _ in false }
            if deletion.type == .link, let node {
                rows += try container.joinName(deletion, spot.place, node, stat)
            } else if stat.isRegular, let item = deletion.item {
                try revive(item, tombstone?.document, at: spot.place, stat)
            } else if stat.isDirectory {
                rows += container.recordedDirectories.moved(deletion.file, to: spot.place)
                try fill(deletion, spot, node, path)
            }
            rows.append(
                .change(
                    Change(
                        event: .undeleted, path: path, from: path == deletion.path ? nil : deletion.path,
                        item: deletion.item, time: container.now, author: requester.author)))
        }

        /// The node of the directory that a spot is in, where the caller has none at hand.
        private func parentNode(of spot: Spot) -> Node? {
            guard let stat = try? Backing.stat(spot.descriptor.raw) else { return nil }
            return container.nodes.node(stat.key)
        }

        /// A tombstone would have the next file of that name take over what is not in the deleted area any more.
        private func takeTombstone(of deletion: Deletion) -> Tombstone? {
            let known = container.tombstones.take(at: deletion.place, now: container.now, isOpen: { _ in true })
            guard let tombstone = known else { return nil }
            if case .deleted(let id) = tombstone.destination, id == deletion.id { return tombstone }
            container.tombstones.leave(tombstone, at: deletion.place)
            return nil
        }

        /// The item lives again; unless it came back in another way meanwhile.
        private mutating func revive(
            _ id: ItemID, _ known: Document?, at place: Place, _ stat: FileStat
        ) throws(Errno) {
            let document: Document
            if let known {
                guard known.state.withLock({ $0.places.isEmpty && $0.item == id }) else { return }
                document = known
            } else {
                // What was never recorded has identities that derive from the file, and needs nothing.
                guard let item = try browser.query({ store throws(StoreError) in try store.item(id) }),
                    item.places.isEmpty,
                    let current = try browser.query({ store throws(StoreError) in try store.version(item.current) })
                else { return }
                let sharing = try browser.query { store throws(StoreError) in
                    try store.versions(sharing: current.content)
                }
                document = Document(item: item, current: current, sharesContent: sharing.contains { $0.item != id })
            }
            rows += document.state.withLock { state in
                state.places = [place]
                // Compared with what is recorded when it is next touched.
                state.isVerified = false
                document.wasVerified.store(false, ordering: .releasing)
                state.isReturning = false
                return container.itemRows(state, stat)
            }
            try container.store(throwing: .ioError) { () throws(StoreError) in
                try container.documents.insert(document, at: place)
            }
        }

        /// Brings back what was deleted from a directory in the same group, and the times it had before.
        private mutating func fill(_ deletion: Deletion, _ spot: Spot, _ node: Node?, _ path: TreePath) throws(Errno) {
            let all = try browser.query { store throws(StoreError) in try store.deletions(in: deletion.file) }
            let group = all.filter { $0.group == deletion.group }
            guard let first = group.last else { return }
            let inner = SharedDescriptor(
                try CText.lend(spot.name.bytes) { name throws(Errno) in
                    try Backing.check { linuxOpenDirectory(spot.descriptor.raw, name) }
                })
            for child in group {
                let place = Spot(name: child.place.name, directory: deletion.file, descriptor: inner)
                do throws(Errno) {
                    try bring(child, to: place, parent: node, path: path.appending(child.place.name))
                    if let node { restored.append((node.id, child.place.name)) }
                } catch {
                    // An older one of a name that is back already, or an entry that is lost: it stays where it is.
                    container.logger.info("not undeleted with its directory: \(child.path): \(error)")
                }
            }
            try Backing.setTimes(
                spot.name.bytes, in: spot.descriptor.raw, accessed: first.parentAccessed.timespec,
                modified: first.parentModified.timespec)
        }
    }
}
