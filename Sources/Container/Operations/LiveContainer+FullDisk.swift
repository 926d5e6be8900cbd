// A full file system: what is done again once there is room, and what goes for good where there is none (DESIGN 7).

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// On a full file system, a truncation discards a content that cannot be copied, as the newest one that may go:
    /// otherwise no program could make room by a truncation. Pinned versions, and versions that may have to stay as
    /// losers of a conflict, are not discarded.
    func discardForTruncation(
        _ state: inout Document.State, of node: Node, by requester: Requester?, _ failure: Errno
    ) throws(Errno) {
        guard failure.isFull, let current = state.current, !current.flags.contains(.pinned),
            !state.sharesContent
        else { throw failure }
        if let actor = requester?.actor, let base = observers.base(of: actor, item: state.item), base != current.id,
            let name = nodes.location(node).name, !isQuiet(name.parent, name.name)
        {
            throw failure
        }
        state.current?.flags.insert(.contentLost)
        space.noteLoss(bytes: current.size)
    }

    /// Removes a name's file without the deleted area, where that has no room even for the record: there it
    /// would be the first to be given up. With it goes the history of a document that is nowhere else.
    func removeForGood(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ document: Document?, _ requester: Requester,
        _ failure: Errno
    ) throws(Errno) {
        guard failure.isFull, requester.isProgram else { throw failure }
        if let document {
            // Looked at before the lock was taken, so that little is waited for now; since then something may have been
            // pinned, or become a conflict.
            guard entry.unprotected == document.item, isUnprotected(document.item),
                !document.state.withLock(\.sharesContent)
            else { throw failure }
        }
        try Backing.unlink(
            entry.name.bytes, in: entry.directory.raw, flags: entry.stat.isDirectory ? AT_REMOVEDIR : 0)
        leave(names, entry, now: .gone)
        // A descriptor of our own would keep its room.
        purgeables.closeRemoved()
        space.noteLoss(bytes: UInt64(entry.stat.raw.blocks) * 512)
        var rows: [VersionStore.Mutation] = []
        if let document {
            try store(throwing: .ioError) { () throws(StoreError) in try documents.remove(names, at: entry.place) }
            rows = document.state.withLock { state in
                state.places.removeAll { $0 == entry.place }
                return announcement(&state, in: entry.parent, entry.name, by: requester)
            }
        }
        record(
            entry.parent,
            rows + [.change(change(.deleted, in: entry.parent, entry.name, item: document?.item, by: requester))])
        document?.state.withLock { forget($0) }
    }

    /// The item of a name if it may go with all its history, for want of space: nothing of it is pinned or in conflict.
    /// Called with no lock held, because the catalog is asked.
    func unprotectedItem(at place: Place) -> ItemID? {
        guard let document = try? documents.document(at: place), isUnprotected(document.item) else { return nil }
        return document.item
    }

    private func isUnprotected(_ item: ItemID) -> Bool {
        guard let versions = try? store.versions(of: item) else { return false }
        return versions.allSatisfy { $0.kind != .conflict && !$0.flags.contains(.pinned) }
    }

    // MARK: fallocate(2)

    /// Makes room for an allocation, or refuses one that cannot succeed.
    /// - Returns: the bytes that it needs beyond what the file has.
    func requireRoom(_ file: OpenFile, mode: Int32, offset: off_t, length: off_t) throws(Errno) -> UInt64 {
        let lacking = Allocation.lacking(file.descriptor.raw, mode: mode, offset: offset, length: length)
        // Of another file system nothing is ours.
        guard lacking > 0, !file.node.isForeign else { return lacking }
        try space.requireRoom(lacking, sizeToKeep: sizeToKeep(file))
        return lacking
    }

    /// The size of the content that is copied before the file changes.
    private func sizeToKeep(_ file: OpenFile) -> UInt64 {
        guard !store.contents.canReflink, let document = knownDocument(of: file.node) else { return 0 }
        return document.state.withLock { state in
            guard !state.isKept, !state.isReturning, !state.isUnversioned, let size = state.current?.size,
                size <= settings.maxFile
            else { return 0 }
            return size
        }
    }
}
