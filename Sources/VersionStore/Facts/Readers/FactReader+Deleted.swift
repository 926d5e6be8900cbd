// The deleted list: one entry for each removal, or rename, that undelete takes back.

internal import GRDB
import Lineage
import VersionModel

/// Something without its name.
public struct DeletedFact: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// A directory, a symlink or a special file; or a document without a name.
        case deleted
        /// One name of several.
        case name
        /// A document whose file was renamed over another one.
        case replaced
    }

    public var kind: Kind
    /// The row by which the name went. Its number is the entry's.
    public var departure: NameRow
    /// The row by which it had been there.
    public var occupant: NameRow
    /// The place that the name was at.
    public var place: Place
    /// What it showed last; nil for what has no versions.
    public var version: VersionRow?
    /// What the place had, and whether `deleted/` has it.
    public var detail: NameDetail

    public var number: RowNumber { departure.number }
}

extension FactReader {
    /// Where a list that goes back goes on: before a number.
    public typealias Before = UInt64

    /// The deleted list of the whole container, newest first.
    /// - Parameters:
    ///   - entry: where the page begins: before this number.
    ///   - last: only entries that were deleted after this number.
    public func deleted(
        before entry: Before? = nil, after last: UInt64 = 0, limit: Int
    ) throws(StoreError) -> FactPage<DeletedFact, Before> {
        try look { look in
            try look.page(before: entry, limit: limit) { try look.departures(before: $0, after: last, limit: $1) }
        }
    }

    /// What was deleted in a directory, newest first, also if that has gone.
    public func deleted(
        in directory: FileID, before entry: Before? = nil, limit: Int
    ) throws(StoreError) -> FactPage<DeletedFact, Before> {
        try look { look in
            try look.page(before: entry, limit: limit) { try look.departures(in: directory, before: $0, limit: $1) }
        }
    }

    /// What was deleted at a place, newest first.
    public func deleted(
        at place: Place, before entry: Before? = nil, limit: Int
    ) throws(StoreError) -> FactPage<DeletedFact, Before> {
        try look { look in
            guard let number = try look.number(of: place) else { return FactPage(elements: [], next: nil) }
            return try look.page(before: entry, limit: limit) {
                try look.departures(at: number, before: $0, limit: $1)
            }
        }
    }

    /// The entry of a departure; nil if it has none, or has none any more.
    public func deletedEntry(_ number: RowNumber) throws(StoreError) -> DeletedFact? {
        try look { look in try look.stored.row(number).flatMap { try look.entry(of: $0) } }
    }

    /// The entries of a document, newest first: its own, and those of its names.
    public func deleted(of document: DocumentNumber) throws(StoreError) -> [DeletedFact] {
        try look { look in
            var entries: [DeletedFact] = []
            for place in try look.places(of: document) {
                var before: Before = .max
                while let next = try look.departures(at: place, before: before, limit: 1).first {
                    before = next.number.number
                    if let entry = try look.entry(of: next), entry.occupant.document == document {
                        entries.append(entry)
                    }
                }
            }
            return entries.sorted { $0.number > $1.number }
        }
    }
}

extension Look {
    // MARK: Candidates

    /// Departures that may have an entry: those whose document has not come back to the place since. What was purged
    /// may have one again by a later save.
    private static let mayBeEntry = """
        NOT EXISTS (
            SELECT 1 FROM name back WHERE back.place = name.place AND back.seq > name.seq AND back.file IS NOT NULL
                AND back.item = \(occupant))
        AND (purged IS NULL OR EXISTS (
            SELECT 1 FROM version WHERE version.item = \(occupant) AND version.seq > purged AND version.flags & 16 = 0))
        """
    /// The document that left.
    private static let occupant = """
        (SELECT item FROM name own WHERE own.place = name.place AND own.seq < name.seq AND own.file IS NOT NULL
         ORDER BY own.seq DESC LIMIT 1)
        """

    /// All departures, newest first.
    func departures(before end: UInt64, after first: UInt64 = 0, limit: Int) throws -> [NameRow] {
        try FactTables.names(
            database, "file IS NULL AND seq < ? AND seq > ? ORDER BY seq DESC LIMIT ?", .bound(end), .bound(first),
            .integer(Int64(limit)))
    }

    /// Those of the places of a directory.
    func departures(in directory: FileID, before end: UInt64, limit: Int) throws -> [NameRow] {
        try FactTables.names(
            database,
            """
            seq IN (SELECT gone.seq FROM place CROSS JOIN name gone ON gone.place = place.number
                    WHERE place.directory = ? AND gone.file IS NULL AND gone.seq < ?
                    ORDER BY gone.seq DESC LIMIT ?) ORDER BY seq DESC
            """, .number(directory.number), .bound(end), .integer(Int64(limit)))
    }

    func departures(at place: PlaceNumber, before end: UInt64, limit: Int) throws -> [NameRow] {
        try FactTables.names(
            database, "place = ? AND file IS NULL AND seq < ? ORDER BY seq DESC LIMIT ?",
            .integer(Int64(place.number)), .bound(end), .integer(Int64(limit)))
    }

    /// The places at which a document had a name, each found by a key.
    func places(of document: DocumentNumber) throws -> [PlaceNumber] {
        var places: [PlaceNumber] = []
        while true {
            let next = try statement(
                "SELECT min(place) FROM name WHERE item = ? AND place > ? AND file IS NOT NULL",
                .number(document.number), .integer(places.last.map { Int64($0.number) } ?? -1)
            ).first { row in row.optional(0).flatMap { UInt32(exactly: $0) } } ?? nil
            guard let next else { return places }
            places.append(PlaceNumber(next))
        }
    }

    // MARK: Entries

    /// The entries of departures that go back, in their order.
    fileprivate func page(
        before entry: FactReader.Before?, limit: Int, _ departures: (UInt64, Int) throws -> [NameRow]
    ) throws -> FactPage<DeletedFact, FactReader.Before> {
        var entries: [DeletedFact] = []
        let next = try walk(
            from: entry ?? .max, departures, cursor: { $0.number.number }, isFull: { entries.count >= limit },
            visit: { departure in try self.entry(of: departure).map { entries.append($0) } })
        return FactPage(elements: entries, next: next)
    }

    func entry(of departure: NameRow) throws -> DeletedFact? {
        guard departure.file == nil, try mayBeEntry(departure) else { return nil }
        guard let (kind, found) = judged(departure), let place = try place(departure.place) else { return nil }
        var detail = try FactTables.detail(of: departure.number, database) ?? NameDetail()
        if found.occupant.hasNoVersions {
            if Self.leavesNothing(detail) { return nil }
            if detail.type == .file { detail.type = try type(of: found.occupant) }
        }
        let until = kind == .name ? departure.number.number : .max
        return DeletedFact(
            kind: kind, departure: departure, occupant: found.occupant, place: place,
            version: found.occupant.hasNoVersions ? nil : version(of: found.occupant.document, until: until),
            detail: detail)
    }

    /// Whether the removal of what has no versions has put nothing into `deleted/`: its program had made the name up.
    /// Of a removal without a detail that is not known.
    static func leavesNothing(_ detail: NameDetail) -> Bool { detail.type != .file && !detail.isEntry }

    private func mayBeEntry(_ departure: NameRow) throws -> Bool {
        try statement("SELECT 1 FROM name WHERE seq = ? AND \(Self.mayBeEntry)", .number(departure.number.number))
            .first { _ in true } ?? false
    }

    private func judged(_ departure: NameRow) -> (DeletedFact.Kind, Facts.Deleted)? {
        if let deleted = facts.deletion(by: departure) { return (.deleted, deleted) }
        if let name = facts.removedName(by: departure) { return (.name, name) }
        return facts.replacement(by: departure).map { (.replaced, $0) }
    }
}
