// What the catalog has of facts beside what the rules read: read, and changed.

internal import GRDB
import Lineage
import VersionModel

extension FactTables {
    /// What the catalog has of a version beside its row; nil for a number that is not known.
    static func detail(of version: VersionNumber, _ database: Database) throws -> VersionDetail? {
        try SQLStatement(
            database,
            """
            SELECT high, low, rest, mode, owner, "group", access, time, modified, changed, flags, alias
            FROM version WHERE seq = ?
            """, .number(version.number)
        ).first(versionDetail)
    }

    private static func versionDetail(_ row: SQLStatement) -> VersionDetail {
        var detail = VersionDetail()
        if !row.isNull(2) {
            detail.hash = ContentID(high: row.number(0), low: row.number(1)).bytes + row.blob(2)
        }
        if !row.isNull(3) {
            detail.attributes = Attributes(
                mode: UInt32(truncatingIfNeeded: row.integer(3)), owner: UInt32(truncatingIfNeeded: row.integer(4)),
                group: UInt32(truncatingIfNeeded: row.integer(5)), accessList: row.isNull(6) ? nil : row.blob(6))
        }
        if !row.isNull(9) {
            detail.changed = Timestamp(nanoseconds: row.integer(7) &+ row.integer(8) &+ row.integer(9))
        }
        let marks = (row.integer(10) & VersionFlag.marks) >> VersionFlag.marksShift
        detail.marks = VersionMarks(rawValue: UInt8(truncatingIfNeeded: marks))
        detail.alias = row.isNull(11) ? nil : VersionID(bytes: row.blob(11))
        return detail
    }

    /// What versions are before they are amended.
    static func former(_ facts: [Fact], _ database: Database) throws -> [FactEvent] {
        try facts.compactMap { fact in
            guard case .amend(let version) = fact, let former = try self.version(version.number, database) else {
                return nil
            }
            let size = version.isAppended ? former.fingerprint.size : nil
            return .former(version.number, size: size, since: former.time)
        }
    }

    /// What the catalog has of a name beside its row; nil for a number that is not known.
    static func detail(of row: RowNumber, _ database: Database) throws -> NameDetail? {
        try SQLStatement(database, "SELECT flags, file, alias FROM name WHERE seq = ?", .number(row.number)).first {
            row in
            let flags = row.integer(0)
            var detail = NameDetail(type: type(flags), isEntry: flags & NameFlag.isEntry != 0)
            guard !row.isNull(2) else { return detail }
            if row.isNull(1) {
                detail.deletion = DeletionID(bytes: row.blob(2))
            } else {
                detail.document = ItemID(bytes: row.blob(2))
            }
            return detail
        }
    }

    private static func type(_ flags: Int64) -> EntryType {
        let code = UInt8(truncatingIfNeeded: (flags & NameFlag.types) >> NameFlag.typeShift)
        let isDirectory = code == EntryType.file.code && flags & NameFlag.hasNoVersions != 0
        return isDirectory ? .directory : EntryType(code: code) ?? .file
    }

    /// The condition that a row that gives a place a file gives it a directory.
    static let hasDirectory = """
        flags & \(NameFlag.hasNoVersions) AND flags & \(NameFlag.types)
            IN (0, \(Int64(EntryType.directory.code) << NameFlag.typeShift))
        """

    // MARK: Identities from elsewhere

    /// The version with an identity that does not derive from its number.
    static func version(alias: VersionID, _ database: Database) throws -> VersionNumber? {
        try SQLStatement(
            database, "SELECT seq FROM version WHERE alias = ?1 UNION ALL SELECT version FROM alias WHERE id = ?1",
            .blob(alias.bytes)
        ).first { VersionNumber($0.number(0)) }
    }

    /// The document with an identity that does not derive from its number.
    static func document(alias: ItemID, _ database: Database) throws -> DocumentNumber? {
        try SQLStatement(
            database, "SELECT item FROM name WHERE alias = ? AND file IS NOT NULL", .blob(alias.bytes)
        ).first { DocumentNumber($0.number(0)) }
    }

    /// The removal with an identity that does not derive from its number.
    static func removal(alias: DeletionID, _ database: Database) throws -> RowNumber? {
        try SQLStatement(database, "SELECT seq FROM name WHERE alias = ? AND file IS NULL", .blob(alias.bytes))
            .first { RowNumber($0.number(0)) }
    }
}
