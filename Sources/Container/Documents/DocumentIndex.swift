// Finds documents by their places, reading the catalog one directory at a time, and lets go of those not in use.

import Synchronization
import VersionModel
import VersionStore

/// The documents that were touched or recorded, by directory and name. The only writer of items' places, so that what
/// it holds in memory is what the catalog says. Lock order: behind documents; the catalog is read outside of it.
///
/// Where it becomes crowded, documents that nobody uses are let go (``letGo(in:now:evenUsed:written:keepsSaver:)``): of
/// those with rows the directory counts as unread again, the others derive from their files.
final class DocumentIndex: Sendable {
    fileprivate struct State {
        var directories: [FileID: [FileName: Document]] = [:]
        /// Directories with rows in the catalog that are not in `directories`, or not all.
        var unread: Set<FileID>
        var count = 0
        /// From this count on it is crowded.
        var bound = DocumentIndex.limit
        var isTold = false
        /// Who saved what was let go, as long as that may decide about a conflict.
        var savers: [ItemID: FileActor] = [:]
    }

    /// How many documents may be in memory before those not in use are let go: some 30 MB.
    static let limit = 30_000

    private let store: VersionStore
    private let state: Mutex<State>
    private let crowded = Hook()

    init(store: VersionStore, recorded: Set<FileID>) {
        self.store = store
        state = Mutex(State(unread: recorded))
    }

    /// How many documents are in memory.
    var count: Int { state.withLock(\.count) }

    /// The document at a place; nil if it was neither touched nor recorded.
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

    /// The same if it is in memory; the catalog is not asked.
    func documentInMemory(at place: Place) -> Document? {
        state.withLock { $0.directories[place.directory]?[place.name] }
    }

    /// The documents of a directory.
    func documents(in directory: FileID) throws(StoreError) -> [FileName: Document] {
        try read(directory)
        return state.withLock { $0.directories[directory] ?? [:] }
    }

    /// All that are in memory; those with several names as often as they have.
    var inMemory: [Document] { state.withLock { $0.directories.values.flatMap(\.values) } }

    func insert(_ document: Document, at place: Place) throws(StoreError) {
        try read(place.directory)
        let isCrowded = state.withLock { state in
            let old = state.directories[place.directory, default: [:]].updateValue(document, forKey: place.name)
            return state.counted(old == nil ? 1 : 0)
        }
        if isCrowded { crowded.call() }
    }

    /// Inserts a document unless another thread was faster; gives the one that is in.
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

    func remove(at place: Place) throws(StoreError) {
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
                let document = Document(
                    item: entry.item, current: entry.current, sharesContent: entry.sharesContent,
                    saver: state.savers.removeValue(forKey: entry.item.id))
                for place in places { documents[place.name] = document }
            }
            state.directories[directory] = documents.isEmpty ? nil : documents
            return state.counted(documents.count - before)
        }
        if isCrowded { crowded.call() }
    }

    // MARK: Letting go

    /// `action` is called, without a lock, when there are more documents in memory than need be.
    func whenCrowded(_ action: @escaping @Sendable () -> Void) { crowded.set(action) }

    /// Lets go of the documents of a directory that nobody holds and that can be made again.
    ///
    /// Called with the name lock shared: so nobody is between changing a name here and committing its rows, and a
    /// directory that is read again is read as it was. A document that only the index refers to is in nobody's
    /// hands, and under the lock of the index nobody can get at it.
    /// - Parameters:
    ///   - evenUsed: also those that were asked for since the last time.
    ///   - written: the places of the files that somebody has open for writing. Asked for once nobody can get at what
    ///     may go: who opens one of those waits for the index.
    ///   - keepsSaver: whether the one who saved a version may still take part in a conflict.
    func letGo(
        in directory: FileID, now: Timestamp, evenUsed: Bool, written: () -> Set<Place>, keepsSaver: (FileActor) -> Bool
    ) {
        state.withLock { state in
            guard var documents = state.directories.removeValue(forKey: directory) else { return }
            var idle: [Dictionary<FileName, Document>.Index] = []
            for index in documents.indices {
                guard isKnownUniquelyReferenced(&documents.values[index]) else { continue }
                let document = documents.values[index]
                let wasUsed = document.wasUsed.exchange(false, ordering: .relaxed)
                // Whoever is being let in to write holds the document until its handle is known.
                if evenUsed || !wasUsed, document.isRestorable(now: now) { idle.append(index) }
            }
            let written = idle.isEmpty ? [] : written()
            var gone: [FileName] = []
            for index in idle where !written.contains(Place(directory: directory, name: documents[index].key)) {
                let document = documents.values[index]
                gone.append(documents[index].key)
                let (item, saver, isRecorded) = document.state.withLock { ($0.item, $0.saver, $0.isRecorded) }
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

    /// Forgets who saved what was let go, for whoever has ended.
    func forgetSavers(unless keeps: (FileActor) -> Bool) {
        state.withLock { state in state.savers = state.savers.filter { keeps($0.value) } }
    }

    /// Says how many may come before it counts as crowded again: what had to stay does not make it so.
    func settle() {
        state.withLock { state in
            state.bound = max(Self.limit, state.count + Self.limit / 3)
            state.isTold = false
        }
    }
}

extension DocumentIndex.State {
    /// Counts what came; true if that has made the index crowded, once.
    fileprivate mutating func counted(_ more: Int) -> Bool {
        count += more
        guard count > bound, !isTold else { return false }
        isTold = true
        return true
    }
}
