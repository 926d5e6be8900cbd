// Parents of the versions that were written to the catalog last.

import VersionModel

/// What the rows of versions name as their parents, as far as it is known without reading them: a save writes the version
/// before it once more, which it had written itself.
struct WrittenParents {
    /// So few that to look at all of them, which the end of an item takes, costs less than to read a row.
    private static let most = 64

    private var parents: [VersionID: (item: ItemID, parents: [VersionID])] = [:]

    /// nil: the row is to be read.
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
