// What a catalog has besides, if it was made from format 1.

internal import GRDB
import VersionModel

/// | table | a row is |
/// |---|---|
/// | `entry` | an entry of the deleted area that is to become an object, or to go (``EntryMove``) |
enum UpgradeTables {
    static let schema = """
        CREATE TABLE entry (deletion BLOB PRIMARY KEY, label BLOB) WITHOUT ROWID;
        """

    /// Since when the names are known: nanoseconds.
    static let horizonKey = "horizon"

    // MARK: Entries

    static func put(_ move: EntryMove, _ database: Database) throws {
        try SQLStatement.run(
            database, "INSERT OR REPLACE INTO entry (deletion, label) VALUES (?, ?)", .blob(move.deletion.bytes),
            .optional(move.kept.map { LabelCoding.encode([$0]) }))
    }

    /// Entries that have not been moved. A catalog that has none has no table of them.
    static func moves(limit: Int64, _ database: Database) throws -> [EntryMove] {
        let table = try SQLStatement(database, "SELECT 1 FROM sqlite_schema WHERE name = 'entry'").first { _ in true }
        guard table != nil else { return [] }
        return try SQLStatement(database, "SELECT deletion, label FROM entry LIMIT ?", .integer(limit)).rows { row in
            guard let deletion = DeletionID(bytes: row.blob(0)) else { return nil }
            let label = row.isNull(1) ? nil : try? LabelCoding.contents(row.blob(1)).first
            return EntryMove(deletion: deletion, kept: label)
        }
    }

    static func remove(_ move: EntryMove, _ database: Database) throws {
        try SQLStatement.run(database, "DELETE FROM entry WHERE deletion = ?", .blob(move.deletion.bytes))
    }

    static func dropMoves(_ database: Database) throws {
        try SQLStatement.run(database, "DROP TABLE IF EXISTS entry")
    }

    // MARK: The feed

    /// The last number that the feed of format 1 had, and the last one of a fact that tells of its time: 8 bytes each.
    static let feedKey = "former-feed"

    /// A client that has heard all of the feed of format 1 has heard what the facts say of its time.
    static func start(ofFeedAfter number: UInt64, _ database: Database) throws -> UInt64 {
        guard let bytes = try FactCatalog.value("meta", feedKey, database) else { return number }
        var reader = ByteReader(bytes)
        guard let former = try? reader.fixed64(), let last = try? reader.fixed64() else { return number }
        return number == former ? last : number
    }
}
