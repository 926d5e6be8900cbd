// What the tree under `.versions` asks of a container.

import Logging
import SystemPackage
import VersionModel
import VersionStore

/// A container whose versions and deleted things can be looked at as files.
protocol BrowsableContainer: AnyObject, Sendable {
    var tree: LiveTree { get }
    /// Contents and deleted entries.
    var store: VersionStore { get }
    var history: any BrowsedHistory { get }
    var passthrough: Passthrough { get }
    var logger: Logger { get }
    /// The control socket; nil if the container has none.
    var socketPath: String? { get }

    func requester(_ caller: Caller) -> Requester
    /// One of `user.versions.*` of what has no versions of its own.
    func toldOfOther(_ key: String, _ node: Node) throws(Errno) -> [UInt8]
    /// The file with the bytes of a version that is not kept as an object; nil if there is none any more.
    func file(holding version: Version) throws(Errno) -> SharedDescriptor?
    func content(of deletion: DeletionID) -> DeletedContent
    /// Makes a loser's content the document's.
    func choose(_ loser: VersionID, at name: Node.Name, _ requester: Requester) throws(Errno)
    /// Moves an entry of the deleted list to a name that is free. A directory comes with its last group.
    func bringBack(_ deletion: DeletionID, to name: Node.Name, _ requester: Requester) throws(Errno)
}

/// Where the content of an entry of the deleted list is.
enum DeletedContent {
    /// Kept as a version.
    case version(Version)
    case file(Location)
}

/// What the tree under `.versions` asks about documents, versions and deleted things. Lists begin with the newest.
protocol BrowsedHistory: Sendable {
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
    func deletion(_ id: DeletionID) throws(StoreError) -> Deletion?
    func deletions(in directory: FileID) throws(StoreError) -> [Deletion]
    func deletions(of item: ItemID) throws(StoreError) -> [Deletion]
}

extension FactHistory: BrowsedHistory {}

extension VersionStore: BrowsedHistory {
    func lastNumber() throws(StoreError) -> UInt64 { try changeRange()?.upperBound ?? 0 }

    func versions(withPrefix digits: String, at place: Place) throws(StoreError) -> [Version] {
        var found: [Version] = []
        for version in try versions(withPrefix: digits) {
            var isHere = try item(version.item)?.places.contains(place) ?? false
            if !isHere { isHere = try deletions(of: version.item).contains { $0.place == place } }
            if isHere { found.append(version) }
        }
        return found
    }
}

extension BrowsedHistory {
    /// Whether an item's current version is the kept content of a database.
    func isDatabaseKept(_ id: ItemID, as name: FileName, in contents: ContentStore) -> Bool {
        guard let item = try? item(id), let current = try? version(item.current),
            let object = try? contents.open(current.content)
        else { return false }
        let kept = SharedDescriptor(object.rawValue)
        return withExtendedLifetime(kept) { DatabaseRule.isDatabase(name, file: kept.raw) }
    }
}
