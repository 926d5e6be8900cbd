// Following: a name to where it has gone, a path to what had it, a document along its facts.

internal import GRDB
import Lineage
import VersionModel

extension FactReader {
    /// What a path is called now: renames of the name, and of the directories above it, followed to the last.
    /// - Returns: nil if the name is there, was not renamed, or is gone from its new name too.
    public func renamed(from path: TreePath) throws(StoreError) -> TreePath? {
        try look { look in
            var (directory, last, isRenamed): (FileID, NameRow?, Bool) = (.root, nil, false)
            for name in path.names {
                if let last { directory = last.file ?? directory }
                guard let number = try look.number(of: Place(directory: directory, name: name)) else { return nil }
                last = look.facts.occupant(of: number)
                if last == nil {
                    isRenamed = true
                    last = look.lastName(from: number)
                }
                guard last != nil else { return nil }
            }
            guard isRenamed, let last, let place = try look.place(last.place) else { return nil }
            return try Directories(look, at: .max).path(of: place)
        }
    }

    /// The places that a path stands for, or ever stood for: one in each directory that had the path above it.
    public func placesEver(at path: TreePath) throws(StoreError) -> [Place] {
        try look { look in try look.ever(at: path).places.compactMap { try look.place($0) } }
    }

    /// The directories that ever had a path, in the order of their identities.
    public func directoriesEver(at path: TreePath) throws(StoreError) -> [FileID] {
        try look { try $0.ever(at: path).directories }
    }

    /// The names and versions of a document, and the departures of its names, newest first.
    /// - Parameter number: where the page begins: before this number.
    public func facts(
        of document: DocumentNumber, before number: Before? = nil, limit: Int
    ) throws(StoreError) -> FactPage<Fact, Before> {
        try look { look in
            let end = number ?? .max
            var all: [(number: UInt64, fact: Fact)] = []
            for place in try look.places(of: document) {
                let rows = try FactTables.names(
                    look.database, "place = ? AND seq < ? ORDER BY seq DESC LIMIT ?", .integer(Int64(place.number)),
                    .bound(end), .integer(Int64(limit)))
                all += rows.map { ($0.number.number, .row($0)) }
            }
            all += try look.versions(of: document, before: end, limit: limit).map { ($0.number.number, .version($0)) }
            let page = all.sorted { $0.number > $1.number }.prefix(limit)
            return FactPage(
                elements: page.map(\.fact).filter { look.isOf($0, document) },
                next: page.count < limit ? nil : page.last?.number)
        }
    }
}

extension Look {
    /// The name that a file got by renames from a place; nil if it has none any more.
    fileprivate func lastName(from place: PlaceNumber) -> NameRow? {
        var (departure, name): (NameRow?, NameRow?) = (stored.lastRow(at: place), nil)
        // Each name is later than the one before, so the walk ends.
        while case .movedAway(let target?) = departure?.how, let row = stored.row(target),
            row.number > name?.number ?? RowNumber(0)
        {
            (name, departure) = (row, facts.departure(of: row))
        }
        return departure == nil ? name : nil
    }

    func ever(at path: TreePath) throws -> (places: [PlaceNumber], directories: [FileID]) {
        var (places, directories): ([PlaceNumber], [FileID]) = ([], [.root])
        for name in path.names {
            places = try directories.compactMap { try number(of: Place(directory: $0, name: name)) }
            directories = Array(Set(try places.flatMap { try directoriesEver(at: $0) })).sorted()
        }
        return (places, directories)
    }

    /// Whether a fact is of a document: it gives it a name, takes one away, or is its version.
    fileprivate func isOf(_ fact: Fact, _ document: DocumentNumber) -> Bool {
        guard case .row(let row) = fact else { return true }
        if row.file != nil { return row.document == document }
        return facts.lastOccupant(of: row.place, before: row.number)?.document == document
    }
}
