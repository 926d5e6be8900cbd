// The common ancestor of two versions, found by keys.

import Lineage
import VersionModel

extension FactReader {
    /// The newest version that both go back to, as ``MergeBase`` finds it in a whole graph: a walk down the parents of
    /// both, newest first, which ends where they meet.
    /// - Returns: nil if there is none, or if the nearest one may be gone.
    public func commonAncestor(
        of one: VersionNumber, and other: VersionNumber
    ) throws(StoreError) -> VersionNumber? {
        try commonAncestor(of: one, and: other, looks: Self.looks)
    }

    /// - Parameter looks: how many versions are looked at in one access.
    func commonAncestor(
        of one: VersionNumber, and other: VersionNumber, looks: Int
    ) throws(StoreError) -> VersionNumber? {
        var walk = AncestorWalk()
        walk.reach(one, .one)
        walk.reach(other, .other)
        while !walk.isOver { try look { walk.go(on: $0, steps: looks) } }
        return walk.nearest
    }
}

private struct AncestorWalk {
    struct Sides: OptionSet {
        let rawValue: UInt8
        static let one = Sides(rawValue: 1)
        static let other = Sides(rawValue: 2)
        /// A nearer version that both go back to goes back to it.
        static let passed = Sides(rawValue: 4)
        static let both: Sides = [.one, .other]
    }

    /// Versions that were reached and not looked at, with who goes back to them.
    private var open: [VersionNumber: Sides] = [:]
    /// How many of them are not passed.
    private var countOfOpen = 0
    /// The nearest so far.
    private(set) var nearest: VersionNumber?

    /// Whether no version is left that could change the answer.
    var isOver: Bool { countOfOpen == 0 || open.isEmpty }

    mutating func reach(_ version: VersionNumber, _ sides: Sides) {
        let known = open[version]
        let now = (known ?? []).union(sides)
        open[version] = now
        if !(known?.contains(.passed) ?? true) { countOfOpen -= 1 }
        if !now.contains(.passed) { countOfOpen += 1 }
    }

    mutating func go(on look: Look, steps: Int) {
        var left = max(1, steps)
        // Parents have smaller numbers: all that go back to the largest have reached it.
        while left > 0, countOfOpen > 0, let version = open.keys.max(), let sides = open.removeValue(forKey: version) {
            left -= 1
            if !sides.contains(.passed) { countOfOpen -= 1 }
            let row = look.stored.version(version)
            let isShared = sides.isSuperset(of: .both)
            if isShared, !sides.contains(.passed) {
                // It is gone: what is behind it is too far away.
                guard let row, !row.isForgotten else {
                    (nearest, countOfOpen) = (nil, 0)
                    return
                }
                nearest = max(nearest ?? version, version)
            }
            for parent in [row?.parents.first, row?.parents.second].compactMap({ $0 }) where parent < version {
                reach(parent, isShared ? sides.union(.passed) : sides)
            }
        }
    }
}
