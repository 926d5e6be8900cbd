// The sums that `status` shows.

internal import GRDB
import Lineage
import VersionModel

/// How much a container has, with and without names.
public struct FactCounts: Hashable, Sendable {
    /// The documents that have a version.
    public var documents = 0
    public var versions = 0
    /// The entries of the deleted list.
    public var deletions = 0
    /// The length of what they show. Directories and other things without versions have none.
    public var deletedBytes: UInt64 = 0
}

/// The versions whose content is gone.
public struct LostFacts: Hashable, Sendable {
    public var count = 0
    /// Some of their documents.
    public var documents: [DocumentNumber] = []
}

extension FactReader {
    /// Counts all. Documents and versions are counted in an index, a million in 0.1 s. Of names that went, queries
    /// tell most, 100,000 in 0.5 s; the rules judge the others, as a list does. Each access ends after some of them.
    public func counts() throws(StoreError) -> FactCounts {
        var counts = FactCounts()
        counts.versions = try countOfVersions()
        counts.documents = try look { look in
            let own = try look.count("SELECT count(DISTINCT item) FROM version WHERE flags & 16 = 0")
            // They show what they began with until they are saved.
            let others = try look.count(
                """
                SELECT count(*) FROM name WHERE origin IS NOT NULL AND item = seq
                    AND NOT EXISTS (SELECT 1 FROM version WHERE version.item = name.seq AND flags & 16 = 0)
                """)
            return own + others
        }
        var last: UInt64? = 0
        while let after = last { last = try look { try $0.countDeletions(after: after, &counts) } }
        return counts
    }

    /// The versions that are not forgotten, counted in an index.
    public func countOfVersions() throws(StoreError) -> Int {
        try look { try $0.count("SELECT count(*) FROM version WHERE flags & 16 = 0") }
    }

    /// Counts the versions whose content is gone, and names at most so many of their documents. They have an index.
    public func lostContents(naming limit: Int) throws(StoreError) -> LostFacts {
        try look { look in
            let counts = try look.statement(
                "SELECT item, count(*) FROM version WHERE flags & 272 = 256 GROUP BY item"
            ).rows { (document: DocumentNumber($0.number(0)), count: Int(clamping: $0.integer(1))) }
            return LostFacts(
                count: counts.reduce(0) { $0 + $1.count }, documents: counts.prefix(limit).map(\.document))
        }
    }
}

extension Look {
    fileprivate func count(_ sql: String) throws -> Int {
        try statement(sql).first { Int(clamping: $0.integer(0)) } ?? 0
    }

    /// What a query tells of a departure, as ``Facts/deletion(by:)`` and the like judge it.
    private enum Told: Int64 {
        case none, entry, judged
    }

    /// Departures, each with the row before it, and what is told of it:
    ///
    /// | what went | by | | |
    /// |---|---|---|---|
    /// | has no versions | a removal | is not there again, and `deleted/` has it | an entry |
    /// | | another way, or `deleted/` has it not | | none |
    /// | a document with this row alone | a removal that is shown, and was not purged | | an entry |
    /// | a document | a rename | the document has a name | none |
    private static let departures = """
        SELECT gone.seq, CASE
            WHEN own.seq IS NULL THEN 2
            WHEN own.flags & 2 THEN CASE
                WHEN gone.how <> 7 OR gone.flags & 128 = 0 AND gone.flags & 56 THEN 0
                WHEN gone.purged IS NOT NULL OR gone.flags & 128 = 0 OR EXISTS (
                    SELECT 1 FROM name back WHERE back.place = gone.place AND back.seq > gone.seq)
                    OR EXISTS (SELECT 1 FROM name next WHERE next.other = own.seq AND next.file IS NOT NULL) THEN 2
                ELSE 1 END
            WHEN gone.how = 6 AND EXISTS (
                SELECT 1 FROM name WHERE name.item = own.item AND name.file IS NOT NULL AND \(FactTables.isLast)) THEN 0
            WHEN gone.how <> 7 OR gone.purged IS NOT NULL OR EXISTS (
                SELECT 1 FROM name WHERE name.item = own.item AND name.file IS NOT NULL AND name.seq <> own.seq) THEN 2
            ELSE 1 END AS told,
            CASE WHEN own.flags & 2 THEN 0 ELSE ifnull(
                (SELECT size FROM version WHERE version.item = own.item AND flags & 16 = 0 AND flags & 3 = 0
                 ORDER BY version.seq DESC LIMIT 1),
                (SELECT size FROM version WHERE version.seq = own.origin AND flags & 16 = 0)) END
        FROM name gone LEFT JOIN name own ON own.seq = (
            SELECT seq FROM name WHERE name.place = gone.place AND name.seq < gone.seq ORDER BY seq DESC LIMIT 1)
            AND own.file IS NOT NULL
        WHERE gone.file IS NULL AND gone.seq > ? ORDER BY gone.seq LIMIT ?
        """

    /// - Returns: the last departure that was looked at; nil at the end.
    fileprivate func countDeletions(after last: UInt64, _ counts: inout FactCounts) throws -> UInt64? {
        let rows = try statement(Self.departures, .bound(last), .integer(Int64(FactReader.looks))).rows { row in
            (number: row.number(0), told: Told(rawValue: row.integer(1)) ?? .judged, size: row.number(2))
        }
        for row in rows {
            switch row.told {
            case .none: continue
            case .entry:
                counts.deletions += 1
                counts.deletedBytes.addCapped(row.size)
            case .judged:
                guard let entry = try stored.row(RowNumber(row.number)).flatMap({ try self.entry(of: $0) }) else {
                    continue
                }
                counts.deletions += 1
                counts.deletedBytes.addCapped(entry.version?.fingerprint.size ?? 0)
            }
        }
        return rows.last?.number
    }
}
