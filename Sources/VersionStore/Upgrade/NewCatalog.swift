// The database that an upgrade fills: tables first, indexes last.

internal import GRDB
internal import GRDBSQLite
import Lineage
import VersionModel

/// Writes the facts of an upgrade into a database of its own, which counts for nothing until it has its name.
final class NewCatalog: UpgradeSink {
    /// So many rows are written at once.
    private static let portion = 256
    /// The id of the boot in which the processes of format 1 ran: nothing is known of it.
    private static let boot = [UInt8](repeating: 0, count: 16)

    private let queue: DatabaseQueue
    private var facts: [Fact] = []
    private var details = FactDetails()

    /// - Parameter isFilled: whether it has its tables already, and is opened again to be looked at.
    init(path: String, isFilled: Bool = false) throws {
        var configuration = Configuration()
        configuration.label = "upgrade"
        configuration.allowsUnsafeTransactions = true
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            // What is left of it after a crash is removed, so nothing need be taken back.
            try database.execute(
                sql: """
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA journal_mode = OFF;
                    PRAGMA synchronous = OFF;
                    PRAGMA cache_size = -65536;
                    """)
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        if isFilled { return }
        try run(Self.statements.filter { !$0.isIndex }.map(\.text))
        try access { database in
            try database.execute(sql: UpgradeTables.schema)
            try SQLStatement.run(database, "INSERT INTO boot (number, id) VALUES (1, ?)", .blob(Self.boot))
        }
    }

    /// The statements of the schema.
    private static let statements: [(text: String, isIndex: Bool)] =
        FactSchema.text.split(separator: ";").compactMap { statement in
            let words = statement.split(whereSeparator: { $0 == " " || $0 == "\n" })
            return words.isEmpty ? nil : (String(statement), words.prefix(3).contains("INDEX"))
        }

    private func run(_ statements: [String]) throws {
        for statement in statements { try access { try $0.execute(sql: statement) } }
    }

    func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
        try queue.writeWithoutTransaction(body)
    }

    // MARK: Filling

    func begin() throws { try run(["BEGIN"]) }

    func put(_ place: Place, _ number: PlaceNumber) throws {
        try access { database in
            try SQLStatement.run(
                database, "INSERT INTO place (number, directory, name) VALUES (?, ?, ?)",
                .integer(Int64(number.number)), .number(place.directory.number), .blob(place.name.bytes))
        }
    }

    func put(_ author: Author, _ number: ActorNumber) throws {
        try access { database in
            try SQLStatement.run(
                database,
                """
                INSERT INTO actor (number, boot, process, started, user, login, program) VALUES (?, 1, ?, 0, ?, ?, ?)
                """,
                .integer(Int64(number.number)), .integer(Int64(author.process)), .integer(Int64(author.userID)),
                .text(author.user), .text(author.program))
        }
    }

    func put(_ row: NameRow, _ detail: NameDetail) throws {
        facts.append(.row(row))
        details.names[row.number] = detail
        try writePortion()
    }

    func put(_ version: VersionRow, _ detail: VersionDetail) throws {
        facts.append(.version(version))
        details.versions[version.number] = detail
        try writePortion()
    }

    private func writePortion(isLast: Bool = false) throws {
        guard facts.count >= (isLast ? 1 : Self.portion) else { return }
        try access { try FactTables.record(facts, details, .plainly, $0) }
        facts.removeAll(keepingCapacity: true)
        details = FactDetails()
    }

    func put(alias: VersionID, of version: VersionNumber) throws {
        try access { database in
            try SQLStatement.run(
                database, "INSERT OR IGNORE INTO alias (id, version) VALUES (?, ?)", .blob(alias.bytes),
                .number(version.number))
        }
    }

    func put(_ change: FactChange) throws {
        try access { try FactTables.apply(change, $0) }
    }

    func put(_ move: EntryMove) throws {
        try access { try UpgradeTables.put(move, $0) }
    }

    func takeOver(_ settings: [(String, [UInt8])]) throws {
        try access { database in
            for (key, value) in settings {
                try SQLStatement.run(
                    database, "INSERT INTO setting (key, value) VALUES (?, ?)", .text(key), .blob(value))
            }
        }
    }

    func set(_ meta: [(String, [UInt8])]) throws {
        try access { database in
            for (key, value) in meta {
                try SQLStatement.run(
                    database, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", .text(key), .blob(value))
            }
        }
    }

    /// Ends the transaction.
    func commit() throws {
        try writePortion(isLast: true)
        try run(["COMMIT"])
    }

    func makeIndexes() throws {
        try run(Self.statements.filter(\.isIndex).map(\.text))
        try run(["PRAGMA user_version = \(FactSchema.version)"])
    }

    func close() throws { try queue.close() }
}

extension NewCatalog: DatabaseAccess, @unchecked Sendable {
    // Used by one thread.
}
