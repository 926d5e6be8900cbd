// The tree at any moment, by the rows alone (facts.md 1, "Derived by pure functions").

import VersionModel

extension Facts {
    /// Which file each place had when this number was the last: what `restore DIR --at` asks for.
    public func tree(at number: UInt64 = .max) -> [PlaceNumber: FileID] {
        var tree: [PlaceNumber: FileID] = [:]
        for row in rows where row.number.number <= number { tree[row.place] = row.file }
        return tree
    }
}
