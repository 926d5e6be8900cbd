// The catalog of schema 2: opened or made, and written in transactions.

internal import GRDB
internal import GRDBSQLite
import Synchronization
import VersionModel

/// The database of facts.
final class FactCatalog: CommitTarget, DatabaseAccess {
    typealias Call = FactTransaction

    static let fileName = "catalog2.sqlite"
    /// The number of the last call that the catalog has: of the redo log, later ones are applied after a crash.
    static let appliedKey = "applied"
    /// Rows of events up to this number are gone.
    static let forgottenKey = "events-forgotten"
    /// About so many rows of events are kept.
    private static let mostEvents: Int64 = 100_000
    /// Old ones are dropped after so many new ones.
    private static let eventsBetween = 10_000
    /// The largest distance of numbers that a power cut may take: ``FactNumbers/skipped`` is more.
    private static let mostUnsettled: UInt64 = 1 << 18

    let connection: CatalogConnection
    /// Whether there were no tables before.
    let wasCreated: Bool
    // Atomics for the compiler: they are used in the writer's turn alone.
    private let lastStaged: Atomic<UInt64>
    private let lastDurable: Atomic<UInt64>
    /// Rows of events since old ones were dropped. The first row of each opening drops them, too.
    private let newEvents = Atomic<Int>(FactCatalog.eventsBetween)

    /// Opens or creates the database.
    ///
    /// - Throws: SQLFailure; ``SQLFailure/isCorruption`` if the file is no usable catalog.
    ///   ``StoreError/unknownCatalog(version:)`` for tables of another version, which stay as they are.
    init(path: String, readOnly: Bool) throws {
        var wasCreated = false
        connection = try CatalogConnection(path: path, readOnly: readOnly, check: Self.check) { database in
            wasCreated = try Self.prepare(database, readOnly: readOnly)
        }
        self.wasCreated = wasCreated
        let last = try connection.access { try FactTables.lastNumber($0) }
        lastStaged = Atomic(last)
        lastDurable = Atomic(last)
    }

    private static func check(_ database: Database) throws {
        let version = try CatalogConnection.version(database)
        let isEmpty = try SQLStatement(database, "SELECT 1 FROM sqlite_schema LIMIT 1").first { _ in true } == nil
        guard version == FactSchema.version || version == 0 && isEmpty else {
            throw StoreError.unknownCatalog(version: version)
        }
    }

    /// - Returns: whether it had no tables.
    private static func prepare(_ database: Database, readOnly: Bool) throws -> Bool {
        if try CatalogConnection.version(database) == FactSchema.version {
            try CatalogConnection.touch(FactSchema.tables, database)
            return false
        }
        guard !readOnly else { throw SQLFailure(code: SQLITE_NOTADB, message: "the catalog has no tables") }
        try database.execute(
            sql: "BEGIN IMMEDIATE; \(FactSchema.text) PRAGMA user_version = \(FactSchema.version); COMMIT")
        return true
    }

    /// Checks every page. Empty if all is well.
    func damage() throws -> [String] {
        try access { try String.fetchAll($0, sql: "PRAGMA integrity_check(20)") }.filter { $0 != "ok" }
    }

    func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer { try connection.access(body) }

    // MARK: Writing

    func stage(_ calls: ArraySlice<FactTransaction>, applied: UInt64) throws -> [FactTransaction] {
        try access { try stage(calls, applied, $0) }
    }

    private func stage(
        _ calls: ArraySlice<FactTransaction>, _ applied: UInt64, _ database: Database
    ) throws -> [FactTransaction] {
        try CatalogConnection.stage(database) {
            for call in calls { try apply(call, database) }
            try Self.set("meta", Self.appliedKey, Self.bytes(of: applied), database)
            return Array(calls)
        }
    }

    func commitStaged() throws { try access { try CatalogConnection.commitStaged($0) } }

    func commitOrStage(
        _ calls: ArraySlice<FactTransaction>, applied: UInt64
    ) -> (failure: any Error, told: [FactTransaction]?)? {
        connection.commitOrStage(CatalogConnection.commitStaged) { try stage(calls, applied, $0) }
    }

    private func apply(_ transaction: FactTransaction, _ database: Database) throws {
        for record in transaction.places { try FactTables.put(record, database) }
        for record in transaction.actors { try FactTables.put(record, database) }
        let former = try FactTables.former(transaction.facts, database)
        try FactTables.record(transaction.facts, transaction.details, transaction.telling, database)
        for change in transaction.changes { try FactTables.apply(change, database) }
        lastStaged.store(
            max(lastStaged.load(ordering: .relaxed), transaction.telling.last, transaction.lastNumber),
            ordering: .relaxed)
        guard let number = transaction.eventNumber else { return }
        var writer = ByteWriter()
        writer.list(transaction.allEvents(first: transaction.telling.first) + former) { $0.event($1) }
        try SQLStatement.run(
            database, "INSERT OR REPLACE INTO event (seq, record) VALUES (?, ?)", .number(number), .blob(writer.bytes))
        if newEvents.add(1, ordering: .relaxed).newValue >= Self.eventsBetween {
            newEvents.store(0, ordering: .relaxed)
            try Self.forgetEvents(beyond: Self.mostEvents, database)
        }
    }

    /// Drops old rows of events, and notes where those that are left begin.
    static func forgetEvents(beyond most: Int64, _ database: Database) throws {
        let last = try SQLStatement(
            database, "SELECT seq FROM event ORDER BY seq DESC LIMIT 1 OFFSET ?", .integer(most)
        ).first { $0.number(0) }
        guard let last else { return }
        try SQLStatement.run(database, "DELETE FROM event WHERE seq <= ?", .number(last))
        try set("meta", forgottenKey, bytes(of: last), database)
    }

    func makeDurable() { _ = isMadeDurable() }

    /// - Returns: whether it could be done: not while the writer has staged something.
    func isMadeDurable() -> Bool {
        let last = lastStaged.load(ordering: .relaxed)
        guard connection.makeDurable() else { return false }
        lastDurable.store(last, ordering: .relaxed)
        return true
    }

    /// The numbers before this one are left out, or durable.
    func noteDurable(_ number: UInt64) { lastDurable.store(number, ordering: .relaxed) }

    func settleLog(_ rows: Int) {
        connection.settleLog(rows)
        let (last, durable) = (lastStaged.load(ordering: .relaxed), lastDurable.load(ordering: .relaxed))
        if last > durable, last - durable > Self.mostUnsettled { makeDurable() }
    }

    // MARK: Small values

    func meta(_ key: String) throws -> [UInt8]? { try access { try Self.value("meta", key, $0) } }

    func setMeta(_ key: String, _ value: [UInt8]?) throws { try access { try Self.set("meta", key, value, $0) } }

    /// A number of those that count something; nil for other bytes.
    func number(_ key: String) throws -> UInt64? {
        guard let bytes = try meta(key) else { return nil }
        var reader = ByteReader(bytes)
        return try? min(reader.fixed64(), FactNumbers.most)
    }

    /// - Parameter table: `meta` or `setting`.
    static func value(_ table: String, _ key: String, _ database: Database) throws -> [UInt8]? {
        try SQLStatement(database, "SELECT value FROM \(table) WHERE key = ?", .text(key)).first { $0.blob(0) }
    }

    static func set(_ table: String, _ key: String, _ value: [UInt8]?, _ database: Database) throws {
        guard let value else {
            return try SQLStatement.run(database, "DELETE FROM \(table) WHERE key = ?", .text(key))
        }
        try SQLStatement.run(
            database, "INSERT OR REPLACE INTO \(table) (key, value) VALUES (?, ?)", .text(key), .blob(value))
    }

    static func bytes(of number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.fixed(number)
        return writer.bytes
    }
}
