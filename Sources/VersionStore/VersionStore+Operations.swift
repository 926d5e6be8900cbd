// What operations on the whole of history ask: everything that is recorded, and where a deleted item went.

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

    /// The entries of the deleted area that an item went to, newest first.
    public func deletions(of item: ItemID) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(item: item, $0) }
    }
}
