// The tables of what facts name by numbers: places, boots, actors; and changes that are no facts.

internal import GRDB
import Lineage
import VersionModel

extension FactTables {
    // MARK: Places

    static func put(_ record: PlaceRecord, _ database: Database) throws {
        try SQLStatement.run(
            database, "INSERT OR IGNORE INTO place (number, directory, name) VALUES (?, ?, ?)",
            .integer(Int64(record.number.number)), .number(record.place.directory.number),
            .blob(record.place.name.bytes))
    }

    static func number(of place: Place, _ database: Database) throws -> PlaceNumber? {
        try SQLStatement(
            database, "SELECT number FROM place WHERE directory = ? AND name = ?", .number(place.directory.number),
            .blob(place.name.bytes)
        ).first { PlaceNumber(UInt32(truncatingIfNeeded: $0.integer(0))) }
    }

    static func place(_ number: PlaceNumber, _ database: Database) throws -> Place? {
        try SQLStatement(
            database, "SELECT directory, name FROM place WHERE number = ?", .integer(Int64(number.number))
        ).first { row in
            FileName(bytes: row.blob(1)).map { Place(directory: FileID(row.number(0)), name: $0) }
        }
    }

    /// The places in a directory, by name, at most so many.
    static func places(in directory: FileID, limit: Int, _ database: Database) throws -> [PlaceRecord] {
        try SQLStatement(
            database, "SELECT number, name FROM place WHERE directory = ? LIMIT ?", .number(directory.number),
            .integer(Int64(limit))
        ).rows { row in
            FileName(bytes: row.blob(1)).map { name in
                PlaceRecord(
                    number: PlaceNumber(UInt32(truncatingIfNeeded: row.integer(0))),
                    place: Place(directory: directory, name: name))
            }
        }
    }

    // MARK: Actors

    /// The number of a boot, which is given now if the catalog does not know it.
    static func number(ofBoot id: [UInt8], isGiven: Bool, _ database: Database) throws -> UInt32 {
        if isGiven { try SQLStatement.run(database, "INSERT OR IGNORE INTO boot (id) VALUES (?)", .blob(id)) }
        return try SQLStatement(database, "SELECT number FROM boot WHERE id = ?", .blob(id))
            .first { UInt32(truncatingIfNeeded: $0.integer(0)) } ?? 0
    }

    static func put(_ record: ActorRecord, _ database: Database) throws {
        let author = record.facts.author
        try SQLStatement.run(
            database,
            """
            INSERT OR IGNORE INTO actor (number, boot, process, started, user, login, program)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(Int64(record.number.number)), .integer(Int64(record.boot)), .integer(Int64(author.process)),
            .number(record.facts.started), .integer(Int64(author.userID)), .text(author.user), .text(author.program))
    }

    private static let actorColumns = "number, boot, process, started, user, login, program"

    private static func actorRecord(_ row: SQLStatement) -> ActorRecord {
        ActorRecord(
            number: ActorNumber(UInt32(truncatingIfNeeded: row.integer(0))),
            boot: UInt32(truncatingIfNeeded: row.integer(1)),
            facts: ActorFacts(
                author: Author(
                    userID: UInt32(truncatingIfNeeded: row.integer(4)), user: row.text(5), program: row.text(6),
                    process: Int32(truncatingIfNeeded: row.integer(2))),
                started: row.number(3)))
    }

    static func actor(_ number: ActorNumber, _ database: Database) throws -> ActorRecord? {
        try SQLStatement(
            database, "SELECT \(actorColumns) FROM actor WHERE number = ?", .integer(Int64(number.number))
        ).first(actorRecord)
    }

    /// What a process has been in a boot: one for each program and user.
    static func actors(of process: ActorRef, boot: UInt32, _ database: Database) throws -> [ActorRecord] {
        try SQLStatement(
            database, "SELECT \(actorColumns) FROM actor WHERE process = ? AND started = ? AND boot = ?",
            .integer(Int64(process.process)), .number(process.started), .integer(Int64(boot))
        ).rows(actorRecord)
    }

    /// The largest number in use.
    /// - Parameter table: `place` or `actor`.
    static func lastNumber(in table: String, _ database: Database) throws -> UInt32 {
        try SQLStatement(database, "SELECT max(number) FROM \(table)").first { row in
            UInt32(clamping: row.integer(0))
        } ?? 0
    }

    // MARK: Changes that are no facts

    static func apply(_ change: FactChange, _ database: Database) throws {
        switch change {
        case .hash(let version, let hash):
            guard hash.count == 32, let first = ContentID(bytes: hash.prefix(16)) else { return }
            try SQLStatement.run(
                database, "UPDATE version SET (high, low, rest) = (?, ?, ?) WHERE seq = ?", .number(first.high),
                .number(first.low), .blob(Array(hash.suffix(16))), .number(version.number))
        case .attributes(let version, let attributes):
            try SQLStatement.run(
                database, "UPDATE version SET (mode, owner, \"group\", access) = (?, ?, ?, ?) WHERE seq = ?",
                .number(attributes.mode), .number(attributes.owner), .number(attributes.group),
                .optional(attributes.accessList), .number(version.number))
        case .marks(let version, let added, let removed):
            try SQLStatement.run(
                database, "UPDATE version SET flags = flags & ~? | ? WHERE seq = ?", .integer(bits(of: removed)),
                .integer(bits(of: added)), .number(version.number))
        case .changed(let version, let time):
            try SQLStatement.run(
                database, "UPDATE version SET changed = ? - time - modified WHERE seq = ?",
                time.map { .integer($0.nanoseconds) } ?? .null, .number(version.number))
        case .removeVersion(let version):
            try SQLStatement.run(database, "DELETE FROM version WHERE seq = ?", .number(version.number))
        case .removeRow(let row):
            for table in ["name", "times"] {
                try SQLStatement.run(database, "DELETE FROM \(table) WHERE seq = ?", .number(row.number))
            }
        case .times(let row, let accessed, let modified):
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO times (seq, accessed, modified) VALUES (?, ?, ?)",
                .number(row.number), .integer(accessed.nanoseconds), .integer(modified.nanoseconds))
        case .label(let subject, let text):
            guard let text else {
                return try SQLStatement.run(database, "DELETE FROM label WHERE subject = ?", .number(subject))
            }
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO label (subject, text) VALUES (?, ?)", .number(subject), .text(text))
        case .directory(let former, let now): try replace(former, by: now, database)
        case .setting(let key, let value): try FactCatalog.set("setting", key, value, database)
        }
    }

    private static func replace(_ former: FileID, by now: FileID, _ database: Database) throws {
        let files: [SQLStatement.Value] = [.number(former.number), .number(now.number)]
        for text in [
            "DELETE FROM place WHERE directory = ?2 AND ?1 <> ?2",
            "UPDATE place SET directory = ?2 WHERE directory = ?1", "UPDATE name SET file = ?2 WHERE file = ?1",
        ] {
            try SQLStatement.run(database, text, files[0], files[1])
        }
    }

    static func times(
        before removal: RowNumber, _ database: Database
    ) throws -> (accessed: Timestamp, modified: Timestamp)? {
        let found = try SQLStatement(
            database, "SELECT accessed, modified FROM times WHERE seq = ?", .number(removal.number))
        return try found.first {
            (accessed: Timestamp(nanoseconds: $0.integer(0)), modified: Timestamp(nanoseconds: $0.integer(1)))
        }
    }

    private static func bits(of marks: VersionMarks) -> Int64 {
        Int64(marks.rawValue) << VersionFlag.marksShift & VersionFlag.marks
    }

    static func label(of subject: UInt64, _ database: Database) throws -> String? {
        try SQLStatement(database, "SELECT text FROM label WHERE subject = ?", .number(subject)).first { $0.text(0) }
    }
}

extension SQLStatement {
    func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }
}
