// Pages of the catalog for a log. Nothing is held between two pages.

internal import GRDB
import VersionModel

extension VersionStore {
    /// The next entries of the deleted area at a path or below, in any order.
    public func deletions(
        within path: TreePath, from position: ListPosition?, limit: Int
    ) throws(StoreError) -> ListPage<Deletion> {
        let rows = try deletions(within: path, afterRow: position?.number ?? 0, limit: limit)
        return ListPage(
            elements: rows.map(\.deletion), next: rows.last.map { ListPosition(number: $0.row) })
    }

    private func deletions(
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

    /// The next documents after one that have a version at a time or later.
    /// - Parameter limit: the number of documents to examine.
    /// - Returns: the documents, and the last examined one; nil at the end.
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

    /// The next versions of a document, newest first.
    public func versions(
        of item: ItemID, from position: ListPosition?, limit: Int
    ) throws(StoreError) -> ListPage<Version> {
        let time = position.map { HybridTime(wall: Timestamp(nanoseconds: $0.number), logical: $0.part) }
        let found = try versions(of: item, before: time, limit: limit)
        let last = found.count == limit ? found.last?.time : nil
        return ListPage(
            elements: found, next: last.map { ListPosition(number: $0.wall.nanoseconds, part: $0.logical) })
    }

    private func versions(
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
