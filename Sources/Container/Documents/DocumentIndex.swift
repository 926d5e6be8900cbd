// Finds documents by their places, reading the catalog one directory at a time.

import Synchronization
import VersionModel
import VersionStore

/// The documents that were touched or recorded, by directory and name. The only writer of items' places, so that what
/// it holds in memory is what the catalog says. Lock order: behind documents; the catalog is read outside of it.
final class DocumentIndex: Sendable {
    private struct State {
        var directories: [FileID: [FileName: Document]] = [:]
        /// Directories with rows in the catalog that are not in `directories` yet.
        var unread: Set<FileID>
    }

    private let store: VersionStore
    private let state: Mutex<State>

    init(store: VersionStore, recorded: Set<FileID>) {
        self.store = store
        state = Mutex(State(unread: recorded))
    }

    /// The document at a place; nil if it was neither touched nor recorded.
    func document(at place: Place) throws(StoreError) -> Document? {
        try read(place.directory)
        return state.withLock { $0.directories[place.directory]?[place.name] }
    }

    /// The documents of a directory.
    func documents(in directory: FileID) throws(StoreError) -> [FileName: Document] {
        try read(directory)
        return state.withLock { $0.directories[directory] ?? [:] }
    }

    func insert(_ document: Document, at place: Place) throws(StoreError) {
        try read(place.directory)
        state.withLock { $0.directories[place.directory, default: [:]][place.name] = document }
    }

    /// Inserts a document unless another thread was faster; gives the one that is in.
    func insertIfAbsent(_ document: Document, at place: Place) throws(StoreError) -> Document {
        try read(place.directory)
        return state.withLock { state in
            if let known = state.directories[place.directory]?[place.name] { return known }
            state.directories[place.directory, default: [:]][place.name] = document
            return document
        }
    }

    func remove(at place: Place) throws(StoreError) {
        try read(place.directory)
        state.withLock { state in
            guard state.directories[place.directory]?.removeValue(forKey: place.name) != nil else { return }
            if state.directories[place.directory]?.isEmpty == true { state.directories[place.directory] = nil }
        }
    }

    private func read(_ directory: FileID) throws(StoreError) {
        guard state.withLock({ $0.unread.contains(directory) }) else { return }
        let stored = try store.documents(in: directory)
        state.withLock { state in
            guard state.unread.remove(directory) != nil else { return }
            var documents: [FileName: Document] = [:]
            for entry in stored {
                let document = Document(item: entry.item, current: entry.current, sharesContent: entry.sharesContent)
                for place in entry.item.places where place.directory == directory { documents[place.name] = document }
            }
            state.directories[directory] = documents
        }
    }
}
