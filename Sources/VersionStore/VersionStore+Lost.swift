// The known losses, for `status`.

import VersionModel

/// The versions whose content is gone.
public struct LostContents: Hashable, Sendable {
    public var count: Int
    /// Some of their documents.
    public var items: [ItemID]

    public init(count: Int, items: [ItemID]) { (self.count, self.items) = (count, items) }
}

extension VersionStore {
    /// Counts the versions whose content is gone, and names at most `limit` of their documents.
    public func lostContents(naming limit: Int) throws(StoreError) -> LostContents {
        let flag = Int64(Version.Flags.contentLost.rawValue)
        return try read { database in
            let counts = try SQLStatement(
                database, "SELECT item, count(*) FROM version WHERE flags & ? != 0 GROUP BY item", .integer(flag)
            ).rows { row in (ItemID(bytes: row.blob(0)), Int(clamping: row.integer(1))) }
            return LostContents(
                count: counts.reduce(0) { $0 + $1.1 }, items: counts.prefix(limit).compactMap(\.0))
        }
    }
}
