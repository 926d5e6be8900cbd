// How facts are recorded in the tables.

internal import GRDB
import Lineage
import VersionModel

/// The tables of facts, as functions of a connection (``FactSchema``).
enum FactTables {
    /// Bits of `name.flags`.
    enum NameFlag {
        static let isContinuing: Int64 = 1
        static let hasNoVersions: Int64 = 2
        static let isParted: Int64 = 4
        /// Three bits for what the place has; 0 for a file, and for a directory of a row without a detail. A row of a
        /// symlink or a special file has `hasNoVersions`, too: to the rules it is as a directory.
        static let typeShift: Int64 = 3
        static let types: Int64 = 7 << typeShift
        /// More facts of its transaction follow.
        static let isFollowed: Int64 = 64
        static let isEntry: Int64 = 128
        /// It was published after its transaction, so that an event tells of it.
        static let isLate: Int64 = 256
    }

    /// Bits of `version.flags`. The indexes of `version` have some in their conditions.
    enum VersionFlag {
        static let isBeside: Int64 = 1
        static let isConflict: Int64 = 2
        static let isAppended: Int64 = 4
        static let isAtHome: Int64 = 8
        static let isForgotten: Int64 = 16
        static let isSettled: Int64 = 32
        /// As for names.
        static let isFollowed: Int64 = 64
        static let isLate: Int64 = 1024
        /// Another version has won against it.
        static let isLoser: Int64 = 2048
        static let isImage: Int64 = 4096
        /// The bits of ``VersionMarks``.
        static let marksShift: Int64 = 7
        static let marks: Int64 = 7 << marksShift
        /// What an amendment leaves as it is.
        static let kept = isForgotten | isSettled | isFollowed | isLate | isLoser | marks
    }

    // MARK: Writing

    /// How the facts of a transaction are told again from the tables.
    struct Telling: Hashable, Sendable {
        /// The first number that belongs to the transaction; facts with smaller ones are late.
        var first: UInt64
        /// The last number of the transaction; facts with smaller ones are followed.
        var last: UInt64

        static let plainly = Telling(first: 0, last: 0)

        fileprivate func flags(_ number: UInt64, isFollowed: Int64, isLate: Int64) -> Int64 {
            if number < first { return isLate }
            return number < last ? isFollowed : 0
        }
    }

    /// Records the facts that a transaction tells (``Facts/feed(of:)``): unpublished names are only in memory.
    static func record(
        _ facts: [Fact], _ details: FactDetails = FactDetails(), _ telling: Telling = .plainly, _ database: Database
    ) throws {
        for fact in facts { try record(fact, details, telling, database) }
    }

    private static func record(
        _ fact: Fact, _ details: FactDetails, _ telling: Telling, _ database: Database
    ) throws {
        switch fact {
        case .row(let row): try put(row, details.names[row.number], telling, database)
        case .version(let version):
            try put(version, details.versions[version.number], telling, database)
            if let loser = version.loser { try set(VersionFlag.isLoser, of: loser, database) }
        case .amend(let version):
            try amend(version, details.versions[version.number], database)
            if let loser = version.loser { try set(VersionFlag.isLoser, of: loser, database) }
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

    private static func put(
        _ row: NameRow, _ detail: NameDetail?, _ telling: Telling, _ database: Database
    ) throws {
        var flags = telling.flags(
            row.number.number, isFollowed: NameFlag.isFollowed, isLate: NameFlag.isLate)
        if row.isContinuing { flags |= NameFlag.isContinuing }
        if row.hasNoVersions { flags |= NameFlag.hasNoVersions }
        if row.isParted { flags |= NameFlag.isParted }
        if let detail {
            flags |= Int64(detail.type.code) << NameFlag.typeShift
            if detail.isEntry { flags |= NameFlag.isEntry }
        }
        let (how, target) = code(of: row.how)
        let alias = detail?.document?.bytes ?? detail?.deletion?.bytes
        try SQLStatement.run(
            database,
            """
            INSERT OR REPLACE INTO name (seq, place, file, item, how, other, time, actor, flags, origin, alias)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .number(row.number.number), .integer(Int64(row.place.number)), .number(row.file?.number),
            .number(row.document.number), .integer(how), .number((row.from ?? target)?.number),
            .integer(row.time.nanoseconds), .number(row.actor?.number), .integer(flags), .number(row.origin?.number),
            .optional(alias))
    }

    private static let versionColumns = """
        row, file, generation, saved, size, high, low, time, modified, author, base, first, second, loser, flags,
        rest, changed, mode, owner, "group", access, alias
        """

    private static func put(
        _ version: VersionRow, _ detail: VersionDetail?, _ telling: Telling, _ database: Database
    ) throws {
        let flags = telling.flags(
            version.number.number, isFollowed: VersionFlag.isFollowed, isLate: VersionFlag.isLate)
        try SQLStatement.run(
            database,
            """
            INSERT OR REPLACE INTO version (seq, item, \(versionColumns))
            SELECT ?1, item, nullif(?2, item), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                ?19, ?20, ?21, ?22, ?23 FROM \(document)
            """, values(of: version, detail, flags))
    }

    /// The document of a version's row. A version without a row is in a document of its own: that is damage, which must
    /// not stop the writer.
    private static let document = "(SELECT ifnull((SELECT item FROM name WHERE seq = ?2), ?2) AS item)"

    /// A version that is amended keeps its marks, stays settled, and without a detail has the one that it had. A number
    /// that is not known changes nothing.
    private static func amend(_ version: VersionRow, _ detail: VersionDetail?, _ database: Database) throws {
        let kept = """
            ?18, ifnull(?19, mode), ifnull(?20, owner), ifnull(?21, "group"),
            CASE WHEN ?19 IS NULL THEN access ELSE ?22 END, ifnull(?23, alias)
            """
        let same = "CASE WHEN size = ?6 AND high = ?7 AND low = ?8 THEN ifnull(?17, rest) ELSE ?17 END"
        try SQLStatement.run(
            database,
            """
            UPDATE version SET (item, \(versionColumns)) = (
                SELECT own.item, nullif(?2, own.item), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                    ?16 | (flags & \(VersionFlag.kept)), \(same), \(kept) FROM \(document) own)
            WHERE seq = ?1
            """, values(of: version, detail, 0))
    }

    /// The number, and then as in `versionColumns`.
    private static func values(
        of version: VersionRow, _ detail: VersionDetail?, _ told: Int64
    ) -> [SQLStatement.Value] {
        var flags = told
        if version.beside == .history { flags |= VersionFlag.isBeside }
        if version.beside == .conflict { flags |= VersionFlag.isConflict }
        if version.isAppended { flags |= VersionFlag.isAppended }
        if version.isAtHome { flags |= VersionFlag.isAtHome }
        if version.isForgotten { flags |= VersionFlag.isForgotten }
        if version.isImage { flags |= VersionFlag.isImage }
        if let detail { flags |= Int64(detail.marks.rawValue) << VersionFlag.marksShift & VersionFlag.marks }
        let saved = version.file == version.content.file ? nil : version.file.number
        let attributes = detail?.attributes
        return [
            .number(version.number.number), .number(version.row.number), .number(version.content.file.number),
            .number(version.content.generation), .number(saved), .number(version.fingerprint.size),
            .number(version.fingerprint.high), .number(version.fingerprint.low), .integer(version.time.nanoseconds),
            since(version.time, version.modified), .number(version.author?.number), base(of: version),
            .number(version.parents.first?.number), .number(version.parents.second?.number),
            .number(version.loser?.number), .integer(flags), .optional(rest(detail?.hash, version.fingerprint)),
            detail?.changed.map { since(version.modified, $0) } ?? .null, .number(attributes?.mode),
            .number(attributes?.owner), .number(attributes?.group), .optional(attributes?.accessList),
            .optional(detail?.alias?.bytes),
        ]
    }

    private static func base(of version: VersionRow) -> SQLStatement.Value {
        version.base == version.parents.first ? .null : .number(version.base?.number ?? 0)
    }

    /// A time near another one takes less room as a difference.
    private static func since(_ time: Timestamp, _ other: Timestamp) -> SQLStatement.Value {
        .integer(other.nanoseconds &- time.nanoseconds)
    }

    /// The part of a hash that the fingerprint has not; nil for what is no hash of that content.
    private static func rest(_ hash: [UInt8]?, _ fingerprint: Fingerprint) -> [UInt8]? {
        guard let hash, hash.count == 32, let first = ContentID(bytes: hash.prefix(16)),
            first.high == fingerprint.high, first.low == fingerprint.low
        else { return nil }
        return Array(hash.suffix(16))
    }

    private static func set(_ flag: Int64, of version: VersionNumber, _ database: Database) throws {
        try SQLStatement.run(
            database, "UPDATE version SET flags = flags | ? WHERE seq = ?", .integer(flag), .number(version.number))
    }

    /// The number of a removal that is shown.
    static let removed = code(of: .removed).code

    /// A number for each way in which a place got a file or lost it, and the row that the file went to.
    static func code(of how: How) -> (code: Int64, target: RowNumber?) {
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
