// Finds documents by their places, reads the catalog one directory at a time, and removes unused documents.

import Synchronization
import VersionModel
import VersionStore

/// The used or recorded documents, by directory and name. It is the only writer of items' places, so its memory matches
/// the catalog. Lock order: after documents; the catalog is read without its lock.
///
/// When there are too many, unused documents are removed (``removeUnused(in:now:evenUsed:written:keepsSaver:)``): a
/// directory with recorded ones counts as unread again, and the others can be derived from their files.
final class DocumentIndex: Sendable {
    fileprivate struct State {
        var directories: [FileID: [FileName: Document]] = [:]
        /// Directories with catalog rows of which some or all are not in `directories`.
        var unread: Set<FileID>
        var count = 0
        /// The count from which there are too many.
        var bound = DocumentIndex.limit
        var isTold = false
        /// The actors that saved removed documents, as long as they may decide about a conflict.
        var savers: [ItemID: FileActor] = [:]
    }

    /// The number of documents in memory before unused ones are removed: about 30 MB.
    static let limit = 30_000

    let nodes: NodeTable
    let names: ReadWriteLock
    private let store: VersionStore
    private let state: RankedMutex<State>
    private let crowded = Hook()

    init(store: VersionStore, nodes: NodeTable, names: ReadWriteLock, recorded: Set<FileID>) {
        (self.store, self.nodes, self.names) = (store, nodes, names)
        state = RankedMutex(State(unread: recorded), .index)
    }

    /// The number of documents in memory.
    var count: Int { state.withLock(\.count) }

    /// The document at a place; nil if it is neither used nor recorded.
    func document(at place: Place) throws(StoreError) -> Document? {
        let (document, isUnread): (Document?, Bool) = state.withLock { state in
            if let document = state.directories[place.directory]?[place.name] { return (document, false) }
            return (nil, state.unread.contains(place.directory))
        }
        if isUnread {
            try read(place.directory)
            return state.withLock { $0.directories[place.directory]?[place.name] }
        }
        if let document, !document.wasUsed.load(ordering: .relaxed) {
            document.wasUsed.store(true, ordering: .relaxed)
        }
        return document
    }

    /// The same for a document in memory, without a read of the catalog.
    func documentInMemory(at place: Place) -> Document? {
        state.withLock { $0.directories[place.directory]?[place.name] }
    }

    /// The documents of a directory.
    func documents(in directory: FileID) throws(StoreError) -> [FileName: Document] {
        try read(directory)
        return state.withLock { $0.directories[directory] ?? [:] }
    }

    /// All documents in memory; one with several names occurs several times.
    var inMemory: [Document] { state.withLock { $0.directories.values.flatMap(\.values) } }

    func insert(_ names: borrowing NamesHeldAlone, _ document: Document, at place: Place) throws(StoreError) {
        try read(place.directory)
        let isCrowded = state.withLock { state in
            let old = state.directories[place.directory, default: [:]].updateValue(document, forKey: place.name)
            return state.counted(old == nil ? 1 : 0)
        }
        if isCrowded { crowded.call() }
    }

    /// Inserts a document unless another thread was faster; returns the inserted one.
    func insertIfAbsent(_ document: Document, at place: Place) throws(StoreError) -> Document {
        try read(place.directory)
        let (result, isCrowded) = state.withLock { state in
            if let known = state.directories[place.directory]?[place.name] { return (known, false) }
            state.directories[place.directory, default: [:]][place.name] = document
            return (document, state.counted(1))
        }
        if isCrowded { crowded.call() }
        return result
    }

    func remove(_ names: borrowing NamesHeldAlone, at place: Place) throws(StoreError) {
        try read(place.directory)
        state.withLock { state in
            guard state.directories[place.directory]?.removeValue(forKey: place.name) != nil else { return }
            state.count -= 1
            if state.directories[place.directory]?.isEmpty == true { state.directories[place.directory] = nil }
        }
    }

    private func read(_ directory: FileID) throws(StoreError) {
        guard state.withLock({ $0.unread.contains(directory) }) else { return }
        let stored = try store.documents(in: directory)
        let isCrowded = state.withLock { state in
            guard state.unread.remove(directory) != nil else { return false }
            var documents = state.directories[directory] ?? [:]
            let before = documents.count
            for entry in stored {
                let places = entry.item.places.filter { $0.directory == directory && documents[$0.name] == nil }
                guard !places.isEmpty else { continue }
                // A file with names in several directories is one document.
                let inMemory = entry.item.places.compactMap { state.directories[$0.directory]?[$0.name] }
                let known = inMemory.first { $0.item == entry.item.id }
                let document =
                    known
                    ?? Document(
                        item: entry.item, current: entry.current, sharesContent: entry.sharesContent,
                        saver: state.savers.removeValue(forKey: entry.item.id))
                for place in places { documents[place.name] = document }
            }
            state.directories[directory] = documents.isEmpty ? nil : documents
            return state.counted(documents.count - before)
        }
        if isCrowded { crowded.call() }
    }

    // MARK: Removal of unused documents

    /// Sets the action, called without a lock, for too many documents in memory.
    func whenCrowded(_ action: @escaping @Sendable () -> Void) { crowded.set(action) }

    /// Removes the unused documents of a directory that can be made again.
    ///
    /// Called with the name lock shared, so that no thread is between a change of a name here and the commit of its
    /// rows, and a directory that is read again is complete. No thread uses a document to which only the index refers,
    /// and under the lock of the index none can get it.
    /// - Parameters:
    ///   - evenUsed: whether to include documents used since the last call.
    ///   - written: the places of files that are open for writing. Called when no thread can get the candidates any
    ///     more: an open of one of them waits for the index.
    ///   - keepsSaver: whether the actor of a save may still take part in a conflict.
    func removeUnused(
        in directory: FileID, now: Timestamp, evenUsed: Bool, written: () -> Set<Place>, keepsSaver: (FileActor) -> Bool
    ) {
        state.withLock { state in
            guard var documents = state.directories.removeValue(forKey: directory) else { return }
            var idle: [Dictionary<FileName, Document>.Index] = []
            for index in documents.indices {
                guard isKnownUniquelyReferenced(&documents.values[index]) else { continue }
                let document = documents.values[index]
                let wasUsed = document.wasUsed.exchange(false, ordering: .relaxed)
                // An open for writing in progress holds the document until its handle is registered.
                if evenUsed || !wasUsed, document.isRestorable(now: now) { idle.append(index) }
            }
            let written = idle.isEmpty ? [] : written()
            var gone: [FileName] = []
            for index in idle where !written.contains(Place(directory: directory, name: documents[index].key)) {
                let document = documents.values[index]
                gone.append(documents[index].key)
                let (item, saver, isRecorded) = document.state.withLock(outOfOrder: Document.unreferenced) {
                    ($0.item, $0.saver, $0.isRecorded)
                }
                if isRecorded { state.unread.insert(directory) }
                if let saver, keepsSaver(saver) { state.savers[item] = saver }
            }
            for name in gone { documents[name] = nil }
            state.count -= gone.count
            if !documents.isEmpty { state.directories[directory] = documents }
        }
    }

    /// The directories with documents in memory.
    var directories: [FileID] { state.withLock { Array($0.directories.keys) } }

    /// Forgets the actors of removed documents' saves that have ended.
    func forgetSavers(unless keeps: (FileActor) -> Bool) {
        state.withLock { state in state.savers = state.savers.filter { keeps($0.value) } }
    }

    /// Sets the next bound: documents that had to stay do not count as too many.
    func settle() {
        state.withLock { state in
            state.bound = max(Self.limit, state.count + Self.limit / 3)
            state.isTold = false
        }
    }
}

extension DocumentIndex.State {
    /// Counts new documents; true, once, if there are now too many.
    fileprivate mutating func counted(_ more: Int) -> Bool {
        count += more
        guard count > bound, !isTold else { return false }
        isTold = true
        return true
    }
}
