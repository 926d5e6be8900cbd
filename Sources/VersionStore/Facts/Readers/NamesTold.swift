// The names that one transaction tells of: those before it, as listeners know them, and those behind it.

import Lineage
import VersionModel

/// The name rows of a transaction.
///
/// A name that is published late comes with all rows that it has had. Listeners hear of the last.
struct NamesTold {
    private let look: Look
    private let rows: Set<RowNumber>
    private var bounds: [PlaceNumber: (first: RowNumber, last: RowNumber)] = [:]
    /// The rows, known to listeners, of files that leave their names for others.
    private(set) var leavers: Set<RowNumber> = []

    init(_ look: Look, _ rows: [NameRow]) throws {
        self.look = look
        self.rows = Set(rows.map(\.number))
        for row in rows {
            let known = bounds[row.place] ?? (row.number, row.number)
            bounds[row.place] = (min(known.first, row.number), max(known.last, row.number))
        }
        for row in rows where isLast(row) {
            let first = first(of: row)
            guard first.how == .moved, let former = first.from.flatMap({ look.stored.row($0) }),
                former.place != row.place, try !look.isUntold(former), let departure = look.facts.departure(of: former),
                self.rows.contains(departure.number)
            else { continue }
            leavers.insert(former.number)
        }
    }

    /// Whether each row is the only one of the transaction about its name.
    var areTheLast: Bool { rows.count == bounds.count }

    /// Whether no later row of the transaction is about the same name.
    func isLast(_ row: NameRow) -> Bool { bounds[row.place]?.last == row.number }

    /// The row by which the file got the first of the names that it has had in the transaction.
    func first(of row: NameRow) -> NameRow {
        var first = row
        while first.how == .moved, let from = first.from, rows.contains(from), from < first.number,
            let former = look.stored.row(from)
        {
            first = former
        }
        return first
    }

    /// The row of the file that listeners know at a place.
    func occupant(of place: PlaceNumber) throws -> NameRow? {
        guard let first = bounds[place]?.first, let row = try look.lastRow(at: place, until: first.number &- 1)
        else { return nil }
        return try row.file == nil || look.isUntold(row) ? nil : row
    }

    /// Whether listeners know a file at the place that does not leave it for another name.
    func isOccupied(_ place: PlaceNumber) throws -> Bool {
        try occupant(of: place).map { !leavers.contains($0.number) } ?? false
    }
}

extension Look {
    /// Whether listeners never hear of a name: its program has made it up, and has linked the file to the name that
    /// counts.
    func isUntold(_ row: NameRow) throws -> Bool {
        guard row.file != nil, !row.hasNoVersions, let place = try place(row.place),
            TemporaryNames.mayBeEphemeral(place.name), try isLate(row),
            let link = stored.successors(of: row.number).first(where: { $0.how == .linked })
        else { return false }
        // What another program has saved under it is told before that.
        return try statement(
            """
            SELECT 1 FROM version WHERE item = ?1 AND ifnull(row, item) = ?2 AND seq < ?3
                AND flags & \(FactTables.VersionFlag.isLate) = 0 LIMIT 1
            """, .number(row.document.number), .number(row.number.number), .number(link.number.number)
        ).first { _ in true } == nil
    }

    /// Whether a row was published after its transaction.
    private func isLate(_ row: NameRow) throws -> Bool {
        try !FactTables.flaggedNames(
            database, "seq = ? AND flags & \(FactTables.NameFlag.isLate)", [.number(row.number.number)]
        ).isEmpty
    }
}
