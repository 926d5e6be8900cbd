// All that facts tell of a file: what is put in order after a crash asks for it.

internal import GRDB
import Lineage
import VersionModel

extension StoredFacts {
    /// All rows that gave a file a name, oldest first.
    public func rows(of file: FileID) -> [NameRow] {
        read([]) { try FactTables.names($0, "file = ? ORDER BY seq", .number(file.number)) }
    }

    /// The versions in all contents of a file, also forgotten ones, oldest first.
    public func versions(from file: FileID) -> [VersionRow] {
        read([]) { database in
            try FactTables.flaggedVersions(database, "file = ? ORDER BY seq", [.number(file.number)]).map(\.row)
        }
    }

    /// A name that a directory has.
    public struct DirectoryName: Sendable {
        public var directory: FileID
        /// What facts tell of the name.
        public var number: PlaceNumber
        public var place: Place
    }

    /// The names of directories, but for the root.
    public var directoryNames: [DirectoryName] {
        read([]) { database in
            try SQLStatement(
                database,
                """
                SELECT name.file, place.number, place.directory, place.name
                FROM name JOIN place ON place.number = name.place
                WHERE name.file IS NOT NULL AND name.flags & 2 AND \(FactTables.isLast)
                """
            ).rows { row in
                let number = PlaceNumber(UInt32(truncatingIfNeeded: row.number(1)))
                return FileName(bytes: row.blob(3)).map { name in
                    DirectoryName(
                        directory: FileID(row.number(0)), number: number,
                        place: Place(directory: FileID(row.number(2)), name: name))
                }
            }.compactMap(\.self)
        }
    }

    /// The names that a directory has.
    public func names(in directory: FileID) -> [NameRow] {
        read([]) {
            try FactTables.names(
                $0, "place IN (SELECT number FROM place WHERE directory = ?) AND file IS NOT NULL AND "
                    + FactTables.isLast,
                .number(directory.number))
        }
    }

    /// The time of the last row or version; nil if there is none.
    public var lastTime: Timestamp? {
        read(nil) { database in
            let times = try ["name", "version"].compactMap { table in
                try SQLStatement(database, "SELECT time FROM \(table) ORDER BY seq DESC LIMIT 1")
                    .first { Timestamp(nanoseconds: $0.integer(0)) }
            }
            return times.max()
        }
    }

    /// The rows and versions since a time, as far as there are none older behind them: what a power cut may have taken.
    public func recent(since time: Timestamp) -> (rows: [NameRow], versions: [VersionRow]) {
        read(([], [])) { database in
            let (names, versions) = (
                try FactTables.flaggedNames(
                    database,
                    "seq > ifnull((SELECT seq FROM name WHERE time < ? ORDER BY seq DESC LIMIT 1), 0) ORDER BY seq",
                    [.integer(time.nanoseconds)]),
                try FactTables.flaggedVersions(
                    database,
                    "seq > ifnull((SELECT seq FROM version WHERE time < ? ORDER BY seq DESC LIMIT 1), 0) ORDER BY seq",
                    [.integer(time.nanoseconds)])
            )
            return (names.map(\.row), versions.map(\.row))
        }
    }
}
