// The findings of a check.

import VersionModel

/// One error that ``VersionStore/check(repair:progress:)`` found.
public struct Finding: Hashable, Sendable {
    /// The kind of the error, as a word for scripts.
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
    /// The id of the affected object, in hex.
    public var subject: String
    /// The document's path, if it is known.
    public var path: TreePath?
    /// A sentence about the error.
    public var text: String
    /// The effect of a repair; nil if the error cannot be repaired.
    public var repair: String?
    public var isRepaired = false
}
