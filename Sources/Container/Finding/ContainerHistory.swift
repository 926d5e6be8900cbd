// The history of a container, as users see it.

import SystemPackage
import VersionModel
import VersionStore

/// What is recorded of documents, versions and deleted things. Lists begin with the newest.
public protocol ContainerHistory: ContainerChanges {
    /// Grows with each change.
    func lastNumber() throws(StoreError) -> UInt64
    func item(at place: Place) throws(StoreError) -> Item?
    func item(_ id: ItemID) throws(StoreError) -> Item?
    func itemsWithOtherVersions(in directory: FileID) throws(StoreError) -> [Item]
    func hasOtherVersions(_ item: ItemID) throws(StoreError) -> Bool
    func version(_ id: VersionID) throws(StoreError) -> Version?
    func versions(of item: ItemID) throws(StoreError) -> [Version]
    func conflicts(of item: ItemID) throws(StoreError) -> [Version]
    /// Those whose identity begins with these digits, as a document shows them that has the name, or was deleted under
    /// it.
    func versions(withPrefix digits: String, at place: Place) throws(StoreError) -> [Version]
    /// Those with the same object.
    func versions(sharing content: ContentID) throws(StoreError) -> [Version]
    /// Documents with names and unresolved losers.
    func conflicted() throws(StoreError) -> [Item]
    /// What ids stand for that begin with these digits, at most so many of each kind.
    func named(byDigits digits: String, limit: Int64) throws(StoreError) -> [NamedByID]
    func path(of directory: FileID) throws(StoreError) -> TreePath?
    func path(of item: Item) throws(StoreError) -> TreePath?
    func deletion(_ id: DeletionID) throws(StoreError) -> Deletion?
    func deletions(in directory: FileID) throws(StoreError) -> [Deletion]
    func deletions(of item: ItemID) throws(StoreError) -> [Deletion]
    func deletions(group: DeletionID) throws(StoreError) -> [Deletion]
    /// What was deleted at exactly this path.
    func deletions(at path: TreePath) throws(StoreError) -> [Deletion]
    func deletions(in directory: FileID, named name: FileName) throws(StoreError) -> [Deletion]
    /// What was deleted at a path and below it; all for nil.
    func deletions(within path: TreePath?) throws(StoreError) -> [Deletion]
    /// The recorded documents of a directory, of some names in their order; nil for one that has no version yet.
    func listing(of directory: FileID, _ names: [FileName]) throws(StoreError) -> [FileName: ListedDocument?]
}

extension FactHistory: ContainerHistory {}

extension VersionStore: ContainerHistory {
    public func lastNumber() throws(StoreError) -> UInt64 { try changeRange()?.upperBound ?? 0 }
    public func lastTold() throws(StoreError) -> UInt64 { try lastNumber() }
    public func observeTold(_ handler: @escaping @Sendable () -> Void) -> Observation { observe { _ in handler() } }

    public func listing(
        of directory: FileID, _ names: [FileName]
    ) throws(StoreError) -> [FileName: ListedDocument?] {
        guard let first = names.first, let last = names.last, first <= last else { return [:] }
        return try listing(of: directory, names: first...last).mapValues { $0 }
    }

    public func versions(withPrefix digits: String, at place: Place) throws(StoreError) -> [Version] {
        var found: [Version] = []
        for version in try versions(withPrefix: digits) {
            var isHere = try item(version.item)?.places.contains(place) ?? false
            if !isHere { isHere = try deletions(of: version.item).contains { $0.place == place } }
            if isHere { found.append(version) }
        }
        return found
    }
}

extension ContainerHistory {
    /// Whether an item's current version is the kept content of a database.
    func isDatabaseKept(_ id: ItemID, as name: FileName, in store: ContainerState) -> Bool {
        guard let item = try? item(id), let current = try? version(item.current),
            let object = try? store.contents.open(current.content)
        else { return false }
        let kept = SharedDescriptor(object.rawValue)
        return withExtendedLifetime(kept) { DatabaseRule.isDatabase(name, file: kept.raw) }
    }
}
