// What a check finds.

import VersionModel

/// One thing that ``VersionStore/check(repair:progress:)`` found.
public struct Finding: Hashable, Sendable {
    /// What is wrong, in a word that scripts can compare.
    public enum Kind: String, Sendable, CaseIterable {
        case catalogDamaged = "catalog-damaged"
        case contentMissing = "content-missing"
        case contentChanged = "content-changed"
        case objectUnknown = "object-unknown"
        case labelUnreadable = "label-unreadable"
        case deletionMissing = "deletion-missing"
        case deletionUnknown = "deletion-unknown"
        case currentMissing = "current-missing"
        case severalCurrents = "several-currents"
        case versionWithoutItem = "version-without-item"
        case pathUnknown = "path-unknown"
        case parentsInACircle = "parents-in-a-circle"
    }

    public var kind: Kind
    /// The id of the thing, in hex.
    public var subject: String
    /// The document's path, where it is known.
    public var path: TreePath?
    /// What is wrong, as a sentence.
    public var text: String
    /// What a repair does about it; nil if nothing can be done.
    public var repair: String?
    public var isRepaired = false
}
