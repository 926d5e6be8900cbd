// Compares a new catalog with the records of format 1, without the code that has made it.

internal import GRDB
import Lineage
import VersionModel

/// What is in the new catalog is read row by row, and compared with the records:
///
/// | what | must be |
/// |---|---|
/// | versions | each once, of its document, with its size, marks, content and parents that are not later |
/// | documents | the current version, and the unresolved conflicts |
/// | names | those that documents have |
/// | deletions | entries of the deleted list, with their identities |
/// | every 64th version | all that is recorded of it |
struct UpgradeCheck {
    private static let portion = 4096
    private static let sample = 64
    /// So many deletions are looked at as a listing does.
    private static let mostJudged = 20_000

    private let records: FormerRecords
    private let files: any FormerFiles
    private let new: any DatabaseAccess

    init(_ records: FormerRecords, _ files: any FormerFiles, _ new: any DatabaseAccess) {
        (self.records, self.files, self.new) = (records, files, new)
    }

    func run(
        _ version: (Int64) throws -> Version?, _ progress: (Int, Int) throws -> Void
    ) throws {
        var seen = UpgradeSeen(records)
        try readDocuments(&seen)
        try compareNames(seen)
        let entries = try readEntries()
        var after: UInt64 = 0
        while true {
            let rows = try new.access { database in
                try FactTables.versions(
                    database, "seq > ?", .bound(after), order: "seq LIMIT \(Self.portion)"
                ).map { ($0, try FactTables.detail(of: $0.number, database) ?? VersionDetail()) }
            }
            guard let end = rows.last?.0.number.number else { break }
            for (row, detail) in rows { try compare(row, detail, entries, version, &seen) }
            after = end
            try progress(seen.count, records.versions.count)
        }
        try compareOrigins(&seen)
        try seen.requireAll(records)
        try compareDeletions()
    }

    // MARK: Names

    private func readDocuments(_ seen: inout UpgradeSeen) throws {
        var after: UInt64 = 0
        while true {
            let rows = try new.access { database in
                try SQLStatement(
                    database,
                    """
                    SELECT seq, item, alias FROM name WHERE seq > ? AND alias NOT NULL AND file NOT NULL
                    ORDER BY seq LIMIT ?
                    """, .bound(after), .integer(Int64(Self.portion))
                ).rows { row in (number: row.number(0), document: row.number(1), alias: row.blob(2)) }
            }
            guard let end = rows.last?.number else { return }
            for row in rows {
                guard let index = ItemID(bytes: row.alias).flatMap({ records.index(of: $0) }) else {
                    throw differs("a document", "\(row.document)")
                }
                seen.documents[Int(index)] = row.document
            }
            after = end
        }
    }

    private func compareNames(_ seen: UpgradeSeen) throws {
        var living: UInt64 = 0
        for (index, document) in records.documents.enumerated() {
            for place in document.places {
                living += 1
                let shown = try new.access { database in
                    try SQLStatement(
                        database,
                        """
                        SELECT item, file FROM name
                        WHERE place = (SELECT number FROM place WHERE directory = ? AND name = ?)
                        ORDER BY seq DESC LIMIT 1
                        """, .number(place.directory.number), .blob(place.name.bytes)
                    ).first { $0.isNull(1) ? 0 : $0.number(0) }
                }
                guard let shown, shown != 0, shown == seen.documents[index] else {
                    throw differs("a name", document.id?.hex ?? "\(place.name)")
                }
            }
        }
        let all = try new.access { database in
            try SQLStatement(
                database,
                """
                SELECT count(*) FROM name
                WHERE file NOT NULL AND flags & \(FactTables.NameFlag.hasNoVersions) = 0 AND \(FactTables.isLast)
                """
            ).first { $0.number(0) }
        }
        guard all == living else { throw differs("the number of names", "\(all ?? 0), not \(living)") }
    }

    // MARK: Versions

    private func compare(
        _ row: VersionRow, _ detail: VersionDetail, _ entries: Set<ContentID>,
        _ version: (Int64) throws -> Version?, _ seen: inout UpgradeSeen
    ) throws {
        // The versions of deleted files that had none.
        guard let alias = detail.alias, let index = records.index(of: alias) else { return }
        let former = records.versions[Int(index)]
        let document = try new.access { database in
            try SQLStatement(database, "SELECT item FROM version WHERE seq = ?", .number(row.number.number))
                .first { $0.number(0) }
        }
        let isLost = former.flags.contains(.contentLost)
        guard let document, seen.documents[Int(former.document)] == document, row.fingerprint.size == former.size,
            detail.marks.subtracting(.lost) == former.flags.marks.subtracting(.lost),
            detail.marks.contains(.lost) || !isLost, row.row < RowNumber(row.number.number)
        else { throw differs("a version", alias.hex) }
        try requireContent(of: row, detail, former, entries)
        try seen.add(row, index, records)
        guard seen.count % Self.sample == 0, let whole = try version(former.row) else { return }
        let isHash = whole.hash == nil || whole.hash == detail.hash || whole.size == 0
        guard detail.attributes == whole.attributes, isHash, row.time == whole.saved, row.modified == whole.modified,
            try author(row) == whole.author
        else { throw differs("what is recorded of a version", alias.hex) }
    }

    private func author(_ row: VersionRow) throws -> Author? {
        guard let number = row.author else { return nil }
        return try new.access { database in
            try SQLStatement(
                database, "SELECT user, login, program, process FROM actor WHERE number = ?",
                .integer(Int64(number.number))
            ).first { row in
                Author(
                    userID: UInt32(truncatingIfNeeded: row.integer(0)),
                    user: String(decoding: row.blob(1), as: UTF8.self),
                    program: String(decoding: row.blob(2), as: UTF8.self),
                    process: Int32(truncatingIfNeeded: row.integer(3)))
            }
        }
    }

    /// Its bytes are an object, an entry that becomes one, or in a file that a name has; or it is marked as lost.
    private func requireContent(
        of row: VersionRow, _ detail: VersionDetail, _ former: FormerVersion, _ entries: Set<ContentID>
    ) throws {
        let isSame = row.content.file.number == former.content.high && row.content.generation == former.content.low
        if detail.marks.contains(.lost) { return }
        if isSame, files.hasObject(former.content) || entries.contains(former.content) { return }
        let isNamed = try !isSame && row.content.generation == 0 && new.access { database in
            try SQLStatement(database, "SELECT 1 FROM name WHERE file = ? LIMIT 1", .number(row.content.file.number))
                .first { _ in true } != nil
        }
        guard isNamed else { throw differs("the place of a content", former.content.hex) }
    }

    private func readEntries() throws -> Set<ContentID> {
        try new.access { database in
            Set(try UpgradeTables.moves(limit: -1, database).compactMap { $0.kept?.version.content })
        }
    }

    // MARK: Origins

    private func compareOrigins(_ seen: inout UpgradeSeen) throws {
        let (aliases, origins) = try new.access { database in
            let aliases = try SQLStatement(
                database,
                "SELECT alias.id, version.alias, name.origin FROM alias LEFT JOIN version "
                    + "ON version.seq = alias.version LEFT JOIN name ON name.origin = alias.version"
            ).rows { row in (copy: row.blob(0), original: row.blob(1), isOrigin: !row.isNull(2)) }
            let origins = try SQLStatement(
                database, "SELECT seq FROM name WHERE origin NOT NULL AND (origin > seq OR origin NOT IN "
                    + "(SELECT version FROM alias))"
            ).rows { $0.number(0) }
            return (aliases, origins)
        }
        for (copy, original, isOrigin) in aliases {
            guard let copy = VersionID(bytes: copy).flatMap({ records.index(of: $0) }),
                let original = VersionID(bytes: original).flatMap({ records.index(of: $0) }), isOrigin,
                records.versions[Int(copy)].content == records.versions[Int(original)].content,
                records.versions[Int(copy)].size == records.versions[Int(original)].size
            else { throw differs("the origin of a document", "\(copy)") }
            seen.addOrigin(copy)
        }
        if let document = origins.first { throw differs("the origin of a document", "\(document)") }
    }

    // MARK: Deletions

    private func compareDeletions() throws {
        let reader = FactReader(new, epoch: ContainerID(high: 0, low: 0))
        for (index, deletion) in records.deletions.enumerated() {
            let number = try new.access { try FactTables.removal(alias: deletion.id, $0) }
            if number == nil, deletion.type == .link { continue }
            guard let number else { throw differs("a deletion", deletion.id.hex) }
            guard index < Self.mostJudged, deletion.type != .link else { continue }
            // What has its name again is no entry, though its record was left behind.
            if deletion.type != .file, files.entry(deletion.path)?.file == deletion.file { continue }
            guard let entry = try reader.deletedEntry(number), entry.kind != .replaced, entry.place == deletion.place,
                entry.departure.time == deletion.deleted,
                entry.occupant.hasNoVersions == (deletion.type == .directory)
            else { throw differs("an entry of the deleted list", deletion.id.hex) }
        }
    }
}

/// What was seen in a new catalog, by the indexes of the records; 0 for nothing.
struct UpgradeSeen {
    /// The numbers of documents.
    var documents: [UInt64]
    /// The numbers of versions.
    private(set) var versions: [UInt64]
    /// The newest version of each document that was shown.
    private var current: [UInt64]
    private var conflicts: [Int32: Set<UInt64>] = [:]
    private(set) var count = 0

    /// The number of a version that has become another one.
    private static let isOrigin = UInt64.max

    init(_ records: FormerRecords) {
        documents = Array(repeating: 0, count: records.documents.count)
        versions = Array(repeating: 0, count: records.versions.count)
        current = documents
    }

    mutating func add(_ row: VersionRow, _ index: Int32, _ records: FormerRecords) throws {
        let former = records.versions[Int(index)]
        guard versions[Int(index)] == 0 else { throw differs("a version that is there twice", former.id.hex) }
        versions[Int(index)] = row.number.number
        count += 1
        if row.beside == .no { current[Int(former.document)] = row.number.number }
        if row.beside == .conflict { conflicts[former.document, default: []].insert(row.number.number) }
        if let loser = row.loser {
            guard records.versions(of: former.document).contains(where: { versions[Int($0)] == loser.number }) else {
                throw differs("a loser", former.id.hex)
            }
            conflicts[former.document, default: []].insert(loser.number)
        }
        for parent in [row.parents.first, row.parents.second].compactMap({ $0 }) where parent >= row.number {
            throw differs("a parent of a version", former.id.hex)
        }
        // A copy that became its original has no number of its own.
        let first = records.parents(of: index).first.flatMap { records.index(of: $0) }.map { versions[Int($0)] }
        if let first, first != 0, let named = row.parents.first, named.number != first {
            throw differs("the parent of a version", former.id.hex)
        }
    }

    mutating func addOrigin(_ copy: Int32) {
        if versions[Int(copy)] == 0 { versions[Int(copy)] = Self.isOrigin }
    }

    func requireAll(_ records: FormerRecords) throws {
        if let missing = versions.firstIndex(of: 0) {
            throw differs("a version is missing", records.versions[missing].id.hex)
        }
        var wanted: [Int32: Set<UInt64>] = [:]
        for (index, version) in records.versions.enumerated() where version.kind == .conflict {
            wanted[version.document, default: []].insert(versions[index])
        }
        for index in records.documents.indices {
            let own = records.current(of: Int32(index)).map { versions[Int($0)] }
            // One that began with another's version shows that until it is saved.
            let id = records.documents[index].id?.hex ?? ""
            if current[index] != 0, current[index] != own { throw differs("the current version of a document", id) }
            let (found, former) = (conflicts[Int32(index)] ?? [], wanted[Int32(index)] ?? [])
            guard found.filter({ $0 != own }) == former.filter({ $0 != own }) else {
                throw differs("the conflicts of a document", id)
            }
        }
    }
}

private func differs(_ what: String, _ subject: String) -> UpgradeDifference {
    UpgradeDifference(what: what, subject: subject)
}

/// A new catalog that does not say what format 1 does.
struct UpgradeDifference: Error, CustomStringConvertible {
    var what: String
    var subject: String

    var description: String { "the new catalog differs: \(what), \(subject)" }
}
