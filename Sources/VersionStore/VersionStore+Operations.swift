// Queries for operations on the whole history: all records, and the deletions of an item.

internal import GRDB
import VersionModel

extension VersionStore {
    /// All recorded items, in no order.
    public func allItems() throws(StoreError) -> [Item] { try read { try Query.allItems($0) } }

    /// All versions of all items, in no order.
    public func allVersions() throws(StoreError) -> [Version] {
        let (low, high) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 255, count: 16))
        return try read { try Query.versions(from: low, through: high, $0) }
    }

    /// The entries of a deleted item in the deleted area, newest first.
    public func deletions(of item: ItemID) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(item: item, $0) }
    }

    /// The children of these versions, without these versions themselves.
    public func children(of versions: [Version]) throws(StoreError) -> [Version] {
        let gone = Set(versions.map(\.id))
        return try read { database in
            try Dictionary(grouping: versions, by: \.item).flatMap { item, versions in
                try Query.neighbors(of: versions.map(\.id), in: item, database)
            }.filter { !gone.contains($0.id) && !gone.isDisjoint(with: $0.parents) }
        }
    }
}
