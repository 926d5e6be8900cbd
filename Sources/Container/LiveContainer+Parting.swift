// Names that part from a document: its file becomes a document of its own under them.

import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// A document that a file becomes under its other names.
    struct Parting {
        let document: Document
        let places: [Place]
        /// For the transaction that gives the old item its own place: without that it would have none.
        var rows: [VersionStore.Mutation] = []
    }

    /// The document's file lives on under other names: there it becomes an item of its own, whose first version has the
    /// same content and names the old one as its parent. It has no names yet. Once its rows are committed, and before
    /// the old document is unlocked, it gets them (``settle(_:_:)``): the rows would undo an earlier save in it.
    func part(
        _ names: borrowing NamesHeldAlone, _ state: inout Document.State, at others: [Place]
    ) throws(Errno) -> Parting {
        try leaveUnfinished(&state, at: others)
        var new = Document.State(item: .random(), places: others)
        new.isVerified = true
        new.maker = state.maker
        guard let current = state.current else {
            // It was never saved under any of its names: a program that has it open saves the other document.
            (new.created, new.isUnversioned) = (state.created, state.isUnversioned)
            return Parting(document: Document(new), places: others)
        }
        if state.isReturning {
            // It came back with a file that was not saved yet: the current version is not in that.
            // Its name was told with the rename.
            (new.origin, new.isMarked) = (current.id, state.isMarked)
            return Parting(document: Document(new), places: others)
        }
        new.stamp = state.stamp
        new.sharesContent = true
        state.hasParted = true
        state.standIn = nil
        new.isParted = true
        new.isKept = state.isKept
        // A program that is appending appends to the file, which is the other document's now.
        new.isAppendedTo = state.isAppendedTo
        state.isAppendedTo = false
        var first = current
        first.id = .random()
        first.item = new.item
        first.parents = [current.id]
        first.base = nil
        first.kind = .current
        if current.parents.isEmpty, isOfTheMoment(current) {
            state.standIn = Document.StandIn(item: new.item, first: current.id, copy: first.id)
        }
        // Recorded at once: the older version's content is found through it.
        (new.current, new.isRecorded) = (first, true)
        let file = Item.LiveFile(
            id: FileID(0), size: first.size, modified: first.modified)
        return Parting(
            document: Document(new), places: others,
            rows: [.version(first), .item(Item(id: first.item, places: others, current: first.id, file: file))])
    }

    /// Gives a document that has parted the names that it has now. Called with the old document's lock still held.
    func settle(_ names: borrowing NamesHeldAlone, _ parting: Parting) throws(Errno) {
        for place in parting.places {
            try store(throwing: .ioError) { () throws(StoreError) in
                try documents.insert(names, parting.document, at: place)
            }
        }
    }

    /// Names that have parted from a document in the catalog, before the system call that is the reason.
    struct PartedNames {
        let parting: Parting
        /// The document as it was.
        let whole: Document.State
    }

    /// Other names of a document part from it, because another file is about to take this one. Their rows are committed
    /// before that: a kill in between leaves two documents with one file, and a kill after it would leave one document
    /// with two files. Followed by ``settle(_:_:)`` or ``undoParting(_:of:as:)``, before the document is unlocked.
    /// - Returns: nil if there are no other names.
    func partNames(
        _ names: borrowing NamesHeldAlone, _ state: inout Document.State, besides place: Place
    ) throws(Errno) -> PartedNames? {
        let others = state.places.filter { $0 != place }
        guard !others.isEmpty else { return nil }
        try find(names, others)
        try leaveUnfinished(&state, at: others)
        let whole = state
        let parting = try part(names, &state, at: others)
        store.commit(parting.rows)
        state.places = [place]
        return PartedNames(parting: parting, whole: whole)
    }

    /// The names have not parted after all: the system call has failed.
    /// - Parameter stat: the document's file.
    func undoParting(_ parted: PartedNames?, of state: inout Document.State, as stat: FileStat) {
        guard let parted else { return }
        state = parted.whole
        guard !parted.parting.rows.isEmpty else { return }
        store.commit([.forgetItem(parted.parting.document.item)] + itemRows(state, stat))
    }

    /// Has the index read the directories of places: nothing there can fail any more until the names are let go.
    func find(_ names: borrowing NamesHeldAlone, _ places: [Place]) throws(Errno) {
        try store(throwing: .ioError) { () throws(StoreError) in
            for place in places { _ = try documents.document(at: place) }
        }
    }
}
