// The catalog: one SQLite connection, its schema, and transactions that can stay open while the disk is full.

internal import GRDB
internal import GRDBSQLite
import Synchronization
import VersionModel

/// The database. GRDB's queue serializes all access. One connection serves readers and the writer, so that readers see
/// staged changes before their commit.
final class Catalog: CommitTarget {
    typealias Call = [VersionStore.Mutation]
    typealias Calls = ArraySlice<Call>
    typealias Row = (sequence: UInt64, change: Change)
    /// The number of rows in the change feed.
    static let feedLength: Int64 = 100_000
    static let schemaVersion: Int64 = 1

    private let queue: DatabaseQueue
    /// The contents that must be durable before the catalog. Set once, at the opening; lock order: last, held for a
    /// look.
    let settling = Mutex<Settling?>(nil)
    /// The number of rows since the last checkpoint, where the daemon makes checkpoints itself; guarded by the queue's
    /// turn.
    private let unsettledRows = Atomic<Int>(0)
    /// This many rows make a log of some megabytes.
    private static let settledRows = 8_000
    /// Innermost; taken only in the queue's turn.
    private let written = Mutex(WrittenParents())

    /// Opens or creates the database.
    ///
    /// - Throws: SQLFailure; ``SQLFailure/isCorruption`` if the file is no usable catalog.
    init(path: String, readOnly: Bool) throws {
        var configuration = Configuration()
        configuration.label = "catalog"
        configuration.readonly = readOnly
        // A transaction stays open between accesses while the disk is full (see `stage`).
        configuration.allowsUnsafeTransactions = true
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY")
            guard !readOnly else { return }
            // The lock on `format` excludes other processes, so the log's index need not be shared memory. Staged rows
            // must not spill to a full disk.
            try database.execute(
                sql: """
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA cache_spill = OFF;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA wal_autocheckpoint = 4000;
                    PRAGMA journal_mode = WAL;
                    """)
        }
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { database in try Self.prepare(database, readOnly: readOnly) }
        } catch { throw Self.failure(error) }
    }

    private static func prepare(_ database: Database, readOnly: Bool) throws {
        let version = try SQLStatement(database, "PRAGMA user_version").first { $0.integer(0) } ?? 0
        switch version {
        case schemaVersion: break
        case 0 where !readOnly: try database.execute(sql: schema)
        default: throw SQLFailure(code: SQLITE_NOTADB, message: "catalog version \(version)")
        }
        try addTimeOfChange(database, readOnly: readOnly)
        // Reads the pages that every access needs, so that their damage shows now.
        for table in ["meta", "item", "place", "version", "deletion", "directory", "change", "setting"] {
            _ = try SQLStatement(database, "SELECT 1 FROM \(table) LIMIT 1").first { $0.integer(0) }
        }
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
        do {
            if !database.isInsideTransaction { try SQLStatement.run(database, "BEGIN IMMEDIATE") }
            var rows: [Row] = []
            try written.withLock { written in
                for call in calls { try Self.apply(call, to: database, &rows, &written) }
            }
            return rows
        } catch {
            rollBack(database)
            throw error
        }
    }

    func commitStaged() throws { try access { try commitStaged(in: $0) } }

    private func commitStaged(in database: Database) throws {
        guard database.isInsideTransaction else { return }
        do {
            try SQLStatement.run(database, "COMMIT")
        } catch {
            rollBack(database)
            throw error
        }
    }

    func commitOrStage(_ calls: Calls, applied: UInt64) -> (failure: any Error, told: [Row]?)? {
        do {
            return try access { database in
                do { try commitStaged(in: database) } catch {
                    return (Self.failure(error), try? stage(calls + [[Self.noting(applied)]], in: database))
                }
                return nil
            }
        } catch { return (error, nil) }
    }

    private func rollBack(_ database: Database) {
        written.withLock { $0.forget() }
        // SQLite may have rolled back already.
        if database.isInsideTransaction { try? SQLStatement.run(database, "ROLLBACK") }
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

    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do { return try queue.writeWithoutTransaction(body) } catch { throw Self.failure(error) }
    }

    /// Answers a reader; errors are the store's.
    func read<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        do { return try access(body) } catch {
            let failure = Self.failure(error)
            throw .catalog(code: failure.code, failure.message)
        }
    }

    private static func failure(_ error: any Error) -> SQLFailure {
        switch error {
        case let failure as SQLFailure: failure
        case let error as DatabaseError:
            SQLFailure(code: error.extendedResultCode.rawValue, message: error.message ?? error.description)
        default: SQLFailure(code: SQLITE_ERROR, message: "\(error)")
        }
    }

    func meta(_ key: String) throws -> [UInt8]? {
        try access { try SQLStatement($0, "SELECT value FROM meta WHERE key = ?", .text(key)).first { $0.blob(0) } }
    }

    func setMeta(_ key: String, _ value: [UInt8]) throws {
        try access { database in
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", .text(key), .blob(value))
        }
    }

    func makeDurable() {
        settling.withLock(\.self)?.settle()
        try? access { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    }

    /// SQLite would synchronize a long log, and with it rows that name files without durable content. Where the file
    /// system does not order these, the daemon synchronizes the log itself, after the files.
    func takeOverCheckpoints() {
        guard settling.withLock(\.self)?.isNeeded == true else { return }
        try? access { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
    }

    /// Writes a long log into the database; called by the writer, between transactions.
    func settleLog(_ rows: Int) {
        guard settling.withLock(\.self)?.isNeeded == true else { return }
        guard unsettledRows.add(rows, ordering: .relaxed).newValue > Self.settledRows else { return }
        unsettledRows.store(0, ordering: .relaxed)
        makeDurable()
    }

    /// Writes the log into the database and closes it.
    func close() {
        try? access { database in
            try SQLStatement.run(database, "PRAGMA wal_checkpoint(TRUNCATE)")
            // A catalog without a log can be read even if the log's index cannot be written.
            try SQLStatement.run(database, "PRAGMA journal_mode = DELETE")
        }
        try? queue.close()
    }
}
