// What operations on the whole of history ask: everything that is recorded, and where a deleted item went.

internal import GRDB
import VersionModel

extension VersionStore {
    /// All recorded items, in no order.
    public func allItems() throws(StoreError) -> [Item] { try read { try Query.allItems($0) } }

    /// All versions of all items, in no order.
    public func allVersions() throws(StoreError) -> [Version] { try read { try Query.allVersions($0) } }

    /// The entries of the deleted area that an item went to, newest first.
    public func deletions(of item: ItemID) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(item: item, $0) }
    }
}
