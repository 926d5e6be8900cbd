// Two names that change places: RENAME_EXCHANGE (DESIGN 5.1).

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Each name keeps its item and gets the other's content as a new version. The other names of a file part from it,
    /// as they do when another file is renamed over one of them.
    func exchange(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry, _ requester: Requester
    ) throws(Errno) {
        guard move.source.stat.isRegular, target.stat.isRegular else {
            return try exchangeOther(names, move, target, requester)
        }
        let first = try moved(move)
        let second = try moved(
            Move(
                source: target, newParent: move.source.parent, newName: move.source.name,
                newDirectory: move.source.directory, flags: 0))
        guard let first, let second, first !== second, move.source.stat.key != target.stat.key else {
            return try Backing.rename(move)
        }
        try refuseAwayIfStale(move.source, as: move.newName, first, requester)
        try refuseAwayIfStale(target, as: move.source.name, second, requester)
        try keep(first, move.source)
        try keep(second, target)
        // A close must not find the one under its new name without the other, nor take for its own what is not saved
        // yet. (Two documents at once: only with the name lock held alone.)
        try first.state.withLock { one throws(Errno) in
            try second.state.withLock { other throws(Errno) in
                try parting(names, &one, move.source) { () throws(Errno) in
                    try parting(names, &other, target) { () throws(Errno) in try Backing.rename(move) }
                }
                moveNodes(names, move, target)
                try savedByExchange(&one, move.source, requester)
                try savedByExchange(&other, target, requester)
            }
        }
        // Saved where they are, they are at home there: what comes to a name they had before is something else.
        tombstones.forget(first)
        tombstones.forget(second)
    }

    private func keep(_ document: Document, _ entry: Entry) throws(Errno) {
        let file = try Backing.openQuietly(entry.name.bytes, in: entry.directory.raw, entry.stat.key)
        defer { Glibc.close(file) }
        let node = entry.node ?? intern(entry.stat, as: Node.Name(parent: entry.parent, name: entry.name), lookups: 0)
        defer { if entry.node == nil { _ = nodes.forget(node.id, lookups: 0) } }
        try document.state.withLock { state throws(Errno) in
            captureBeforeLoss(&state, node, entry.name, in: entry.parent)
            // The bytes of a save under way are no version yet.
            if state.current != nil, state.contentDiffers(from: try Backing.stat(file)) {
                try saveUnfinished(&state, node, file: file)
            }
            try keepCopy(&state, of: node, from: file)
        }
        // Under its new name it may be all that tells of this save, and not be on the disk itself.
        let size = try Backing.stat(file).size
        if size > 0 { _ = markWhole(file, size: size) }
    }

    /// Runs what takes a file from a name; its other names part from the document if it succeeds.
    private func parting(
        _ names: borrowing NamesHeldAlone,
        _ state: inout Document.State, _ entry: Entry, _ body: () throws(Errno) -> Void
    ) throws(Errno) {
        let parted = try partNames(names, &state, besides: entry.place)
        do throws(Errno) { try body() } catch {
            undoParting(parted, of: &state, as: entry.stat)
            throw error
        }
        if let parted { try settle(names, parted.parting) }
    }

    private func savedByExchange(
        _ state: inout Document.State, _ entry: Entry, _ requester: Requester
    ) throws(Errno) {
        let file = try Backing.openQuietly(entry.name.bytes, in: entry.directory.raw, nil)
        defer { Glibc.close(file) }
        let stat = try Backing.stat(file)
        let node = intern(stat, as: Node.Name(parent: entry.parent, name: entry.name), lookups: 0)
        state.stamp = nil
        try save(
            &state, node, in: entry.parent, entry.name, file: file,
            PendingSave(kind: .replacing, requester: requester, isSealed: true))
        // A writer that has it open from before goes on writing to it.
        // So does a save under a name that is another document's.
        if stat.links > 1 || node.writers.contains(where: { goesOnUnseen($0) }) {
            try keepCopy(&state, of: node, from: file, isDurable: stat.links > 1)
        }
    }

    private func exchangeOther(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry, _ requester: Requester
    ) throws(Errno) {
        try Backing.rename(move)
        moveNodes(names, move, target)
        var rows: [VersionStore.Mutation] = []
        if move.source.stat.isDirectory {
            rows += recordedDirectories.moved(fileID(move.source.stat), to: move.newPlace)
        }
        if target.stat.isDirectory { rows += recordedDirectories.moved(fileID(target.stat), to: move.source.place) }
        // One after the other: the old name is free then, until the other comes to it.
        var moved = change(
            .renamed, in: move.newParent, move.newName, from: (move.source.parent, move.source.name), by: requester)
        var other = change(.created, in: move.source.parent, move.source.name, by: requester)
        (moved.detail.isExchange, other.detail.isExchange) = (true, true)
        let events: [VersionStore.Mutation] = [.change(moved), .change(other)]
        guard let (document, old, new, stat) = try documentMoved(names, move, target) else {
            return record(move.newParent, rows + events)
        }
        document.state.withLock { state in
            state.places = state.places.map { $0 == old ? new : $0 }
            record(move.newParent, rows + itemRows(state, stat) + events)
        }
    }

    /// The document among two that change places and are not both documents, at its new place in the index.
    private func documentMoved(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry
    ) throws(Errno) -> (document: Document, old: Place, new: Place, stat: FileStat)? {
        try store(throwing: .ioError) { () throws(StoreError) in
            let (source, other) = (move.source.place, target.place)
            let (first, second) = (try documents.document(at: source), try documents.document(at: other))
            try documents.remove(names, at: source)
            try documents.remove(names, at: other)
            if let first {
                try documents.insert(names, first, at: other)
                return (first, source, other, move.source.stat)
            }
            guard let second else { return nil }
            try documents.insert(names, second, at: source)
            return (second, other, source, target.stat)
        }
    }

    private func moveNodes(_ names: borrowing NamesHeldAlone, _ move: Move, _ target: Entry) {
        moveNode(names, move)
        guard let node = target.node else { return }
        nodes.moveName(
            names, target.name, in: target.parent, of: node,
            to: Node.Name(parent: move.source.parent, name: move.source.name))
    }
}
