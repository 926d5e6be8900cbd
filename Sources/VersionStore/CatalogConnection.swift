// The one SQLite connection of a catalog, and transactions that can stay open while the disk is full.

internal import GRDB
internal import GRDBSQLite
import Synchronization
import VersionModel

/// A connection to a catalog's database, one access at a time: GRDB's queue serializes all. Readers and the writer have
/// the same, so that readers see staged changes before their commit.
final class CatalogConnection: Sendable {
    private let queue: DatabaseQueue
    /// The contents that must be durable before the catalog. Set once, at the opening; lock order: last, held for a
    /// look.
    let settling = Mutex<Settling?>(nil)
    /// The number of rows since the last checkpoint, where the daemon makes checkpoints itself; guarded by the queue's
    /// turn.
    private let unsettledRows = Atomic<Int>(0)
    /// This many rows make a log of some megabytes.
    private static let settledRows = 8_000

    /// Opens or creates a database.
    ///
    /// - Parameters:
    ///   - check: is asked before anything of the file is changed.
    ///   - prepare: checks or makes the tables.
    /// - Throws: what these throw; SQLFailure (``SQLFailure/isCorruption`` if the file is no database).
    init(
        path: String, readOnly: Bool, check: @escaping @Sendable (Database) throws -> Void = { _ in },
        prepare: (Database) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.label = "catalog"
        configuration.readonly = readOnly
        // A transaction stays open between accesses while the disk is full (see `stage`).
        configuration.allowsUnsafeTransactions = true
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY")
            guard !readOnly else { return try check(database) }
            // The lock on `format` excludes other processes, so the log's index need not be shared memory. Staged rows
            // must not spill to a full disk.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try check(database)
            try database.execute(
                sql: """
                    PRAGMA cache_spill = OFF;
                    PRAGMA synchronous = NORMAL;
                    PRAGMA wal_autocheckpoint = 4000;
                    PRAGMA journal_mode = WAL;
                    """)
        }
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction(prepare)
        } catch { throw Self.failure(error) }
    }

    /// The version of a database's tables; 0 if it has none.
    static func version(_ database: Database) throws -> Int64 {
        try SQLStatement(database, "PRAGMA user_version").first { $0.integer(0) } ?? 0
    }

    /// Reads the pages that every access needs, so that their damage shows now.
    static func touch(_ tables: [String], _ database: Database) throws {
        for table in tables {
            _ = try SQLStatement(database, "SELECT 1 FROM \(table) LIMIT 1").first { $0.integer(0) }
        }
    }

    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do { return try queue.writeWithoutTransaction(body) } catch { throw Self.failure(error) }
    }

    /// Answers a reader; errors are the store's.
    func read<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        do { return try access(body) } catch { throw Self.storeError(error) }
    }

    static func storeError(_ error: any Error) -> StoreError {
        switch Self.failure(error) {
        case let error as StoreError: error
        case let failure as SQLFailure: .catalog(code: failure.code, failure.message)
        default: .catalog(code: SQLITE_ERROR, "\(error)")
        }
    }

    private static func failure(_ error: any Error) -> any Error {
        switch error {
        case let failure as SQLFailure: failure
        case let error as StoreError: error
        case let error as DatabaseError:
            SQLFailure(code: error.extendedResultCode.rawValue, message: error.message ?? error.description)
        default: SQLFailure(code: SQLITE_ERROR, message: "\(error)")
        }
    }

    // MARK: Transactions

    /// Applies changes in the open transaction, or in a new one, without a commit. After an error nothing staged is
    /// left.
    static func stage<Told>(_ database: Database, _ apply: () throws -> Told) throws -> Told {
        do {
            if !database.isInsideTransaction { try SQLStatement.run(database, "BEGIN IMMEDIATE") }
            return try apply()
        } catch {
            rollBack(database)
            throw error
        }
    }

    /// Commits what is staged. After an error nothing staged is left.
    static func commitStaged(_ database: Database) throws {
        guard database.isInsideTransaction else { return }
        do {
            try SQLStatement.run(database, "COMMIT")
        } catch {
            rollBack(database)
            throw error
        }
    }

    /// Commits what is staged, or stages it again before a reader looks.
    ///
    /// - Parameter stage: stages all anew.
    /// - Returns: nil after the commit; else its failure, and what `stage` told.
    func commitOrStage<Told>(
        _ commit: (Database) throws -> Void, _ stage: (Database) throws -> Told
    ) -> (failure: any Error, told: Told?)? {
        do {
            return try access { database in
                do { try commit(database) } catch { return (Self.failure(error), try? stage(database)) }
                return nil
            }
        } catch { return (error, nil) }
    }

    private static func rollBack(_ database: Database) {
        // SQLite may have rolled back already.
        if database.isInsideTransaction { try? SQLStatement.run(database, "ROLLBACK") }
    }

    // MARK: The database's log

    /// Writes the log into the database, which synchronizes both.
    ///
    /// - Returns: whether it could be done: not while a transaction is open.
    @discardableResult
    func makeDurable() -> Bool {
        settling.withLock(\.self)?.settle()
        return (try? access { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }) != nil
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
