// Who waits for whom: one total function of two accesses.

import VersionModel

/// How the item of a later claim lies to that of an earlier one.
public enum ItemRelation: Hashable, Sendable, CaseIterable {
    case same
    /// The later one lies in the earlier one, a directory, at any depth.
    case laterIsInside
    /// The earlier one lies in the later one.
    case earlierIsInside
    case unrelated
}

/// The matrix of coordinated accesses (reference: Apple's, for items, directories, packages and names).
public enum ClaimMatrix {
    /// Whether a later claim waits for an earlier one that ends. Purposes and actors do not count here.
    public static func waits(
        later: ClaimStrength, forEarlier earlier: ClaimStrength, _ relation: ItemRelation
    ) -> Bool {
        switch (relation, earlier, later) {
        case (.unrelated, _, _): false
        case (.same, .reads, .reads): false
        case (.same, .reads, .writes), (.same, .reads, .takesTree): true
        case (.same, .writes, _), (.same, .takesTree, _): true
        // Who changes a directory's list of names leaves those alone who are at its contents.
        case (.laterIsInside, .reads, _), (.laterIsInside, .writes, _): false
        case (.laterIsInside, .takesTree, _): true
        case (.earlierIsInside, _, .reads), (.earlierIsInside, _, .writes): false
        case (.earlierIsInside, _, .takesTree): true
        }
    }

    /// How the two lie to one another; what is in a package counts as the package.
    public static func relation(ofLater later: Access, toEarlier earlier: Access, _ packages: Packages) -> ItemRelation {
        relation(
            ofLater: later, on: packages.unit(of: later.path), toEarlier: earlier, on: packages.unit(of: earlier.path))
    }

    /// The same of accesses whose units (``Packages/unit(of:)``) are known.
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
