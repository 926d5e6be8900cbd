// The waits between accesses: one total function of two accesses.

import VersionModel

/// The relation of a later claim's item to an earlier one's.
public enum ItemRelation: Hashable, Sendable, CaseIterable {
    case same
    /// The later item is in the earlier one, a directory, at any depth.
    case laterIsInside
    /// The earlier item is in the later one.
    case earlierIsInside
    case unrelated
}

/// The matrix of coordinated accesses (reference: Apple's, for items, directories, packages and names).
public enum ClaimMatrix {
    /// Whether a later claim waits for the end of an earlier one. Purposes and actors do not count here.
    public static func waits(
        later: ClaimStrength, forEarlier earlier: ClaimStrength, _ relation: ItemRelation
    ) -> Bool {
        switch (relation, earlier, later) {
        case (.unrelated, _, _): false
        case (.same, .reads, .reads): false
        case (.same, .reads, .writes), (.same, .reads, .takesTree): true
        case (.same, .writes, _), (.same, .takesTree, _): true
        // A change of a directory's list of names does not affect accesses to the contents.
        case (.laterIsInside, .reads, _), (.laterIsInside, .writes, _): false
        case (.laterIsInside, .takesTree, _): true
        case (.earlierIsInside, _, .reads), (.earlierIsInside, _, .writes): false
        case (.earlierIsInside, _, .takesTree): true
        }
    }

    /// The relation of two accesses; an item in a package counts as the package.
    public static func relation(
        ofLater later: Access, toEarlier earlier: Access, _ packages: Packages
    ) -> ItemRelation {
        relation(
            ofLater: later, on: packages.unit(of: later.path), toEarlier: earlier, on: packages.unit(of: earlier.path))
    }

    /// The same for accesses with known units (``Packages/unit(of:)``).
    static func relation(
        ofLater later: Access, on unit: TreePath, toEarlier earlier: Access, on earlierUnit: TreePath
    ) -> ItemRelation {
        if let item = later.item, item == earlier.item { return .same }
        return relation(ofLater: unit, toEarlier: earlierUnit)
    }

    static func relation(ofLater later: TreePath, toEarlier earlier: TreePath) -> ItemRelation {
        if later.bytes == earlier.bytes { return .same }
        if later.isWithin(earlier) { return .laterIsInside }
        return earlier.isWithin(later) ? .earlierIsInside : .unrelated
    }
}
