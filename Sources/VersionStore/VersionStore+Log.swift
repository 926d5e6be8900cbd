// Pages of the catalog for a log. Nothing is held between two pages.

internal import GRDB
import VersionModel

extension VersionStore {
    /// The next entries of the deleted area at a path or below, oldest first, after a row.
    /// - Returns: each entry with its row; empty at the end.
    public func deletions(
        within path: TreePath, afterRow row: Int64, limit: Int
    ) throws(StoreError) -> [(row: Int64, deletion: Deletion)] {
        try read { database in
            // '0' follows '/'.
            let bytes = path.bytes
            return try SQLStatement(
                database,
                """
                SELECT record, row FROM deletion WHERE row > ?1
                    AND (?2 = 1 OR path = ?3 OR (path > ?4 AND path < ?5)) ORDER BY row LIMIT ?6
                """, .integer(row), .integer(bytes.isEmpty ? 1 : 0), .blob(bytes), .blob(bytes + [47]),
                .blob(bytes + [48]), .integer(Int64(limit))
            ).rows { row in Query.deletion(row).map { (row.integer(1), $0) } }
        }
    }

    /// The next items after one, in the order of their ids, that have a version at a time or later.
    /// - Parameter limit: the number of items to examine.
    /// - Returns: the items, and the last examined item; nil at the end.
    public func items(
        after item: ItemID?, savedSince time: Timestamp?, limit: Int
    ) throws(StoreError) -> (found: [ItemID], last: ItemID?) {
        try read { database in
            var last: ItemID?
            let found = try SQLStatement(
                database,
                """
                SELECT id, EXISTS (SELECT 1 FROM version WHERE version.item = near.id AND wall >= ?1)
                FROM (SELECT id FROM item WHERE id > ?2 ORDER BY id LIMIT ?3) AS near ORDER BY id
                """, .integer(time?.nanoseconds ?? .min), .blob(item?.bytes ?? []), .integer(Int64(limit))
            ).rows { row -> ItemID? in
                guard let id = ItemID(bytes: row.blob(0)) else { return nil }
                last = id
                return row.integer(1) == 1 ? id : nil
            }
            return (found, last)
        }
    }

    /// The next versions of an item, newest first.
    /// - Parameter time: limits the result to older ones.
    public func versions(
        of item: ItemID, before time: HybridTime?, limit: Int
    ) throws(StoreError) -> [Version] {
        try read { database in
            try SQLStatement(
                database,
                """
                SELECT record, kind, flags, hash FROM version
                WHERE item = ?1 AND (wall, logical) < (?2, ?3) ORDER BY wall DESC, logical DESC, row DESC LIMIT ?4
                """, .blob(item.bytes), .integer(time?.wall.nanoseconds ?? .max),
                .integer(Int64(time?.logical ?? .max)), .integer(Int64(limit))
            ).rows(Query.readVersion)
        }
    }
}
