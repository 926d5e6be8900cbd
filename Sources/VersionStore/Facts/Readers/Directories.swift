// Where directories were when a number was the last.

import Lineage
import VersionModel

/// The way from a directory up, as far as rows tell of it.
public struct DirectoryPath: Hashable, Sendable {
    /// The names from the top on.
    public var names: [FileName]
    /// What the names begin in: the root, or a directory of which no row tells.
    public var top: FileID
    /// The directories above, the nearest first, and the directory itself before them.
    public var chain: [FileID]
    /// Whether all of it was there. Else it is where the directory was last.
    public var isThere: Bool

    public var path: TreePath? { top == .root ? TreePath(names: names) : nil }
}

/// The paths of directories when a number was the last. Used in one access.
final class Directories {
    /// Damaged rows may form a circle.
    static let mostAbove = 1024

    private let look: Look
    let number: UInt64
    private var known: [FileID: (place: Place, isThere: Bool)?] = [:]

    init(_ look: Look, at number: UInt64) { (self.look, self.number) = (look, number) }

    func path(of directory: FileID) throws -> DirectoryPath {
        var path = DirectoryPath(names: [], top: directory, chain: [directory], isThere: true)
        while path.top != .root, path.chain.count < Self.mostAbove, let (place, isThere) = try place(of: path.top) {
            path.names.append(place.name)
            path.chain.append(place.directory)
            path.top = place.directory
            if !isThere { path.isThere = false }
        }
        path.names.reverse()
        return path
    }

    /// Whether a directory is another one, or below it.
    func isWithin(_ directory: FileID, _ other: FileID) throws -> Bool {
        if other == .root || directory == other { return true }
        return try path(of: directory).chain.contains(other)
    }

    private func place(of directory: FileID) throws -> (place: Place, isThere: Bool)? {
        if let known = known[directory] { return known }
        var found: (place: Place, isThere: Bool)?
        if let (row, isThere) = try row(of: directory), let place = try look.place(row.place) {
            found = (place, isThere)
        }
        known[directory] = .some(found)
        return found
    }

    /// A directory that was found later was there before; one that has gone may be there again as another one.
    private func row(of directory: FileID) throws -> (row: NameRow, isThere: Bool)? {
        guard let row = try lastRow(of: directory) else {
            let first = try FactTables.names(
                look.database, "file = ? ORDER BY seq LIMIT 1", .number(directory.number)
            ).first
            return first.flatMap { $0.how == .found ? ($0, true) : nil }
        }
        if try isThere(row) { return (row, true) }
        for next in look.stored.successors(of: row.number) where next.how == .undeleted {
            if next.number.number <= number, let file = next.file, file != directory, let again = try lastRow(of: file),
                try isThere(again)
            {
                return (again, true)
            }
        }
        return (row, false)
    }

    private func lastRow(of directory: FileID) throws -> NameRow? {
        try FactTables.names(
            look.database, "file = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", .number(directory.number),
            .bound(number)
        ).first
    }

    private func isThere(_ row: NameRow) throws -> Bool {
        try look.lastRow(at: row.place, until: number)?.number == row.number
    }
}

extension FactReader {
    /// The path of a directory when a number was the last; now without one.
    public func path(of directory: FileID, at number: UInt64 = .max) throws(StoreError) -> DirectoryPath {
        try look { try Directories($0, at: number).path(of: directory) }
    }

    /// When a name in a directory was changed last, until a number.
    public func lastChange(in directory: FileID, until number: UInt64) throws(StoreError) -> Timestamp? {
        try look { look in
            try look.statement(
                """
                SELECT max((SELECT time FROM name WHERE name.place = place.number AND seq <= ?2
                            ORDER BY seq DESC LIMIT 1))
                FROM place WHERE directory = ?1
                """, .number(directory.number), .bound(number)
            ).first { $0.isNull(0) ? nil : Timestamp(nanoseconds: $0.integer(0)) } ?? nil
        }
    }
}
