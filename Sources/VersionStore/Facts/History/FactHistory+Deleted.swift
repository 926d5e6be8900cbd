// The deleted list as users see it, read from the facts.

import Lineage
import VersionModel

extension FactHistory {
    public func deletion(_ id: DeletionID) throws(StoreError) -> Deletion? {
        guard let entry = try entry(id) else { return nil }
        return try deletions([entry]).first
    }

    /// What was deleted from a directory, newest first.
    public func deletions(in directory: FileID) throws(StoreError) -> [Deletion] {
        try deletions(
            all { before, limit throws(StoreError) in
                try lists.deleted(in: directory, before: before, limit: limit)
            })
    }

    /// The entries of a document, newest first.
    public func deletions(of item: ItemID) throws(StoreError) -> [Deletion] {
        guard let document = try store.document(item) else { return [] }
        return try deletions(lists.deleted(of: document))
    }

    /// What an entry of the deleted list showed last; nil for a directory, and for what `deleted/` has itself.
    public func version(of deletion: DeletionID) throws(StoreError) -> Version? {
        guard let entry = try entry(deletion), !entry.detail.isEntry, let row = entry.version,
            let listed = try lists.version(row.number)
        else { return nil }
        return try version(listed, of: lists.id(of: entry.occupant.document))
    }

    /// The entry of the deleted list with an identity; nil if there is none any more.
    public func entry(_ id: DeletionID) throws(StoreError) -> DeletedFact? {
        guard let number = try store.removal(id) else { return nil }
        return try lists.deletedEntry(number)
    }

    public func deletions(_ entries: [DeletedFact]) throws(StoreError) -> [Deletion] {
        let groups = try lists.groups(of: entries)
        var deletions: [Deletion] = []
        for entry in entries {
            guard let id = try lists.id(ofDeletion: entry.number),
                let group = try lists.id(ofDeletion: groups[entry.number] ?? entry.number)
            else { continue }
            deletions.append(try deletion(entry, id, group))
        }
        return deletions
    }

    private func deletion(
        _ entry: DeletedFact, _ id: DeletionID, _ group: DeletionID
    ) throws(StoreError) -> Deletion {
        let listed = try entry.version.flatMap { row throws(StoreError) in try lists.version(row.number) }
        let label = entry.detail.isEntry ? try? area.label(of: id) : nil
        let attributes = listed?.detail.attributes ?? label?.attributes
            ?? Attributes(mode: entry.detail.type == .directory ? 0o755 : 0o600, owner: 0, group: 0)
        let departure = entry.departure
        let author = try author(departure.actor)
        let times = try store.times(before: departure.number)
        let directory = try lists.path(of: entry.place.directory, at: departure.number.number)
        return Deletion(
            id: id, place: entry.place, path: (directory.path ?? .root).appending(entry.place.name),
            type: entry.kind == .name ? .link : entry.detail.type, file: entry.occupant.file ?? FileID(0),
            item: entry.occupant.hasNoVersions ? nil : try lists.id(of: entry.occupant.document),
            size: entry.version?.fingerprint.size ?? label?.size ?? 0, deleted: departure.time,
            author: author ?? users.owner(attributes.owner), group: group,
            parentAccessed: times?.accessed ?? label?.parentAccessed ?? departure.time,
            parentModified: times?.modified ?? label?.parentModified ?? departure.time, attributes: attributes)
    }
}

extension FactStore {
    /// The removal with an identity; nil if there is none.
    func removal(_ id: DeletionID) throws(StoreError) -> RowNumber? {
        let number = ids.number(of: id)
        return try read { database in
            if let number, let row = try FactTables.names(database, "seq = ?", .number(number)).first, row.file == nil {
                return row.number
            }
            return try FactTables.removal(alias: id, database)
        }
    }
}
