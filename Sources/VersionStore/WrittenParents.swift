// The parents of the last versions written to the catalog.

import VersionModel

/// The parents in the rows of versions, as far as they are known without a read: a save writes the preceding version
/// again, which the store wrote before.
struct WrittenParents {
    /// So few that a pass over all of them, which the end of an item takes, costs less than to read a row.
    private static let most = 64

    private var parents: [VersionID: (item: ItemID, parents: [VersionID])] = [:]

    /// nil: the row must be read.
    subscript(_ version: VersionID) -> [VersionID]? { parents[version]?.parents }

    mutating func note(_ version: Version) {
        if parents.count >= Self.most { forget() }
        parents[version.id] = (version.item, version.parents)
    }

    mutating func forget(_ versions: [VersionID]) { for version in versions { parents[version] = nil } }

    /// Forgets the versions of an item. A save by rename ends one, that of the new file.
    mutating func forget(_ item: ItemID) {
        for version in parents where version.value.item == item { parents[version.key] = nil }
    }

    mutating func forget() { parents.removeAll(keepingCapacity: true) }
}
