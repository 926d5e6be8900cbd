// What a return to a moment asks beside the names of then: what has gone since, and what was amended.

internal import GRDB
import Lineage
import VersionModel

extension FactReader {
    /// When something was recorded first; nil in an empty catalog.
    public func firstTime() throws(StoreError) -> Timestamp? {
        try look { try FactTables.names($0.database, "seq >= 0 ORDER BY seq LIMIT 1").first?.time }
    }

    /// What a document without a name can be undeleted by, also if no list shows it; nil if it has a name, or is gone
    /// for good.
    public func departed(_ document: DocumentNumber) throws(StoreError) -> DeletedFact? {
        try look { look in
            guard let departure = look.facts.lastDeparture(of: document), !look.facts.hasName(document) else {
                return nil
            }
            if let entry = try look.entry(of: departure) { return entry }
            guard look.facts.isReplaced(document), let place = try look.place(departure.place),
                let occupant = look.facts.lastOccupant(of: departure.place, before: departure.number)
            else { return nil }
            return DeletedFact(
                kind: .replaced, departure: departure, occupant: occupant, place: place,
                version: look.version(of: document), detail: NameDetail())
        }
    }

    /// The entry of a directory, a symlink or a special file that was removed; nil if it has a name, or is gone for
    /// good.
    public func departed(_ file: FileID) throws(StoreError) -> DeletedFact? {
        try look { look in
            let last = try FactTables.names(
                look.database, "file = ? ORDER BY seq DESC LIMIT 1", .number(file.number)
            ).first
            return try last.flatMap { look.facts.departure(of: $0) }.flatMap { try look.entry(of: $0) }
        }
    }

    /// The names that a file has now.
    public func names(of file: FileID) throws(StoreError) -> [Place] {
        try look { look in try look.facts.names(of: file).compactMap { try look.place($0.place) } }
    }

    /// Whether a document began with a version of another one, or of one that began with that.
    public func hasBegun(_ document: DocumentNumber, with other: DocumentNumber) throws(StoreError) -> Bool {
        try look { look in
            var next: DocumentNumber? = document
            while let last = next, last != other {
                let before = look.facts.origin(of: last).flatMap { look.facts.document(of: $0) }
                next = before.flatMap { $0 < last ? $0 : nil }
            }
            return next == other
        }
    }

    /// The times that a directory had before the first removal from it since a number; nil if they are not known.
    public func times(
        of directory: FileID, beforeRemovalSince number: UInt64
    ) throws(StoreError) -> (accessed: Timestamp, modified: Timestamp)? {
        try look { look in
            let first = try look.statement(
                """
                SELECT min(gone.seq) FROM place CROSS JOIN name gone ON gone.place = place.number
                WHERE place.directory = ? AND gone.file IS NULL AND gone.seq > ?
                """, .number(directory.number), .bound(number)
            ).first { $0.optional(0) } ?? nil
            return try first.flatMap { try FactTables.times(before: RowNumber($0), look.database) }
        }
    }

    /// The versions that there were at a time, and that were amended since. Of one that was only appended to, how long
    /// it was.
    /// - Parameter number: the last one of that time.
    public func amended(
        since number: UInt64, _ time: Timestamp
    ) throws(StoreError) -> [VersionNumber: UInt64?] {
        try look { look in
            var found: [VersionNumber: UInt64?] = [:]
            let records = try look.statement("SELECT record FROM event WHERE seq > ? ORDER BY seq", .bound(number))
                .rows { $0.blob(0) }
            for record in records {
                var reader = ByteReader(record)
                for event in try reader.list({ (reader) throws(CodingError) in try reader.event() }) {
                    if case .former(let version, let size, let since) = event, since <= time { found[version] = size }
                }
            }
            return found.filter { look.stored.version($0.key).map { $0.time > time } ?? false }
        }
    }
}
