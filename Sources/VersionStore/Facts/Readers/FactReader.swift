// Lists and pages of what facts say, for requests that ask about more than one key.

internal import GRDB
import Lineage
import VersionModel

/// Reads the tables of facts for users: the tree at a moment, the deleted list, histories, conflicts, the feed.
///
/// SQL finds candidates by an index, and Lineage's rules judge each. Every function is one access to the catalog, which
/// ends after a page or after ``looks`` rows, so that no save waits for a long list.
public struct FactReader: Sendable {
    /// The largest number of rows that are examined in one access.
    static let looks = 2048
    /// How many rows are read at once, at most that many in vain.
    static let portion = 64

    private let catalog: any DatabaseAccess
    let ids: FactIDs

    /// - Parameter epoch: what the identities of facts derive from.
    init(_ catalog: any DatabaseAccess, epoch: ContainerID) {
        self.catalog = catalog
        ids = FactIDs(epoch: epoch)
    }

    /// One access to the catalog.
    func look<Answer>(_ body: (Look) throws -> Answer) throws(StoreError) -> Answer {
        do {
            return try catalog.access { database in
                let look = Look(database)
                let answer = try body(look)
                if let failure = look.stored.failure { throw failure }
                return answer
            }
        } catch let failure as SQLFailure {
            throw .catalog(code: failure.code, failure.message)
        } catch let failure as DatabaseError {
            throw .catalog(code: failure.extendedResultCode.rawValue, failure.message ?? failure.description)
        } catch let failure as StoreError {
            throw failure
        } catch {
            throw .catalog(code: 1, "\(error)")
        }
    }
}

/// A part of a list, and where the next one begins. A part may have fewer elements than its limit, which is at least 1,
/// and yet not be the last.
public struct FactPage<Element: Sendable, Cursor: Sendable>: Sendable {
    public var elements: [Element]
    /// nil at the end.
    public var next: Cursor?
}

/// The tables during one access: queries, and Lineage's rules over the same facts.
struct Look {
    let database: Database
    let stored: StoredFacts
    let facts: Facts

    init(_ database: Database) {
        self.database = database
        stored = StoredFacts(Held(database: database))
        facts = Facts(over: stored)
    }

    /// A connection that is held already.
    private struct Held: DatabaseAccess, @unchecked Sendable {
        // Sendable because a look does not leave its access.
        let database: Database

        func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer { try body(database) }
    }

    /// Visits rows in their order, as many as fill a page, or ``FactReader/looks``.
    ///
    /// - Parameters:
    ///   - start: where the walk begins.
    ///   - rows: the next rows from there, at most so many.
    ///   - cursor: where a walk goes on behind a row.
    /// - Returns: where it goes on; nil at the end.
    func walk<Row, Cursor>(
        from start: Cursor, portion: Int = FactReader.portion, _ rows: (Cursor, Int) throws -> [Row],
        cursor: (Row) -> Cursor, isFull: () -> Bool, visit: (Row) throws -> Void
    ) throws -> Cursor? {
        var (at, looked) = (start, 0)
        while looked < FactReader.looks {
            let next = try rows(at, portion)
            for row in next {
                if isFull() { return at }
                at = cursor(row)
                try visit(row)
            }
            if next.count < portion { return nil }
            looked += next.count
        }
        return at
    }

    func statement(_ sql: String, _ values: SQLStatement.Value...) throws -> SQLStatement {
        try SQLStatement(database, sql, values)
    }

    // MARK: Places

    func place(_ number: PlaceNumber) throws -> Place? {
        try statement("SELECT directory, name FROM place WHERE number = ?", .integer(Int64(number.number))).first(
            Self.place)
    }

    func number(of place: Place) throws -> PlaceNumber? {
        try statement(
            "SELECT number FROM place WHERE directory = ? AND name = ?", .number(place.directory.number),
            .blob(place.name.bytes)
        ).first { row in UInt32(exactly: row.integer(0)).map { PlaceNumber($0) } }
    }

    /// Begins with the directory and the name.
    private static func place(_ row: SQLStatement) -> Place? {
        FileName(bytes: row.blob(1)).map { Place(directory: FileID(row.number(0)), name: $0) }
    }

    /// The last row of a place until a number.
    func lastRow(at place: PlaceNumber, until number: UInt64) throws -> NameRow? {
        try FactTables.names(
            database, "place = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", .integer(Int64(place.number)),
            .bound(number)
        ).first
    }

    // MARK: Documents

    /// The version that the names of a document showed when a number was the last.
    func version(of document: DocumentNumber, until number: UInt64 = .max) -> VersionRow? {
        guard document.number <= number else { return nil }
        if let own = stored.newestVersion(of: document, until: number, isShown: true) { return own }
        return facts.origin(of: document).flatMap { facts[$0] }
    }
}
