// Converts rows back to the model's values.

internal import GRDB
import VersionModel

/// The queries, as functions of a connection: shared by readers and recovery.
enum Query {
    private static let itemColumns = "item.id, item.current, item.file, item.size, item.modified, item.changed"
    private static let versionColumns = "version.record, version.kind, version.flags, version.hash"

    // MARK: Items

    static func item(at place: Place, _ database: Database) throws -> Item? {
        try SQLStatement(
            database,
            "SELECT \(itemColumns) FROM place JOIN item ON item.id = place.item WHERE directory = ? AND name = ?",
            .number(place.directory.number), .blob(place.name.bytes)
        ).first(bareItem).map { try withPlaces($0, database) }
    }

    static func item(_ id: ItemID, _ database: Database) throws -> Item? {
        try SQLStatement(database, "SELECT \(itemColumns) FROM item WHERE id = ?", .blob(id.bytes))
            .first(bareItem).map { try withPlaces($0, database) }
    }

    static func items(in directory: FileID, _ database: Database) throws -> [Item] {
        try SQLStatement(
            database,
            """
            SELECT \(itemColumns) FROM item
            WHERE id IN (SELECT item FROM place WHERE directory = ?)
            """, .number(directory.number)
        ).rows(bareItem).map { try withPlaces($0, database) }
    }

    /// The recorded names of a directory, with their files.
    static func files(in directory: FileID, _ database: Database) throws -> [(name: FileName, file: FileID)] {
        try SQLStatement(
            database, "SELECT place.name, item.file FROM place JOIN item ON item.id = place.item WHERE directory = ?",
            .number(directory.number)
        ).rows { row in FileName(bytes: row.blob(0)).map { ($0, FileID(row.number(1))) } }
    }

    static func allItems(_ database: Database) throws -> [Item] {
        let items = try SQLStatement(database, "SELECT \(itemColumns) FROM item").rows(bareItem)
        return try items.map { try withPlaces($0, database) }
    }

    /// Items whose name has just come back with an unsaved file; reads the whole table.
    static func returningItems(_ database: Database) throws -> [Item] {
        let items = try SQLStatement(
            database, "SELECT \(itemColumns) FROM item WHERE file = 0 AND size = 0 AND modified = 0"
        ).rows(bareItem)
        return try items.map { try withPlaces($0, database) }.filter(\.isReturning)
    }

    /// Items with unresolved conflicts. A deleted item has none until it is undeleted.
    static func conflicted(_ database: Database) throws -> [Item] {
        try SQLStatement(
            database,
            "SELECT \(itemColumns) FROM item WHERE id IN (SELECT item FROM version WHERE kind = 2) "
                + "AND id IN (SELECT item FROM place)"
        ).rows(bareItem).map { try withPlaces($0, database) }
    }

    /// Whether an item has a version that is not current; stops at the first.
    static func hasOtherVersions(_ item: ItemID, _ database: Database) throws -> Bool {
        try SQLStatement(
            database, "SELECT 1 FROM version WHERE item = ? AND kind <> 0 LIMIT 1", .blob(item.bytes)
        ).first { _ in true } ?? false
    }

    private static func bareItem(_ row: SQLStatement) -> Item? {
        guard let id = ItemID(bytes: row.blob(0)), let current = VersionID(bytes: row.blob(1)) else { return nil }
        let file = Item.LiveFile(
            id: FileID(row.number(2)), size: row.number(3), modified: Timestamp(nanoseconds: row.integer(4)),
            changed: row.isNull(5) ? nil : Timestamp(nanoseconds: row.integer(5)))
        return Item(id: id, places: [], current: current, file: file)
    }

    private static func withPlaces(_ item: Item, _ database: Database) throws -> Item {
        var item = item
        item.places = try places(of: item.id, database)
        return item
    }

    static func places(of item: ItemID, _ database: Database) throws -> [Place] {
        try SQLStatement(
            database, "SELECT directory, name FROM place WHERE item = ? ORDER BY directory, name", .blob(item.bytes)
        ).rows { row in
            FileName(bytes: row.blob(1)).map { Place(directory: FileID(row.number(0)), name: $0) }
        }
    }

    static func items(ofFiles files: Set<FileID>, _ database: Database) throws -> [Item] {
        let list = files.map { String(Int64(bitPattern: $0.number)) }.joined(separator: ",")
        return try SQLStatement(database, "SELECT \(itemColumns) FROM item WHERE file IN (\(list))")
            .rows(bareItem).map { try withPlaces($0, database) }
    }

    /// The next items after one, in the order of their ids, for passes over all items with bounded memory.
    static func items(after id: ItemID?, limit: Int64, _ database: Database) throws -> [Item] {
        try SQLStatement(
            database, "SELECT \(itemColumns) FROM item WHERE id > ? ORDER BY id LIMIT ?", .blob(id?.bytes ?? []),
            .integer(limit)
        ).rows(bareItem).map { try withPlaces($0, database) }
    }

    /// Items of versions without a row of their own.
    static func missingItems(_ database: Database) throws -> [ItemID] {
        try SQLStatement(
            database, "SELECT DISTINCT item FROM version WHERE item NOT IN (SELECT id FROM item) ORDER BY item"
        ).rows { ItemID(bytes: $0.blob(0)) }
    }

    // MARK: Versions

    static func version(_ id: VersionID, _ database: Database) throws -> Version? {
        try SQLStatement(database, "SELECT \(versionColumns) FROM version WHERE id = ?", .blob(id.bytes))
            .first(version)
    }

    static func versions(of item: ItemID, _ database: Database) throws -> [Version] {
        try SQLStatement(
            database,
            "SELECT \(versionColumns) FROM version WHERE item = ? ORDER BY wall DESC, logical DESC, row DESC",
            .blob(item.bytes)
        ).rows(version)
    }

    /// The versions of an item that a removal from the graph needs. For one version of a long history: the versions
    /// that name it, and their other parents.
    static func neighbors(of gone: [VersionID], in item: ItemID, _ database: Database) throws -> [Version] {
        guard gone.count == 1, let id = gone.first else { return try versions(of: item, database) }
        var writer = ByteWriter(capacity: 16)
        writer.identity(id)
        let found = try SQLStatement(
            database, "SELECT \(versionColumns) FROM version WHERE item = ? AND instr(record, ?) > 0",
            .blob(item.bytes), .blob(writer.bytes)
        ).rows(version)
        let known = Set(found.map(\.id))
        let others = Set(found.filter { $0.id != id }.flatMap(\.parents)).subtracting(known)
        return found + (try others.sorted().compactMap { try version($0, database) }.filter { $0.item == item })
    }

    /// The unresolved losers of an item, newest first; an index avoids reading the rest of its history.
    static func conflicts(of item: ItemID, _ database: Database) throws -> [Version] {
        try SQLStatement(
            database,
            "SELECT \(versionColumns) FROM version INDEXED BY version_conflict WHERE item = ? AND kind = 2 "
                + "ORDER BY wall DESC, logical DESC, row DESC",
            .blob(item.bytes)
        ).rows(version)
    }

    static func versions(sharing content: ContentID, _ database: Database) throws -> [Version] {
        try SQLStatement(
            database, "SELECT \(versionColumns) FROM version WHERE content = ? ORDER BY row", .blob(content.bytes)
        ).rows(version)
    }

    /// Calls `body` for each content with its versions, in the order of the contents' ids.
    static func forEachContent(_ database: Database, _ body: (ContentID, [VersionOfContent]) throws -> Void) throws {
        let rows = try SQLStatement(database, "SELECT content, id, kind, wall, logical FROM version ORDER BY content")
        var last: (content: ContentID, versions: [VersionOfContent])?
        while try rows.step() {
            guard let content = ContentID(bytes: rows.blob(0)), let id = VersionID(bytes: rows.blob(1)),
                let kind = VersionKind(code: UInt8(truncatingIfNeeded: rows.integer(2)))
            else { continue }
            if let group = last, group.content != content {
                try body(group.content, group.versions)
                last = nil
            }
            let time = HybridTime(
                wall: Timestamp(nanoseconds: rows.integer(3)), logical: UInt32(truncatingIfNeeded: rows.integer(4)))
            last = (content, (last?.versions ?? []) + [(id, kind, time)])
        }
        if let last { try body(last.content, last.versions) }
    }

    typealias VersionOfContent = (id: VersionID, kind: VersionKind, time: HybridTime)

    /// Items whose current version has one of these contents.
    static func items(currentIn contents: Set<ContentID>, _ database: Database) throws -> [ItemID] {
        guard !contents.isEmpty else { return [] }
        return try SQLStatement(
            database,
            "SELECT version.content, item.id FROM version JOIN item ON item.current = version.id WHERE version.kind = 0"
        ).rows { row in
            ContentID(bytes: row.blob(0)).flatMap { contents.contains($0) ? ItemID(bytes: row.blob(1)) : nil }
        }
    }

    /// Versions saved since then; reads the whole table.
    static func versions(since time: Timestamp, _ database: Database) throws -> [Version] {
        try SQLStatement(
            database, "SELECT \(versionColumns) FROM version WHERE wall >= ? ORDER BY row", .integer(time.nanoseconds)
        ).rows(version)
    }

    /// Versions with an id in a range of bytes.
    static func versions(
        from low: [UInt8], through high: [UInt8], limit: Int64 = -1, _ database: Database
    ) throws -> [Version] {
        try SQLStatement(
            database, "SELECT \(versionColumns) FROM version WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
            .blob(low), .blob(high), .integer(limit)
        ).rows(version)
    }

    /// The next kept versions after a row, with the last row; empty at the end. For passes over all versions.
    static func keptVersions(
        after row: Int64, limit: Int64, _ database: Database
    ) throws -> (versions: [Version], last: Int64) {
        var last = row
        let versions = try SQLStatement(
            database, "SELECT \(versionColumns), row FROM version WHERE row > ? AND kind <> 0 ORDER BY row LIMIT ?",
            .integer(row), .integer(limit)
        ).rows { row in
            last = row.integer(4)
            return version(row)
        }
        return (versions, last)
    }

    static func keptVersionCount(_ database: Database) throws -> Int {
        try SQLStatement(database, "SELECT count(*) FROM version WHERE kind <> 0").first {
            Int(clamping: $0.integer(0))
        } ?? 0
    }

    private static func version(_ row: SQLStatement) -> Version? { readVersion(row) }

    /// The version in a row that starts with ``versionColumns``. Unreadable records are skipped; `check` finds them.
    static func readVersion(_ row: SQLStatement) -> Version? {
        var reader = ByteReader(row.blob(0))
        guard var version = try? reader.version() else { return nil }
        if let kind = VersionKind(code: UInt8(truncatingIfNeeded: row.integer(1))) { version.kind = kind }
        version.flags = Version.Flags(rawValue: UInt32(truncatingIfNeeded: row.integer(2)))
        version.hash = row.isNull(3) ? nil : row.blob(3)
        return version
    }

    // MARK: Deletions

    static func deletion(_ id: DeletionID, _ database: Database) throws -> Deletion? {
        try SQLStatement(database, "SELECT record FROM deletion WHERE id = ?", .blob(id.bytes)).first(deletion)
    }

    static func deletions(in directory: FileID, _ database: Database) throws -> [Deletion] {
        try SQLStatement(
            database, "SELECT record FROM deletion WHERE directory = ? ORDER BY deleted DESC, row DESC",
            .number(directory.number)
        ).rows(deletion)
    }

    static func deletions(within path: TreePath?, _ database: Database) throws -> [Deletion] {
        guard let path, !path.bytes.isEmpty else {
            return try SQLStatement(database, "SELECT record FROM deletion ORDER BY deleted DESC, row DESC")
                .rows(deletion)
        }
        // '0' follows '/'.
        return try SQLStatement(
            database,
            """
            SELECT record FROM deletion WHERE path = ?1 OR (path > ?2 AND path < ?3) ORDER BY deleted DESC, row DESC
            """, .blob(path.bytes), .blob(path.bytes + [47]), .blob(path.bytes + [48])
        ).rows(deletion)
    }

    static func deletions(group: DeletionID, _ database: Database) throws -> [Deletion] {
        try SQLStatement(
            database, "SELECT record FROM deletion WHERE groupid = ? ORDER BY deleted DESC, row DESC",
            .blob(group.bytes)
        ).rows(deletion)
    }

    static func deletionIDs(_ database: Database) throws -> Set<DeletionID> {
        Set(try SQLStatement(database, "SELECT id FROM deletion").rows { DeletionID(bytes: $0.blob(0)) })
    }

    /// The deletions of one item, newest first.
    static func deletions(item: ItemID, _ database: Database) throws -> [Deletion] {
        try SQLStatement(
            database, "SELECT record FROM deletion WHERE item = ? ORDER BY deleted DESC, row DESC", .blob(item.bytes)
        ).rows(deletion)
    }

    static func deletion(_ row: SQLStatement) -> Deletion? {
        var reader = ByteReader(row.blob(0))
        return try? reader.deletion()
    }

    // MARK: Directories

    static func directory(_ id: FileID, _ database: Database) throws -> Directory? {
        try SQLStatement(database, "SELECT id, parent, name FROM directory WHERE id = ?", .number(id.number))
            .first(directory)
    }

    static func allDirectories(_ database: Database) throws -> [Directory] {
        try SQLStatement(database, "SELECT id, parent, name FROM directory").rows(directory)
    }

    private static func directory(_ row: SQLStatement) -> Directory? {
        FileName(bytes: row.blob(2)).map {
            Directory(id: FileID(row.number(0)), place: Place(directory: FileID(row.number(1)), name: $0))
        }
    }

    /// The path of a directory; nil if a directory above it has no record.
    static func path(of id: FileID, _ database: Database) throws -> TreePath? {
        var (names, current): ([FileName], FileID) = ([], id)
        // Damaged rows may form a circle; the walk then ends.
        var seen: Set<FileID> = []
        while current != .root {
            guard seen.insert(current).inserted, let row = try directory(current, database) else { return nil }
            names.append(row.place.name)
            current = row.place.directory
        }
        return TreePath(names: names.reversed())
    }

    static func recordedDirectories(_ database: Database) throws -> Set<FileID> {
        Set(try SQLStatement(database, "SELECT DISTINCT directory FROM place").rows { FileID($0.number(0)) })
    }

    // MARK: Other tables

    static func setting(_ key: String, _ database: Database) throws -> [UInt8]? {
        try SQLStatement(database, "SELECT value FROM setting WHERE key = ?", .text(key)).first { $0.blob(0) }
    }

    static func changes(after sequence: UInt64, limit: Int, _ database: Database) throws -> [Catalog.Row] {
        try SQLStatement(
            database, "SELECT sequence, record FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?",
            .integer(Int64(clamping: sequence)), .integer(Int64(clamping: max(0, limit)))
        ).rows { row in
            var reader = ByteReader(row.blob(1))
            return (try? reader.change()).map { (row.number(0), $0) }
        }
    }

    /// The last row of the feed.
    static func lastChange(_ database: Database) throws -> Change? {
        try SQLStatement(database, "SELECT record FROM change ORDER BY sequence DESC LIMIT 1").first { row in
            var reader = ByteReader(row.blob(0))
            return try? reader.change()
        }
    }

    /// The first and the last sequence number in the feed; nil if it is empty.
    static func changeRange(_ database: Database) throws -> ClosedRange<UInt64>? {
        // Two queries, because one for both would read the whole feed.
        try SQLStatement(
            database, "SELECT (SELECT min(sequence) FROM change), (SELECT max(sequence) FROM change)"
        ).first { row in
            row.isNull(0) ? nil : row.number(0)...max(row.number(0), row.number(1))
        }
    }

    static func statistics(_ database: Database) throws -> [Int64] {
        try SQLStatement(
            database,
            """
            SELECT (SELECT count(*) FROM item), (SELECT count(*) FROM version),
                (SELECT count(*) FROM version WHERE kind = 2 AND EXISTS
                    (SELECT 1 FROM place WHERE place.item = version.item)),
                (SELECT count(*) FROM deletion),
                (SELECT total(size) FROM deletion)
            """
        ).first { row in (0..<5).map { row.integer($0) } } ?? []
    }
}
