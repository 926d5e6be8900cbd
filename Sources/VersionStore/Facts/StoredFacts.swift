import Lineage
internal import GRDB
import Synchronization
import VersionModel

/// A connection to a database, one access at a time.
protocol DatabaseAccess: Sendable {
    func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer
}

extension Catalog: DatabaseAccess {}

/// The facts of the catalog, each found by a key.
///
/// A question has no answer where the catalog cannot be read, or is damaged. A caller looks at ``failure`` before it
/// relies on any, and takes new facts for its next plan.
public final class StoredFacts: FactLog {
    private let catalog: any DatabaseAccess
    /// Innermost: held for a look.
    private let failed = Mutex<(any Error)?>(nil)

    init(_ catalog: any DatabaseAccess) { self.catalog = catalog }

    /// The first failure.
    public var failure: (any Error)? { failed.withLock { $0 } }

    func read<Answer>(_ none: Answer, _ query: (Database) throws -> Answer) -> Answer {
        do { return try catalog.access(query) } catch {
            failed.withLock { $0 = $0 ?? error }
            return none
        }
    }

    public var lastNumber: UInt64 { read(0) { try FactTables.lastNumber($0) } }

    public func row(_ number: RowNumber) -> NameRow? {
        read(nil) { try FactTables.names($0, "seq = ?", .number(number.number)).first }
    }

    public func version(_ number: VersionNumber) -> VersionRow? { read(nil) { try FactTables.version(number, $0) } }

    public func isSettled(_ version: VersionNumber) -> Bool {
        read(false) { database in
            try SQLStatement(
                database, "SELECT 1 FROM version WHERE seq = ? AND flags & \(FactTables.VersionFlag.isSettled)",
                .number(version.number)
            ).first { _ in true } ?? false
        }
    }

    public func purge(of removal: RowNumber) -> Facts.Purged? {
        read(nil) { database in
            try SQLStatement(
                database, "SELECT purged FROM name WHERE seq = ? AND purged IS NOT NULL", .number(removal.number)
            ).first { Facts.Purged(removal: removal, last: $0.number(0)) }
        }
    }

    // MARK: Places

    public func lastRow(at place: PlaceNumber) -> NameRow? {
        read(nil) {
            try FactTables.names($0, "place = ? ORDER BY seq DESC LIMIT 1", .integer(Int64(place.number))).first
        }
    }

    public func lastOccupant(of place: PlaceNumber, before number: RowNumber) -> NameRow? {
        read(nil) {
            try FactTables.names(
                $0, "place = ? AND seq < ? AND file IS NOT NULL ORDER BY seq DESC LIMIT 1",
                .integer(Int64(place.number)), .bound(number.number)
            ).first
        }
    }

    public func firstRow(at place: PlaceNumber, after number: RowNumber) -> NameRow? {
        read(nil) {
            try FactTables.names(
                $0, "place = ? AND seq > ? ORDER BY seq LIMIT 1", .integer(Int64(place.number)), .bound(number.number)
            ).first
        }
    }

    public func successors(of number: RowNumber) -> [NameRow] {
        read([]) {
            try FactTables.names($0, "other = ? AND file IS NOT NULL ORDER BY seq", .number(number.number))
        }
    }

    // MARK: Files

    public func names(of file: FileID) -> [NameRow] {
        read([]) {
            try FactTables.names($0, "file = ? AND \(FactTables.isLast) ORDER BY seq", .number(file.number))
        }
    }

    public func namesOfFiles(from file: FileID) -> [NameRow] {
        let common = """
            WITH RECURSIVE stop (number) AS (
                SELECT seq FROM name WHERE file = ?
                UNION SELECT name.seq FROM stop JOIN name ON name.other = stop.number
                WHERE name.file IS NOT NULL AND name.seq > stop.number)
            """
        let condition = """
            seq IN (SELECT number FROM stop) AND flags & \(FactTables.NameFlag.hasNoVersions) = 0
                AND \(FactTables.isLast) ORDER BY seq
            """
        return read([]) { try FactTables.names($0, condition, .number(file.number), common: common) }
    }

    public func lastRow(of file: FileID) -> NameRow? {
        read(nil) { try FactTables.names($0, "file = ? ORDER BY seq DESC LIMIT 1", .number(file.number)).first }
    }

    public func versions(in content: Content) -> [VersionRow] {
        read([]) {
            try FactTables.versions(
                $0, "file = ? AND generation = ?", .number(content.file.number), .number(content.generation))
        }
    }

    public func lastContent(of file: FileID) -> Content? {
        read(nil) { database in
            try SQLStatement(
                database, "SELECT generation FROM version WHERE file = ? ORDER BY generation DESC LIMIT 1",
                .number(file.number)
            ).first { Content(file: file, generation: $0.number(0)) }
        }
    }

    // MARK: Documents

    /// The last row of a document at each of its places.
    private static let lastRows = "SELECT max(seq) FROM name WHERE item = ?1 AND file IS NOT NULL GROUP BY place"

    public func names(of document: DocumentNumber) -> [NameRow] {
        read([]) {
            try FactTables.names(
                $0, "seq IN (\(Self.lastRows)) AND \(FactTables.isLast) ORDER BY seq", .number(document.number))
        }
    }

    public func rows(of document: DocumentNumber, after number: RowNumber) -> [NameRow] {
        read([]) {
            try FactTables.names(
                $0, "item = ? AND seq > ? AND file IS NOT NULL ORDER BY seq", .number(document.number),
                .bound(number.number))
        }
    }

    public func lastRow(of document: DocumentNumber) -> NameRow? {
        read(nil) {
            try FactTables.names(
                $0, "seq = (SELECT max(seq) FROM name WHERE item = ? AND file IS NOT NULL)", .number(document.number)
            ).first
        }
    }

    /// Of each place it is the row that follows the document's last one, or the one before, if that is there still.
    public func lastDeparture(of document: DocumentNumber) -> NameRow? {
        let common = """
            WITH last (seq, place) AS (
                SELECT max(seq), place FROM name WHERE item = ?1 AND file IS NOT NULL GROUP BY place),
            former (seq, place) AS (
                SELECT max(name.seq), name.place FROM name JOIN last ON name.place = last.place
                WHERE name.item = ?1 AND name.file IS NOT NULL AND name.seq < last.seq GROUP BY name.place)
            """
        let condition = """
            seq = (SELECT max((SELECT min(next.seq) FROM name next
                               WHERE next.place = own.place AND next.seq > own.seq))
                   FROM (SELECT * FROM last UNION ALL SELECT * FROM former) own)
            """
        return read(nil) { try FactTables.names($0, condition, .number(document.number), common: common).first }
    }

    /// None: unpublished names are only in memory.
    public func unpublishedRows(of document: DocumentNumber) -> [NameRow] { [] }

    public func documents(from version: VersionNumber) -> [DocumentNumber] {
        read([]) {
            try FactTables.names($0, "origin = ? ORDER BY seq", .number(version.number)).map(\.document)
        }
    }

    public func versions(of document: DocumentNumber) -> [VersionRow] {
        read([]) { try FactTables.versions($0, "item = ?", .number(document.number)) }
    }

    public func versions(of document: DocumentNumber, equalTo content: Fingerprint) -> [VersionRow] {
        read([]) {
            try FactTables.versions(
                $0, "item = ? AND size = ? AND high = ? AND low = ?", .number(document.number), .number(content.size),
                .number(content.high), .number(content.low))
        }
    }

    public func newestVersion(of document: DocumentNumber, until number: UInt64, isShown: Bool) -> VersionRow? {
        let beside = FactTables.VersionFlag.isBeside | FactTables.VersionFlag.isConflict
        return read(nil) {
            try FactTables.versions(
                $0, "item = ? AND seq <= ? AND (? OR flags & \(beside) = 0)", .number(document.number), .bound(number),
                .integer(isShown ? 0 : 1), order: "seq DESC LIMIT 1"
            ).first
        }
    }

    public func rivals(of document: DocumentNumber) -> [VersionRow] {
        read([]) {
            try FactTables.versions($0, "item = ? AND (loser IS NOT NULL OR flags & 2)", .number(document.number))
        }
    }

    public func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Bool {
        read(false) { database in
            try !FactTables.versions(
                database,
                "item = ? AND seq > ? AND ifnull(row, item) > ? AND flags & \(FactTables.VersionFlag.isAtHome)",
                .number(document.number), .bound(row.number), .bound(row.number), order: "seq LIMIT 1"
            ).isEmpty
        }
    }
}

extension SQLStatement.Value {
    /// A number to compare with: one that is larger than any key is the largest key.
    static func bound(_ value: UInt64) -> Self { .integer(Int64(clamping: value)) }
}
