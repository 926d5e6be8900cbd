// One prepared statement of the catalog: bind, step, read columns. GRDB prepares and caches it.

internal import GRDB
internal import GRDBSQLite

/// A failure of SQLite.
struct SQLFailure: Error {
    var code: Int32
    var message: String

    /// The file is not a database, or is damaged.
    var isCorruption: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff) }
}

/// Binds values without the conversions of GRDB's arguments, because the writer binds a dozen per row.
struct SQLStatement {
    /// A value to bind.
    enum Value {
        case integer(Int64)
        case blob([UInt8])
        case text(String)
        case null

        static func number(_ value: UInt64) -> Value { .integer(Int64(bitPattern: value)) }
        static func optional(_ bytes: [UInt8]?) -> Value { bytes.map { .blob($0) } ?? .null }
    }

    private let pointer: OpaquePointer?
    private let connection: OpaquePointer?
    /// Keeps the statement from being finalized during its use.
    private let statement: Statement

    /// A cached statement, ready to be stepped.
    init(_ database: Database, _ sql: String, _ values: Value...) throws { try self.init(database, sql, values) }

    init(_ database: Database, _ sql: String, _ values: [Value]) throws {
        statement = try database.cachedStatement(sql: sql)
        pointer = statement.sqliteStatement
        connection = database.sqliteConnection
        sqlite3_reset(pointer)
        for (index, value) in values.enumerated() { try bind(Int32(index + 1), value) }
    }

    /// Runs a statement without result rows.
    static func run(_ database: Database, _ sql: String, _ values: Value...) throws { try run(database, sql, values) }

    static func run(_ database: Database, _ sql: String, _ values: [Value]) throws {
        let statement = try SQLStatement(database, sql)
        for (index, value) in values.enumerated() { try statement.bind(Int32(index + 1), value) }
        defer { sqlite3_reset(statement.pointer) }
        while try statement.step() {}
    }

    private func bind(_ index: Int32, _ value: Value) throws {
        // SQLITE_TRANSIENT: SQLite copies the bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code: Int32
        switch value {
        case .integer(let number): code = sqlite3_bind_int64(pointer, index, number)
        case .blob(let bytes):
            code =
                bytes.isEmpty
                ? sqlite3_bind_zeroblob(pointer, index, 0)
                : sqlite3_bind_blob(pointer, index, bytes, Int32(clamping: bytes.count), transient)
        case .text(let text): code = sqlite3_bind_text(pointer, index, text, -1, transient)
        case .null: code = sqlite3_bind_null(pointer, index)
        }
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Goes to the next row; false after the last one, and the statement is then reset.
    func step() throws -> Bool {
        let code = sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(pointer)
            return false
        default:
            let failure = failure(code)
            sqlite3_reset(pointer)
            throw failure
        }
    }

    /// Ends a walk before its last row.
    func reset() { sqlite3_reset(pointer) }

    /// All rows, each read by `body`; nil results are left out.
    func rows<Result>(_ body: (SQLStatement) throws -> Result?) throws -> [Result] {
        defer { sqlite3_reset(pointer) }
        var results: [Result] = []
        while try step() {
            if let result = try body(self) { results.append(result) }
        }
        return results
    }

    /// The first row.
    func first<Result>(_ body: (SQLStatement) throws -> Result?) throws -> Result? {
        defer { sqlite3_reset(pointer) }
        return try step() ? try body(self) : nil
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
    func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(pointer, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    private func failure(_ code: Int32) -> SQLFailure {
        SQLFailure(code: code, message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "")
    }
}
