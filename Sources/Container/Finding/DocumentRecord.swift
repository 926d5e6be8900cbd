// What an operation knows of a document.

import VersionModel

/// A document with its versions, as an operation sees it.
public struct DocumentRecord: Hashable, Sendable {
    /// Relative to the container's root; for a deleted document the path that it had.
    public var path: TreePath
    public var item: ItemID
    /// Newest first, the current one included.
    public var versions: [Version]
    /// The document is in the deleted area.
    public var deletion: Deletion?

    public init(path: TreePath, item: ItemID, versions: [Version], deletion: Deletion? = nil) {
        self.path = path
        self.item = item
        self.versions = versions
        self.deletion = deletion
    }

    /// The version in the file; nil before the first save.
    public var current: Version? { versions.first { $0.kind == .current } }
    /// Whether a version's content is the current one's.
    func isCurrent(_ version: Version) -> Bool {
        guard let current else { return false }
        if version.id == current.id { return true }
        guard version.size == current.size else { return false }
        return version.content == current.content || version.hash != nil && version.hash == current.hash
    }
    /// Unresolved, newest first.
    public var conflicts: [Version] { versions.filter { $0.kind == .conflict } }
}
