// The names of a directory, and of all below it, when a number was the last.

internal import GRDB
import Lineage
import VersionModel

/// A name that a directory had.
public struct NameThen: Hashable, Sendable {
    public var place: Place
    public var placeNumber: PlaceNumber
    /// The row by which it had its file, and its document.
    public var row: NameRow
    public var type: EntryType
    /// What it showed; nil for what has no versions.
    public var version: VersionRow?
    /// Whether the file was found there later: it had been there before anything was recorded of it, or came unseen.
    public var isFoundLater: Bool
}

extension FactReader {
    /// The names of a directory when a number was the last, in the order of their bytes. Names of which no row tells
    /// are not among them: they were there all the time.
    /// - Parameters:
    ///   - name: where the page begins: behind this one.
    ///   - number: nil: as it is now.
    public func names(
        in directory: FileID, at number: UInt64? = nil, after name: FileName? = nil, limit: Int
    ) throws(StoreError) -> FactPage<NameThen, FileName> {
        try look { look in
            var names: [NameThen] = []
            let next = try look.walk(
                from: name, { try look.spots(in: directory, after: $0, limit: $1) }, cursor: { $0.name },
                isFull: { names.count >= limit },
                visit: { spot in try look.name(spot, in: directory, at: number).map { names.append($0) } })
            return FactPage(elements: names, next: next ?? nil)
        }
    }

    /// What a place had when a number was the last.
    public func name(at place: Place, at number: UInt64? = nil) throws(StoreError) -> NameThen? {
        try look { look in
            try look.number(of: place).flatMap { try look.name(($0, place.name), in: place.directory, at: number) }
        }
    }

    /// A document of a directory, with the numbers that a listing shows.
    public struct ListedName: Hashable, Sendable {
        public var name: NameThen
        /// Its versions of its own.
        public var versions: Int
        public var conflicts: [VersionNumber]
    }

    /// The documents of a directory with their counts of versions and conflicts, as ``names(in:at:after:limit:)``.
    public func listing(
        of directory: FileID, after name: FileName? = nil, limit: Int
    ) throws(StoreError) -> FactPage<ListedName, FileName> {
        let page = try names(in: directory, after: name, limit: limit)
        return try look { look in
            FactPage(elements: try page.elements.compactMap(look.listed), next: page.next)
        }
    }

    /// The same of some names that are there.
    public func listing(of directory: FileID, _ names: [FileName]) throws(StoreError) -> [ListedName] {
        try look { look in
            try names.compactMap { name in
                try look.number(of: Place(directory: directory, name: name))
                    .flatMap { try look.name(($0, name), in: directory, at: nil) }.flatMap(look.listed)
            }
        }
    }
}

extension Look {
    typealias Spot = (number: PlaceNumber, name: FileName)

    /// The places of a directory, whether they have a file or not.
    func spots(in directory: FileID, after name: FileName?, limit: Int) throws -> [Spot] {
        try statement(
            "SELECT number, name FROM place WHERE directory = ? AND name > ? ORDER BY name LIMIT ?",
            .number(directory.number), .blob(name?.bytes ?? []), .integer(Int64(limit))
        ).rows { row in
            guard let number = UInt32(exactly: row.integer(0)), let name = FileName(bytes: row.blob(1)) else {
                return nil
            }
            return (PlaceNumber(number), name)
        }
    }

    func name(_ spot: Spot, in directory: FileID, at number: UInt64?) throws -> NameThen? {
        let place = Place(directory: directory, name: spot.name)
        let last = number ?? .max
        if let row = try lastRow(at: spot.number, until: last) {
            guard row.file != nil else { return nil }
            return NameThen(
                place: place, placeNumber: spot.number, row: row, type: try type(of: row),
                version: row.hasNoVersions ? nil : version(of: row.document, until: last), isFoundLater: false)
        }
        guard let row = stored.firstRow(at: spot.number, after: RowNumber(0)), row.how == .found else { return nil }
        if let departure = facts.departure(of: row), try isUnheard(row, until: departure) { return nil }
        // The version that was recorded with the row.
        let version = stored.version(VersionNumber(row.number.number &+ 1))
        return NameThen(
            place: place, placeNumber: spot.number, row: row, type: try type(of: row),
            version: version.flatMap { $0.row == row.number && !$0.isForgotten ? $0 : nil }, isFoundLater: true)
    }

    func listed(_ name: NameThen) throws -> FactReader.ListedName? {
        guard !name.row.hasNoVersions else { return nil }
        let document = name.row.document
        return FactReader.ListedName(
            name: name, versions: try countOfVersions(of: document), conflicts: facts.conflicts(of: document))
    }

    /// What a row gives its place.
    func type(of row: NameRow) throws -> EntryType {
        guard row.hasNoVersions else { return .file }
        return try FactTables.detail(of: row.number, database)?.type ?? .directory
    }

    /// Whether something without versions was found under a name that its program had made up and has removed.
    func isUnheard(_ row: NameRow, until departure: NameRow) throws -> Bool {
        guard row.hasNoVersions, row.how == .found, departure.how == .removed,
            let detail = try FactTables.detail(of: departure.number, database)
        else { return false }
        return Self.leavesNothing(detail)
    }

    func countOfVersions(of document: DocumentNumber) throws -> Int {
        try statement(
            "SELECT count(*) FROM version WHERE item = ? AND flags & \(FactTables.VersionFlag.isForgotten) = 0",
            .number(document.number)
        ).first { Int(clamping: $0.integer(0)) } ?? 0
    }
}
