// Objects by the first digits of an id, and sums below a path, by indexes: fast with a catalog of any size.

internal import GRDB
import VersionModel

/// The ids that start with some digits, in the catalog's order.
struct IDRange {
    let low: [UInt8]
    let high: [UInt8]

    /// Takes at most 32 hex digits of either case; nil for other text.
    init?(_ hex: String) {
        let digits = hex.lowercased()
        let padding = 32 - digits.utf8.count
        guard padding >= 0, let low = VersionID(hex: digits + String(repeating: "0", count: padding)),
            let high = VersionID(hex: digits + String(repeating: "f", count: padding))
        else { return nil }
        (self.low, self.high) = (low.bytes, high.bytes)
    }
}

/// The object of an id, as far as the catalog knows it.
public enum NamedByID: Sendable {
    case item(ItemID)
    case version(Version)
    case deletion(Deletion)
}

extension VersionStore {
    /// All objects with an id that starts with these hex digits, at most this many of each kind.
    public func named(byDigits hex: String, limit: Int64) throws(StoreError) -> [NamedByID] {
        guard let range = IDRange(hex) else { return [] }
        return try read { database in
            try Query.versions(from: range.low, through: range.high, limit: limit, database).map { .version($0) }
                + Query.itemIDs(range, limit, database).map { .item($0) }
                + Query.deletions(range, limit, database).map { .deletion($0) }
        }
    }

    /// The entries that were deleted at exactly this path, newest first.
    public func deletions(at path: TreePath) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(at: path, $0) }
    }

    /// The entries deleted from a directory under a name, newest first. The directory may have had another name then.
    public func deletions(in directory: FileID, named name: FileName) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(in: directory, named: name, $0) }
    }

    /// The disk usage of the entries deleted at a path and below it.
    public func deletedBytes(within path: TreePath) throws(StoreError) -> UInt64 {
        var bytes: UInt64 = 0
        for deletion in try deletions(within: path) { bytes.addCapped(deletedArea.allocated(deletion.id)) }
        return bytes
    }

    /// The recorded directories directly in a directory.
    public func directories(in directory: FileID) throws(StoreError) -> [FileID] {
        try read { try Query.directories(in: directory, $0) }
    }

    /// The kept contents of the documents directly in a directory, or of one of them.
    public func keptContents(in directory: FileID, name: FileName?) throws(StoreError) -> Set<ContentID> {
        try read { try Query.keptContents(in: directory, name: name, $0) }
    }
}

extension Query {
    fileprivate static func itemIDs(_ range: IDRange, _ limit: Int64, _ database: Database) throws -> [ItemID] {
        try SQLStatement(
            database, "SELECT id FROM item WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?", .blob(range.low),
            .blob(range.high), .integer(limit)
        ).rows { ItemID(bytes: $0.blob(0)) }
    }

    fileprivate static func deletions(_ range: IDRange, _ limit: Int64, _ database: Database) throws -> [Deletion] {
        try SQLStatement(
            database, "SELECT record FROM deletion WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?", .blob(range.low),
            .blob(range.high), .integer(limit)
        ).rows(deletion)
    }

    fileprivate static func deletions(at path: TreePath, _ database: Database) throws -> [Deletion] {
        try SQLStatement(
            database, "SELECT record FROM deletion WHERE path = ? ORDER BY deleted DESC, row DESC", .blob(path.bytes)
        ).rows(deletion)
    }

    fileprivate static func deletions(
        in directory: FileID, named name: FileName, _ database: Database
    ) throws -> [Deletion] {
        // Reading the records of all that was deleted there would take long for each of many names.
        try SQLStatement(
            database,
            """
            SELECT record FROM deletion WHERE directory = ?1 AND (path = ?2 OR substr(path, -length(?3)) = ?3)
                ORDER BY deleted DESC, row DESC
            """, .number(directory.number), .blob(name.bytes), .blob([47] + name.bytes)
        ).rows(deletion).filter { $0.place.name == name }
    }

    fileprivate static func directories(in directory: FileID, _ database: Database) throws -> [FileID] {
        try SQLStatement(database, "SELECT id FROM directory WHERE parent = ?", .number(directory.number))
            .rows { FileID($0.number(0)) }
    }

    fileprivate static func keptContents(
        in directory: FileID, name: FileName?, _ database: Database
    ) throws -> Set<ContentID> {
        let rows = try SQLStatement(
            database,
            """
            SELECT DISTINCT version.content FROM place JOIN version ON version.item = place.item
            WHERE place.directory = ?1 AND (?2 IS NULL OR place.name = ?2) AND version.kind <> 0
            """, .number(directory.number), .optional(name?.bytes)
        ).rows { ContentID(bytes: $0.blob(0)) }
        return Set(rows)
    }
}
