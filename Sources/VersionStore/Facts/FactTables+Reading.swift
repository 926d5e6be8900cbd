// The questions of ``FactLog``, as queries of schema 2.

internal import GRDB
internal import GRDBSQLite
import Lineage
import VersionModel

extension FactTables {
    private static let nameColumns = "seq, place, file, item, how, other, time, actor, flags, origin"
    private static let versionColumns = """
        seq, ifnull(row, item), file, generation, saved, size, high, low, time, modified, author,
        nullif(ifnull(base, first), 0), first, second, loser, flags
        """

    static func lastNumber(_ database: Database) throws -> UInt64 {
        try SQLStatement(
            database,
            """
            SELECT max(ifnull((SELECT max(seq) FROM name), 0), ifnull((SELECT max(seq) FROM version), 0),
                ifnull((SELECT max(seq) FROM event), 0))
            """
        ).first { $0.number(0) } ?? 0
    }

    // MARK: Rows

    /// Name rows that fit a condition.
    static func names(
        _ database: Database, _ condition: String, _ values: SQLStatement.Value..., common: String = ""
    ) throws -> [NameRow] {
        try SQLStatement(database, "\(common) SELECT \(nameColumns) FROM name WHERE \(condition)", values)
            .rows(nameRow)
    }

    /// Name rows that fit a condition, with all their flags.
    static func flaggedNames(
        _ database: Database, _ condition: String, _ values: [SQLStatement.Value]
    ) throws -> [(row: NameRow, flags: Int64)] {
        try SQLStatement(database, "SELECT \(nameColumns) FROM name WHERE \(condition)", values)
            .rows { (try nameRow($0), $0.integer(8)) }
    }

    /// The condition that a row is the last of its place.
    static let isLast = """
        NOT EXISTS (SELECT 1 FROM name later WHERE later.place = name.place AND later.seq > name.seq)
        """

    /// Columns as in `nameColumns`.
    private static func nameRow(_ row: SQLStatement) throws -> NameRow {
        guard let place = UInt32(exactly: row.integer(1)) else { throw damage("name", row) }
        let file = row.optional(2).map { FileID($0) }
        let other = row.optional(5).map { RowNumber($0) }
        guard let how = how(code: row.integer(4), target: file == nil ? other : nil) else { throw damage("name", row) }
        var name = NameRow(
            number: RowNumber(row.number(0)), time: Timestamp(nanoseconds: row.integer(6)), place: PlaceNumber(place),
            file: file, how: how, actor: try actor(row, 7))
        name.document = DocumentNumber(row.number(3))
        if file != nil { name.from = other }
        let flags = row.integer(8)
        name.isContinuing = flags & NameFlag.isContinuing != 0
        name.hasNoVersions = flags & NameFlag.hasNoVersions != 0
        name.isParted = flags & NameFlag.isParted != 0
        name.origin = row.optional(9).map { VersionNumber($0) }
        return name
    }

    // MARK: Versions

    /// Versions that fit a condition, oldest first, but for forgotten ones.
    static func versions(
        _ database: Database, _ condition: String, _ values: SQLStatement.Value..., order: String = "seq"
    ) throws -> [VersionRow] {
        try SQLStatement(
            database,
            """
            SELECT \(versionColumns) FROM version
            WHERE \(condition) AND flags & \(VersionFlag.isForgotten) = 0 ORDER BY \(order)
            """, values
        ).rows(versionRow)
    }

    /// Versions that fit a condition, also forgotten ones, with all their flags.
    static func flaggedVersions(
        _ database: Database, _ condition: String, _ values: [SQLStatement.Value]
    ) throws -> [(row: VersionRow, flags: Int64)] {
        try SQLStatement(database, "SELECT \(versionColumns) FROM version WHERE \(condition)", values)
            .rows { (try versionRow($0), $0.integer(15)) }
    }

    /// A version, also if it is forgotten.
    static func version(_ number: VersionNumber, _ database: Database) throws -> VersionRow? {
        try SQLStatement(
            database, "SELECT \(versionColumns) FROM version WHERE seq = ?", .number(number.number)
        ).first(versionRow)
    }

    private static func versionRow(_ row: SQLStatement) throws -> VersionRow {
        let file = FileID(row.number(2))
        var version = VersionRow(
            number: VersionNumber(row.number(0)), time: Timestamp(nanoseconds: row.integer(8)),
            row: RowNumber(row.number(1)), content: Content(file: file, generation: row.number(3)),
            fingerprint: Fingerprint(size: row.number(5), high: row.number(6), low: row.number(7)),
            file: row.optional(4).map { FileID($0) } ?? file,
            modified: Timestamp(nanoseconds: row.integer(8) &+ row.integer(9)), author: try actor(row, 10))
        version.base = row.optional(11).map { VersionNumber($0) }
        version.parents = Parents(
            row.optional(12).map { VersionNumber($0) }, row.optional(13).map { VersionNumber($0) })
        version.loser = row.optional(14).map { VersionNumber($0) }
        let flags = row.integer(15)
        if flags & VersionFlag.isBeside != 0 { version.beside = .history }
        if flags & VersionFlag.isConflict != 0 { version.beside = .conflict }
        version.isAppended = flags & VersionFlag.isAppended != 0
        version.isAtHome = flags & VersionFlag.isAtHome != 0
        version.isForgotten = flags & VersionFlag.isForgotten != 0
        version.isImage = flags & VersionFlag.isImage != 0
        return version
    }

    private static func actor(_ row: SQLStatement, _ column: Int32) throws -> ActorNumber? {
        guard let number = row.optional(column) else { return nil }
        guard let number = UInt32(exactly: number) else { throw damage("actor", row) }
        return ActorNumber(number)
    }

    /// A row with a value that cannot be one.
    private static func damage(_ table: String, _ row: SQLStatement) -> SQLFailure {
        SQLFailure(code: SQLITE_CORRUPT, message: "\(table) \(row.number(0)) has an impossible value")
    }
}

extension SQLStatement {
    /// A number, or nil for NULL.
    func optional(_ column: Int32) -> UInt64? { isNull(column) ? nil : number(column) }
}
