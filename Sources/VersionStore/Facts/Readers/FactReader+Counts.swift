// The sums that `status` shows.

internal import GRDB
import Lineage
import VersionModel

extension FactReader {
    /// Counts all. Documents and versions are counted in an index, a million in 0.1 s. Of names that went, queries
    /// tell most, 100,000 in a second; the rules judge the others, as a list does. Each access ends after some of them.
    ///
    /// An item is a document that has a version. Of deleted things without versions no bytes are counted.
    public func counts() throws(StoreError) -> ContainerCounts {
        var counts = ContainerCounts()
        counts.conflicts = try countOfConflicts()
        counts.versions = try countOfVersions()
        counts.items = try look { look in
            let own = try look.count("SELECT count(DISTINCT item) FROM version WHERE flags & 16 = 0")
            // They show what they began with until they are saved.
            let others = try look.count(
                """
                SELECT count(*) FROM name WHERE origin IS NOT NULL AND item = seq
                    AND NOT EXISTS (SELECT 1 FROM version WHERE version.item = name.seq AND flags & 16 = 0)
                    AND EXISTS (SELECT 1 FROM version WHERE version.seq = name.origin AND flags & 16 = 0)
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
    public func lostContents(naming limit: Int) throws(StoreError) -> LostContents {
        let documents = try look { look in
            try look.statement(
                "SELECT item, count(*) FROM version WHERE flags & 272 = 256 GROUP BY item"
            ).rows { (document: DocumentNumber($0.number(0)), count: Int(clamping: $0.integer(1))) }
        }
        var lost = LostContents(count: documents.reduce(0) { $0 + $1.count }, items: [])
        for (document, _) in documents.prefix(limit) {
            if let item = try id(of: document) { lost.items.append(item) }
        }
        return lost
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
    fileprivate func countDeletions(after last: UInt64, _ counts: inout ContainerCounts) throws -> UInt64? {
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
