// What operations ask of the facts to find documents and deleted things.

import Lineage
import VersionModel

extension FactHistory {
    /// The versions with the same object, oldest first; those that documents began with for each of these, too.
    public func versions(sharing content: ContentID) throws(StoreError) -> [Version] {
        let found = try lists.look { look in
            try FactTables.versions(
                look.database, "file = ? AND generation = ?", .number(content.high), .number(content.low)
            ).map { (number: $0.number, documents: look.stored.documents(from: $0.number)) }
        }
        var versions: [Version] = []
        for (number, documents) in found {
            guard let listed = try lists.version(number) else { continue }
            versions.append(try version(listed))
            for document in documents { versions.append(try version(listed, of: lists.id(of: document))) }
        }
        return versions
    }

    /// The documents with names and unsettled losers.
    public func conflicted() throws(StoreError) -> [Item] {
        let found = try all { last, limit throws(StoreError) in try lists.conflicted(after: last, limit: limit) }
        var items: [Item] = []
        for one in found { if let item = try item(of: one.document) { items.append(item) } }
        return items
    }

    /// What identities stand for that begin with these digits, at most so many.
    public func named(byDigits digits: String, limit: Int64) throws(StoreError) -> [NamedByID] {
        guard let named = try lists.named(byDigits: digits, limit: Int(clamping: limit)) else { return [] }
        var found: [NamedByID] = []
        for one in named.found {
            switch one {
            case .document(let document): if let id = try lists.id(of: document) { found.append(.item(id)) }
            case .version(let number):
                if let listed = try lists.version(number) { found.append(.version(try version(listed))) }
            case .deletion(let number):
                if let entry = try lists.deletedEntry(number) { found += try deletions([entry]).map { .deletion($0) } }
            }
        }
        return found
    }

    // MARK: Paths

    /// nil for a directory that is gone, or of which no row tells.
    public func path(of directory: FileID) throws(StoreError) -> TreePath? {
        if directory == .root { return .root }
        let found = try lists.path(of: directory)
        return found.isThere ? found.path : nil
    }

    /// The path of the item's first place; nil if it has none.
    public func path(of item: Item) throws(StoreError) -> TreePath? {
        guard let place = item.places.first else { return nil }
        return try path(of: place.directory)?.appending(place.name)
    }

    /// Where a document was last.
    public func lastPath(of item: ItemID) throws(StoreError) -> TreePath? {
        guard let document = try store.document(item) else { return nil }
        let last = try lists.facts(of: document, limit: Self.portion).elements.lazy.compactMap { fact in
            if case .row(let row) = fact { row } else { nil }
        }.first
        guard let last, let place = try store.place(last.place) else { return nil }
        return try lists.path(of: place.directory, at: last.number.number).path?.appending(place.name)
    }

    // MARK: Deleted things

    /// What was deleted at exactly this path, newest first.
    public func deletions(at path: TreePath) throws(StoreError) -> [Deletion] {
        var found: [Deletion] = []
        for place in try lists.placesEver(at: path) {
            found += try deletions(
                all { before, limit throws(StoreError) in try lists.deleted(at: place, before: before, limit: limit) })
        }
        return found.filter { $0.path == path }.sorted { $1.deleted < $0.deleted }
    }

    /// The entries of a group that are there still, newest first.
    public func deletions(group: DeletionID) throws(StoreError) -> [Deletion] {
        guard let first = try store.removal(group) else { return [] }
        let entries = try all { cursor, limit throws(StoreError) in
            try lists.deleted(ofGroup: first, from: cursor, limit: limit)
        }
        return try deletions(entries).reversed()
    }

    public func deletions(in directory: FileID, named name: FileName) throws(StoreError) -> [Deletion] {
        let place = Place(directory: directory, name: name)
        return try deletions(
            all { before, limit throws(StoreError) in try lists.deleted(at: place, before: before, limit: limit) })
    }

    /// What was deleted at a path and below it, newest first; all for nil.
    public func deletions(within path: TreePath?) throws(StoreError) -> [Deletion] {
        try deletions(
            all { before, limit throws(StoreError) in
                guard let path else { return try lists.deleted(before: before, limit: limit) }
                return try lists.deleted(within: path, before: before, limit: limit)
            })
    }
}
