// Parents of the versions that were written to the catalog last.

import VersionModel

/// What the rows of versions name as their parents, as far as it is known without reading them: a save writes the version
/// before it once more, which it had written itself.
struct WrittenParents {
    private static let most = 256

    private var parents: [VersionID: [VersionID]] = [:]

    /// nil: the row is to be read.
    subscript(_ version: VersionID) -> [VersionID]? { parents[version] }

    mutating func note(_ version: Version) {
        if parents.count >= Self.most { forget() }
        parents[version.id] = version.parents
    }

    mutating func forget(_ versions: [VersionID]) { for version in versions { parents[version] = nil } }

    mutating func forget() { parents.removeAll(keepingCapacity: true) }
}
