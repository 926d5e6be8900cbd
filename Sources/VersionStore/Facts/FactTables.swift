// Schema 2: the tables that facts are recorded in (facts.md 1 and 7).

internal import GRDB
import Lineage
import VersionModel

/// The tables of facts, as functions of a connection.
///
/// | table | a row is |
/// |---|---|
/// | `name` | a ``NameRow`` that is published: a place has a file from now on, or none |
/// | `version` | a ``VersionRow``, with its document |
///
/// A row stays as it is, but for a version that its handle still amends, and for marks: a version is settled or
/// forgotten, a removal is purged. The number of a fact is its key, so the tables have the order of the facts. Numbers
/// begin at 1. The numbers of places and actors are the catalog's own.
enum FactTables {
    static let schema = """
        CREATE TABLE name (
            seq INTEGER PRIMARY KEY, place INTEGER NOT NULL, file INTEGER, item INTEGER NOT NULL, how INTEGER NOT NULL,
            other INTEGER, time INTEGER NOT NULL, actor INTEGER, flags INTEGER NOT NULL, origin INTEGER,
            purged INTEGER);
        CREATE INDEX name_place ON name (place);
        CREATE INDEX name_file ON name (file) WHERE file IS NOT NULL;
        CREATE INDEX name_item ON name (item, place) WHERE file IS NOT NULL;
        CREATE INDEX name_other ON name (other) WHERE file IS NOT NULL AND other IS NOT NULL;
        CREATE INDEX name_origin ON name (origin) WHERE origin IS NOT NULL;
        CREATE TABLE version (
            seq INTEGER PRIMARY KEY, row INTEGER NOT NULL, item INTEGER NOT NULL, file INTEGER NOT NULL,
            generation INTEGER NOT NULL, saved INTEGER, size INTEGER NOT NULL, high INTEGER NOT NULL,
            low INTEGER NOT NULL, time INTEGER NOT NULL, modified INTEGER NOT NULL, author INTEGER, base INTEGER,
            first INTEGER, second INTEGER, loser INTEGER, flags INTEGER NOT NULL);
        CREATE INDEX version_item ON version (item);
        CREATE INDEX version_content ON version (file, generation);
        CREATE INDEX version_rival ON version (item) WHERE loser IS NOT NULL OR flags & 2;
        """

    /// Bits of `name.flags`.
    enum NameFlag {
        static let isContinuing: Int64 = 1
        static let isDirectory: Int64 = 2
        static let isParted: Int64 = 4
    }

    /// Bits of `version.flags`. The index `version_rival` has the second one in its condition.
    enum VersionFlag {
        static let isBeside: Int64 = 1
        static let isConflict: Int64 = 2
        static let isAppended: Int64 = 4
        static let isAtHome: Int64 = 8
        static let isForgotten: Int64 = 16
        static let isSettled: Int64 = 32
    }

    // MARK: Writing

    /// Records the facts that a transaction tells (``Facts/feed(of:)``): unpublished names are only in memory.
    static func record(_ facts: [Fact], _ database: Database) throws {
        for fact in facts { try record(fact, database) }
    }

    private static func record(_ fact: Fact, _ database: Database) throws {
        switch fact {
        case .row(let row): try put(row, database)
        case .version(let version): try put(version, database)
        case .amend(let version): try amend(version, database)
        case .settle(let version): try set(VersionFlag.isSettled, of: version, database)
        case .forget(let version): try set(VersionFlag.isForgotten, of: version, database)
        // The feed tells the rows themselves.
        case .publish: break
        case .purge(let row):
            try SQLStatement.run(
                database, "UPDATE name SET purged = ? WHERE seq = ?", .number(try lastNumber(database)),
                .number(row.number))
        }
    }

    private static func put(_ row: NameRow, _ database: Database) throws {
        var flags: Int64 = 0
        if row.isContinuing { flags |= NameFlag.isContinuing }
        if row.isDirectory { flags |= NameFlag.isDirectory }
        if row.isParted { flags |= NameFlag.isParted }
        let (how, target) = code(of: row.how)
        try SQLStatement.run(
            database,
            """
            INSERT INTO name (seq, place, file, item, how, other, time, actor, flags, origin)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .number(row.number.number), .integer(Int64(row.place.number)), .number(row.file?.number),
            .number(row.document.number), .integer(how), .number((row.from ?? target)?.number),
            .integer(row.time.nanoseconds), .number(row.actor?.number), .integer(flags), .number(row.origin?.number))
    }

    private static let versionColumns = """
        row, file, generation, saved, size, high, low, time, modified, author, base, first, second, loser, flags
        """

    private static func put(_ version: VersionRow, _ database: Database) throws {
        try SQLStatement.run(
            database,
            """
            INSERT INTO version (seq, item, \(versionColumns))
            VALUES (?1, (SELECT item FROM name WHERE seq = ?2), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
                ?15, ?16)
            """, values(of: version))
    }

    /// A version that is amended stays settled. A number that is not known changes nothing.
    private static func amend(_ version: VersionRow, _ database: Database) throws {
        try SQLStatement.run(
            database,
            """
            UPDATE version SET (item, \(versionColumns)) = (
                (SELECT item FROM name WHERE seq = ?2), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                ?16 | (flags & \(VersionFlag.isSettled)))
            WHERE seq = ?1
            """, values(of: version))
    }

    /// The number, and then as in `versionColumns`.
    private static func values(of version: VersionRow) -> [SQLStatement.Value] {
        var flags: Int64 = 0
        if version.beside == .history { flags |= VersionFlag.isBeside }
        if version.beside == .conflict { flags |= VersionFlag.isConflict }
        if version.isAppended { flags |= VersionFlag.isAppended }
        if version.isAtHome { flags |= VersionFlag.isAtHome }
        if version.isForgotten { flags |= VersionFlag.isForgotten }
        let saved = version.file == version.content.file ? nil : version.file.number
        return [
            .number(version.number.number), .number(version.row.number), .number(version.content.file.number),
            .number(version.content.generation), .number(saved), .number(version.fingerprint.size),
            .number(version.fingerprint.high), .number(version.fingerprint.low), .integer(version.time.nanoseconds),
            .integer(version.modified.nanoseconds), .number(version.author?.number), .number(version.base?.number),
            .number(version.parents.first?.number), .number(version.parents.second?.number),
            .number(version.loser?.number), .integer(flags),
        ]
    }

    private static func set(_ flag: Int64, of version: VersionNumber, _ database: Database) throws {
        try SQLStatement.run(
            database, "UPDATE version SET flags = flags | ? WHERE seq = ?", .integer(flag), .number(version.number))
    }

    /// A number for each way in which a place got a file or lost it, and the row that the file went to.
    private static func code(of how: How) -> (code: Int64, target: RowNumber?) {
        switch how {
        case .created: (0, nil)
        case .moved: (1, nil)
        case .linked: (2, nil)
        case .found: (3, nil)
        case .undeleted: (4, nil)
        case .restored: (5, nil)
        case .movedAway(let target): (6, target)
        case .removed: (7, nil)
        case .hidden: (8, nil)
        }
    }

    static func how(code: Int64, target: RowNumber?) -> How? {
        switch code {
        case 0: .created
        case 1: .moved
        case 2: .linked
        case 3: .found
        case 4: .undeleted
        case 5: .restored
        case 6: .movedAway(to: target)
        case 7: .removed
        case 8: .hidden
        default: nil
        }
    }
}

extension SQLStatement.Value {
    static func number(_ value: UInt64?) -> Self { value.map { .number($0) } ?? .null }
    static func number(_ value: UInt32?) -> Self { value.map { .integer(Int64($0)) } ?? .null }
}
