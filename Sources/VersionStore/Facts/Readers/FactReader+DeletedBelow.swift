// What was deleted at a path and below it.

internal import GRDB
import Lineage
import VersionModel

extension FactReader {
    /// How many directories are asked one by one. With more, all departures are looked through.
    static let mostDirectories = 1024
    /// How many departures of each place are looked at for a page.
    private static let portionBelow = 64

    /// What was deleted at a path and below it, newest first: what had that path then, and what was deleted from a
    /// directory that is below the path now.
    public func deleted(
        within path: TreePath, before entry: Before? = nil, limit: Int
    ) throws(StoreError) -> FactPage<DeletedFact, Before> {
        try deleted(within: path, before: entry, limit: limit, Self.mostDirectories)
    }

    func deleted(
        within path: TreePath, before entry: Before?, limit: Int, _ mostDirectories: Int
    ) throws(StoreError) -> FactPage<DeletedFact, Before> {
        guard !path.bytes.isEmpty else { return try deleted(before: entry, limit: limit) }
        return try look { look in
            var scope = try DeletedScope(look, path)
            var (entries, at): ([DeletedFact], Before?) = ([], nil)
            func visit(_ departure: NameRow) throws {
                guard try scope.contains(departure) else { return }
                try look.entry(of: departure).map { entries.append($0) }
            }
            guard let directories = try scope.directories(atMost: mostDirectories) else {
                at = try look.walk(
                    from: entry ?? .max, { try look.departures(before: $0, limit: $1) },
                    cursor: { $0.number.number }, isFull: { entries.count >= limit }, visit: visit)
                return FactPage(elements: entries, next: at)
            }
            let lists = try directories.map {
                try look.departures(in: $0, before: entry ?? .max, limit: Self.portionBelow)
            } + scope.places.map { try look.departures(at: $0, before: entry ?? .max, limit: Self.portionBelow) }
            let (departures, isEnd) = Self.merged(lists)
            for departure in departures {
                guard entries.count < limit else { return FactPage(elements: entries, next: at) }
                at = departure.number.number
                try visit(departure)
            }
            return FactPage(elements: entries, next: isEnd ? nil : at)
        }
    }

    /// Lists that go back as one, as far as all of them reach.
    private static func merged(_ lists: [[NameRow]]) -> ([NameRow], isEnd: Bool) {
        let reach = lists.compactMap { $0.count < portionBelow ? nil : $0.last?.number }.max()
        var seen: Set<RowNumber> = []
        let all = lists.joined().filter { row in reach.map { row.number >= $0 } ?? true }
            .filter { seen.insert($0.number).inserted }
        return (all.sorted { $0.number > $1.number }, reach == nil)
    }
}

/// What was at a path once, or is below it. Used in one access.
private struct DeletedScope {
    private let look: Look
    private let path: TreePath
    /// All directories that ever had the path.
    private var tops: [FileID] = []
    /// The places with the path: one in each directory that ever was the parent.
    private(set) var places: [PlaceNumber] = []
    private let now: Directories
    private var former: FormerPaths

    init(_ look: Look, _ path: TreePath) throws {
        (self.look, self.path) = (look, path)
        (now, former) = (Directories(look, at: .max), FormerPaths(look))
        (places, tops) = try look.ever(at: path)
    }

    /// The directories that ever were at the path or below it, and those that came back as one of them; nil if there
    /// are more.
    func directories(atMost count: Int) throws -> [FileID]? {
        var (found, next) = (Set(tops), tops)
        guard found.count <= count else { return nil }
        while let directory = next.popLast() {
            let others = try look.directoriesEver(in: directory) + look.directoriesBefore(directory)
            for other in others where found.insert(other).inserted {
                guard found.count <= count else { return nil }
                next.append(other)
            }
        }
        return found.sorted()
    }

    mutating func contains(_ departure: NameRow) throws -> Bool {
        guard let place = try look.place(departure.place) else { return false }
        if try now.path(of: place.directory).chain.contains(where: { try isAtPath($0) }) { return true }
        let path = try former.path(of: place.directory, at: departure.number.number)
        return path.map { $0.appending(place.name).isWithin(self.path) } ?? false
    }

    /// Whether a directory, or the one that it came back as, has the path now.
    private func isAtPath(_ directory: FileID) throws -> Bool {
        let found = try now.path(of: directory)
        return found.isThere && found.path == path
    }
}

/// The paths that directories had at many moments. Used in one access.
struct FormerPaths {
    private let look: Look
    private var stays: [FileID: [(number: UInt64, place: Place)]] = [:]

    init(_ look: Look) { self.look = look }

    /// The path that a directory had when a number was the last, or before; nil if it is not known.
    mutating func path(of directory: FileID, at number: UInt64) throws -> TreePath? {
        var (names, current): ([FileName], FileID) = ([], directory)
        while current != .root {
            let stays = try stays(of: current)
            guard names.count < Directories.mostAbove,
                let stay = stays.last(where: { $0.number <= number }) ?? stays.first
            else { return nil }
            names.append(stay.place.name)
            current = stay.place.directory
        }
        return TreePath(names: names.reversed())
    }

    private mutating func stays(of directory: FileID) throws -> [(number: UInt64, place: Place)] {
        if let known = stays[directory] { return known }
        let rows = try FactTables.names(look.database, "file = ? ORDER BY seq", .number(directory.number))
        let found = try rows.compactMap { row in try look.place(row.place).map { (row.number.number, $0) } }
        stays[directory] = found
        return found
    }
}

extension Look {
    /// The directories that a place ever had.
    func directoriesEver(at place: PlaceNumber) throws -> [FileID] {
        try statement(
            "SELECT DISTINCT file FROM name WHERE place = ? AND file IS NOT NULL AND \(FactTables.hasDirectory)",
            .integer(Int64(place.number))
        ).rows { FileID($0.number(0)) }
    }

    /// The directories that ever were in a directory.
    fileprivate func directoriesEver(in directory: FileID) throws -> [FileID] {
        try statement(
            """
            SELECT DISTINCT file FROM place CROSS JOIN name ON name.place = place.number
            WHERE directory = ? AND file IS NOT NULL AND \(FactTables.hasDirectory)
            """, .number(directory.number)
        ).rows { FileID($0.number(0)) }
    }

    /// The directories that came back as this one.
    fileprivate func directoriesBefore(_ directory: FileID) throws -> [FileID] {
        try statement(
            """
            SELECT DISTINCT former.file FROM name CROSS JOIN name former ON former.seq = name.other
            WHERE name.file = ? AND name.how = \(FactTables.code(of: .undeleted).code) AND former.file IS NOT NULL
                AND former.flags & 2
            """, .number(directory.number)
        ).rows { FileID($0.number(0)) }
    }
}
