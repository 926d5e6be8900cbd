// What happens in a container, as it is told.

import VersionModel
import VersionStore

/// The change feed, and lists of what it does not go back to.
public protocol ContainerChanges: Sendable {
    /// The last number of the feed: changes that are told later have larger ones.
    func lastTold() throws(StoreError) -> UInt64
    /// What was told after a number.
    /// - Parameter limit: about how many rows are read.
    func told(after sequence: UInt64, limit: Int) throws(StoreError) -> ToldChanges
    /// Calls `handler` when there may be more to tell. The handler must return at once.
    func observeTold(_ handler: @escaping @Sendable () -> Void) -> Observation
    /// What was deleted at a path and below it, in any order.
    func deletions(
        within path: TreePath, from position: ListPosition?, limit: Int
    ) throws(StoreError) -> ListPage<Deletion>
    /// The next documents after one that have a version at a time or later.
    /// - Parameter limit: the number of documents to examine.
    /// - Returns: the documents, and the last examined one; nil at the end.
    func items(
        after item: ItemID?, savedSince time: Timestamp?, limit: Int
    ) throws(StoreError) -> (found: [ItemID], last: ItemID?)
    /// The versions of a document, newest first.
    func versions(of item: ItemID, from position: ListPosition?, limit: Int) throws(StoreError) -> ListPage<Version>
}
