// The catalog: its schema, and its transactions.

internal import GRDB
internal import GRDBSQLite
import Synchronization
import VersionModel

/// The database.
final class Catalog: CommitTarget {
    typealias Call = [VersionStore.Mutation]
    typealias Calls = ArraySlice<Call>
    typealias Row = (sequence: UInt64, change: Change)
    /// The number of rows in the change feed.
    static let feedLength: Int64 = 100_000
    static let schemaVersion: Int64 = 1

    let connection: CatalogConnection
    /// Innermost; taken only in the queue's turn.
    private let written = Mutex(WrittenParents())

    /// Opens or creates the database.
    ///
    /// - Throws: SQLFailure; ``SQLFailure/isCorruption`` if the file is no usable catalog.
    init(path: String, readOnly: Bool) throws {
        connection = try CatalogConnection(path: path, readOnly: readOnly) { database in
            try Self.prepare(database, readOnly: readOnly)
        }
    }

    private static func prepare(_ database: Database, readOnly: Bool) throws {
        let version = try CatalogConnection.version(database)
        switch version {
        case schemaVersion: break
        case 0 where !readOnly: try database.execute(sql: schema)
        default: throw SQLFailure(code: SQLITE_NOTADB, message: "catalog version \(version)")
        }
        try addTimeOfChange(database, readOnly: readOnly)
        try CatalogConnection.touch(
            ["meta", "item", "place", "version", "deletion", "directory", "change", "setting"], database)
    }

    /// Catalogs of former releases have no ctime of the live files; it is unknown there.
    private static func addTimeOfChange(_ database: Database, readOnly: Bool) throws {
        let columns = try SQLStatement(database, "SELECT 1 FROM pragma_table_info('item') WHERE name = 'changed'")
        guard try columns.first({ $0.integer(0) }) == nil else { return }
        try database.execute(
            sql: readOnly
                ? "CREATE TEMP VIEW item AS SELECT *, NULL AS changed FROM main.item"
                : "ALTER TABLE item ADD COLUMN changed INTEGER")
    }

    /// Searchable values have columns; the rest of a record is in its binary form, the same as in labels. `kind`,
    /// `flags` and `hash` change, so their columns count, not the record.
    private static let schema = """
        BEGIN IMMEDIATE;
        CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE setting (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE item (
            id BLOB PRIMARY KEY, current BLOB NOT NULL, file INTEGER NOT NULL, size INTEGER NOT NULL,
            modified INTEGER NOT NULL, changed INTEGER) WITHOUT ROWID;
        CREATE TABLE place (
            directory INTEGER NOT NULL, name BLOB NOT NULL, item BLOB NOT NULL,
            PRIMARY KEY (directory, name)) WITHOUT ROWID;
        CREATE INDEX place_item ON place (item);
        CREATE TABLE version (
            row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, item BLOB NOT NULL, content BLOB NOT NULL,
            kind INTEGER NOT NULL, flags INTEGER NOT NULL, size INTEGER NOT NULL, wall INTEGER NOT NULL,
            logical INTEGER NOT NULL, hash BLOB, record BLOB NOT NULL);
        CREATE INDEX version_item ON version (item, wall, logical);
        CREATE INDEX version_content ON version (content);
        CREATE INDEX version_conflict ON version (item) WHERE kind = 2;
        CREATE TABLE deletion (
            row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, directory INTEGER NOT NULL, path BLOB NOT NULL,
            item BLOB, size INTEGER NOT NULL, deleted INTEGER NOT NULL, groupid BLOB NOT NULL, record BLOB NOT NULL);
        CREATE INDEX deletion_directory ON deletion (directory);
        CREATE INDEX deletion_path ON deletion (path);
        CREATE INDEX deletion_item ON deletion (item) WHERE item IS NOT NULL;
        CREATE INDEX deletion_group ON deletion (groupid);
        CREATE INDEX deletion_size ON deletion (size);
        CREATE TABLE directory (
            id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name BLOB NOT NULL, UNIQUE (parent, name));
        CREATE TABLE change (sequence INTEGER PRIMARY KEY AUTOINCREMENT, record BLOB NOT NULL);
        PRAGMA user_version = 1;
        COMMIT;
        """

    // MARK: Writing

    func stage(_ calls: Calls, applied: UInt64) throws -> [Row] {
        try access { try stage(calls + [[Self.noting(applied)]], in: $0) }
    }

    /// Belongs to the transaction of the calls that it counts.
    private static func noting(_ applied: UInt64) -> VersionStore.Mutation {
        var writer = ByteWriter(capacity: 8)
        writer.fixed(applied)
        return .setting(key: RedoLog.appliedKey, value: writer.bytes)
    }

    private func stage(_ calls: Calls, in database: Database) throws -> [Row] {
        try forgettingAtFailure {
            try CatalogConnection.stage(database) {
                var rows: [Row] = []
                try written.withLock { written in
                    for call in calls { try Self.apply(call, to: database, &rows, &written) }
                }
                return rows
            }
        }
    }

    func commitStaged() throws { try access { try commitStaged(in: $0) } }

    private func commitStaged(in database: Database) throws {
        try forgettingAtFailure { try CatalogConnection.commitStaged(database) }
    }

    /// After a failure nothing staged is left.
    private func forgettingAtFailure<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            written.withLock { $0.forget() }
            throw error
        }
    }

    func commitOrStage(_ calls: Calls, applied: UInt64) -> (failure: any Error, told: [Row]?)? {
        connection.commitOrStage(commitStaged(in:)) { try stage(calls + [[Self.noting(applied)]], in: $0) }
    }

    /// Applies mutations and commits them at once; for recovery, before there is a writer.
    func applyNow(_ mutations: [VersionStore.Mutation]) throws {
        _ = try access { try stage([mutations], in: $0) }
        try commitStaged()
    }

    /// Continues the change feed of an empty catalog after a number.
    func beginFeed(after sequence: UInt64) throws {
        try access { database in
            try SQLStatement.run(
                database, "INSERT INTO sqlite_sequence (name, seq) VALUES ('change', ?)",
                .integer(Int64(clamping: sequence)))
        }
    }

    // MARK: Access

    func access<Result>(_ body: (Database) throws -> Result) throws -> Result { try connection.access(body) }

    /// Answers a reader; errors are the store's.
    func read<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result { try connection.read(body) }

    func meta(_ key: String) throws -> [UInt8]? {
        try access { try SQLStatement($0, "SELECT value FROM meta WHERE key = ?", .text(key)).first { $0.blob(0) } }
    }

    func setMeta(_ key: String, _ value: [UInt8]) throws {
        try access { database in
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", .text(key), .blob(value))
        }
    }

    func makeDurable() { connection.makeDurable() }

    func settleLog(_ rows: Int) { connection.settleLog(rows) }

    func close() { connection.close() }
}
