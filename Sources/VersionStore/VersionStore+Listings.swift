// The documents of a directory for a listing, a range of names at a time.

internal import GRDB
import VersionModel

/// A recorded document for a listing.
public struct ListedDocument: Sendable {
    public var item: ItemID
    public var current: Version
    /// The number of versions, including the current one.
    public var versions: Int
    /// The number of other versions in the unresolved conflict.
    public var conflicts: Int

    public init(item: ItemID, current: Version, versions: Int, conflicts: Int) {
        self.item = item
        self.current = current
        self.versions = versions
        self.conflicts = conflicts
    }
}

extension VersionStore {
    /// The recorded documents of a directory in a range of names; histories are counted, not read.
    public func listing(
        of directory: FileID, names: ClosedRange<FileName>
    ) throws(StoreError) -> [FileName: ListedDocument] {
        try read { database in
            let rows = try SQLStatement(
                database,
                """
                SELECT version.record, version.kind, version.flags, version.hash, place.name,
                    (SELECT count(*) FROM version AS other WHERE other.item = place.item),
                    (SELECT count(*) FROM version AS loser INDEXED BY version_conflict
                        WHERE loser.item = place.item AND loser.kind = 2)
                FROM place JOIN item ON item.id = place.item JOIN version ON version.id = item.current
                WHERE place.directory = ? AND place.name BETWEEN ? AND ?
                """, .number(directory.number), .blob(names.lowerBound.bytes), .blob(names.upperBound.bytes)
            ).rows { row -> (FileName, ListedDocument)? in
                guard let name = FileName(bytes: row.blob(4)), let current = Query.readVersion(row) else { return nil }
                let listed = ListedDocument(
                    item: current.item, current: current, versions: Int(clamping: row.integer(5)),
                    conflicts: Int(clamping: row.integer(6)))
                return (name, listed)
            }
            return Dictionary(rows, uniquingKeysWith: { first, _ in first })
        }
    }
}
