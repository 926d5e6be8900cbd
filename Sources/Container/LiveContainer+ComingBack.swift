// A name that was taken away a moment ago comes back: its document goes on under it (DESIGN 5.1).

import CLinux
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// A file is renamed to a name that was just taken away: a save of the document that had it.
    /// - Parameter moved: the document of the file.
    /// - Returns: nil if the file has the name, but that document cannot have it back.
    /// - Throws: if the file has its old name still, and the other document may come back yet.
    func comeBack(
        _ names: borrowing NamesHeldAlone,
        _ move: Move, _ marked: Marked, _ tombstone: Tombstone, _ moved: Document?, _ requester: Requester
    ) throws(Errno) -> SavedByRename? {
        var isMoved = false
        do throws(Errno) {
            try Backing.rename(move)
            isMoved = true
            guard try bringBack(names, tombstone, to: move.newPlace, in: move.newParent, requester) else { return nil }
        } catch {
            tombstones.leave(tombstone, at: move.newPlace)
            if isMoved, (try? undo(names, move, moved)) == nil { return nil }
            throw error
        }
        return try tombstone.document.state.withLock { state throws(Errno) in
            try takeOver(names, &state, tombstone.document, move, marked, requester)
        }
    }

    /// The file gets its old name again.
    private func undo(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ document: Document?
    ) throws(Errno) {
        var source = move.source
        (source.name, source.directory) = (move.newName, move.newDirectory)
        let back = Move(
            source: source, newParent: move.source.parent, newName: move.source.name,
            newDirectory: move.source.directory, flags: linux_RENAME_NOREPLACE)
        try preservingStamp(of: document, at: back) { () throws(Errno) in try Backing.rename(back) }
    }

    /// Whether there is still something that could come back to the name.
    func canComeBack(_ tombstone: Tombstone) -> Bool {
        let (isSaved, isThere) = tombstone.document.state.withLock { state in
            (state.current != nil, !state.places.isEmpty || state.isAbsorbed || tombstone.deletion != nil)
        }
        return isSaved && (isThere || tombstones.holdsDeletion(of: tombstone.document))
    }

    /// A name came back: its document goes on under it (DESIGN 5.1). The version that was current is kept, and stays
    /// current until the new file is saved.
    /// - Throws: before anything has happened that shows; the tombstone is valid still.
    func bringBack(
        _ names: borrowing NamesHeldAlone,
        _ tombstone: Tombstone, to place: Place, in parent: Node, _ requester: Requester
    ) throws(Errno) -> Bool {
        let document = tombstone.document
        let isBack = try document.state.withLock { state throws(Errno) in
            guard let current = state.current else { return false }
            // A failure after this would leave half of it done.
            try find(names, [place] + state.places)
            var rows: [VersionStore.Mutation] = []
            var parting: Parting?
            // Where it is by now: it may have been moved on, or deleted under its other name.
            if !state.places.isEmpty {
                let parted = try part(names, &state, at: state.places)
                (parting, rows) = (parted, parted.rows)
            } else if let deletion = tombstone.deletion ?? tombstones.deletion(of: document) {
                var version = current
                version.kind = .history
                let label = ContentStore.Label(
                    version: version, path: path(of: place.name, in: parent), place: place)
                try keep(deletion, of: document, &state, label)
                rows = [.removeDeletion(deletion)]
            } else if state.isAbsorbed {
                // While it had no name, its content may have been found to be another's.
                if var recorded = try? store.version(current.id) {
                    recorded.kind = .current
                    state.current = recorded
                }
                rows = [.kind(current.id, .current)]
            } else {
                return false
            }
            state.places = [place]
            state.isReturning = true
            state.isBackUntold = true
            state.isAbsorbed = false
            state.stamp = nil
            // Its maker under the name that it had meanwhile, a backup perhaps, is the other document's now.
            state.maker = nil
            if tombstone.actor == requester.actor?.ref, tombstone.deletion != nil {
                // A program that unlinks a name before creating it works without a base (DESIGN 5.2).
                observers.forgetBase(of: state.item, requester.actor)
            }
            if !state.isRecorded {
                state.isRecorded = true
                rows.insert(.version(state.current ?? current), at: 0)
            }
            let file = Item.LiveFile(id: FileID(0), size: 0, modified: Timestamp(nanoseconds: 0))
            rows.append(.item(Item(id: state.item, places: [place], current: current.id, file: file)))
            record(parent, rows)
            if let parting { try settle(names, parting) }
            return true
        }
        guard isBack else { return false }
        tombstones.forget(document)
        try store(throwing: .ioError) { () throws(StoreError) in try documents.insert(names, document, at: place) }
        if coordinator.isInUse, let path = nodes.path(parent)?.appending(place.name) {
            coordinator.returned(document.item, to: path)
        }
        return true
    }
}
