// What is not as it was: for `restore DIR --at`, and for comparisons.

internal import GRDB
import Lineage
import VersionModel

/// A place that has another file, or another document, than it had.
public struct PlaceDifference: Hashable, Sendable {
    public var place: Place
    /// nil if the place was free.
    public var then: NameThen?
    /// nil if the place is free.
    public var now: NameThen?
    /// Where the place was then, and is now.
    public var pathThen: TreePath?
    public var pathNow: TreePath?
}

/// A document that was saved.
public struct SavedDocument: Hashable, Sendable {
    public var document: DocumentNumber
    /// Its names now, oldest first.
    public var names: [DocumentName]
}

extension FactReader {
    /// Where a walk along the facts since a number goes on: behind a number.
    public typealias Since = UInt64

    /// The places below a directory that have another file or document than when a number was the last, in the order in
    /// which they were changed first. What was made and removed since is not among them.
    /// - Parameters:
    ///   - directory: then or now above them.
    ///   - number: what is compared with.
    ///   - last: where the page begins; nil: at the start.
    public func placesChanged(
        since number: UInt64, below directory: FileID = .root, from last: Since? = nil, limit: Int
    ) throws(StoreError) -> FactPage<PlaceDifference, Since> {
        try look { look in
            let (before, after) = (Directories(look, at: number), Directories(look, at: .max))
            var found: [PlaceDifference] = []
            func visit(_ row: NameRow) throws {
                // Each place counts once: at its first row since.
                guard look.stored.firstRow(at: row.place, after: RowNumber(number))?.number == row.number,
                    let place = try look.place(row.place)
                else { return }
                guard try before.isWithin(place.directory, directory) || after.isWithin(place.directory, directory),
                    let difference = try look.difference(at: row.place, place, since: number, before, after)
                else { return }
                found.append(difference)
            }
            let next = try look.walk(
                from: max(last ?? 0, number),
                {
                    try FactTables.names(
                        look.database, "seq > ? ORDER BY seq LIMIT ?", .bound($0), .integer(Int64($1)))
                },
                cursor: { $0.number.number }, isFull: { found.count >= limit }, visit: visit)
            return FactPage(elements: found, next: next)
        }
    }

    /// The documents with a name below a directory that were saved since a number was the last, in the order in which
    /// they were saved first. Those whose version of then was amended alone are not among them.
    public func documentsSaved(
        since number: UInt64, below directory: FileID = .root, from last: Since? = nil, limit: Int
    ) throws(StoreError) -> FactPage<SavedDocument, Since> {
        try look { look in
            let directories = Directories(look, at: .max)
            var found: [SavedDocument] = []
            func visit(_ save: UInt64, _ document: DocumentNumber) throws {
                guard try look.firstShown(in: document, after: number) == save else { return }
                let names = try look.names(of: document)
                guard try names.contains(where: { try directories.isWithin($0.place.directory, directory) }) else {
                    return
                }
                found.append(SavedDocument(document: document, names: names))
            }
            let next = try look.walk(
                from: max(last ?? 0, number), { try look.shownSaves(after: $0, limit: $1) }, cursor: { $0.0 },
                isFull: { found.count >= limit }, visit: visit)
            return FactPage(elements: found, next: next)
        }
    }
}

extension Look {
    fileprivate func difference(
        at number: PlaceNumber, _ place: Place, since last: UInt64, _ before: Directories, _ after: Directories
    ) throws -> PlaceDifference? {
        let spot = (number, place.name)
        let then = try name(spot, in: place.directory, at: last)
        let now = try name(spot, in: place.directory, at: nil)
        let isSame = then?.row.file == now?.row.file && then?.row.document == now?.row.document
        if isSame || then == nil && now == nil { return nil }
        return PlaceDifference(
            place: place, then: then, now: now, pathThen: try before.path(of: place),
            pathNow: try after.path(of: place))
    }

    /// The versions that names showed, behind a number, with their documents.
    fileprivate func shownSaves(after number: UInt64, limit: Int) throws -> [(UInt64, DocumentNumber)] {
        try statement(
            "SELECT seq, item FROM version WHERE seq > ? AND flags & 19 = 0 ORDER BY seq LIMIT ?", .bound(number),
            .integer(Int64(limit))
        ).rows { ($0.number(0), DocumentNumber($0.number(1))) }
    }

    fileprivate func firstShown(in document: DocumentNumber, after number: UInt64) throws -> UInt64? {
        try statement(
            """
            SELECT seq FROM version WHERE item = ? AND seq > ? AND flags & 16 = 0 AND flags & 3 = 0
            ORDER BY seq LIMIT 1
            """, .number(document.number), .bound(number)
        ).first { $0.number(0) }
    }
}

extension Directories {
    func path(of place: Place) throws -> TreePath? {
        try path(of: place.directory).path?.appending(place.name)
    }
}
