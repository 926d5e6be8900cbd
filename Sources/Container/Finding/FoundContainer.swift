// What finding asks of a container.

import VersionModel

/// A document, and the version in its file; nil before the first save.
typealias FoundDocument = (item: ItemID, current: Version?)

/// A container whose documents can be found.
protocol FoundContainer: BrowsableContainer, CoordinatedContainer {
    /// Files over this size are not copied.
    var maxFile: UInt64 { get }
    /// The document of a file that a walk has come to, and the version in it.
    /// - Returns: what tells them. It is asked once the names are let go, and may read the catalog.
    func found(_ spot: Spot, _ node: Node, _ stat: FileStat) throws -> () throws -> FoundDocument
    /// Where a document without a name was last.
    func lastPath(of item: ItemID, _ versions: [Version]) -> TreePath?
    /// The live document if it holds this version; its kept copy during a change.
    func liveFile(at path: TreePath, _ version: VersionID) -> SharedDescriptor?
    /// Whether a current version differs from the document's file: a database with the commits of its log.
    func isKeptBeside(_ version: Version, of document: DocumentRecord) -> Bool
    /// What memory knows of the documents with some names of a directory.
    func remembered(_ names: [FileName], in directory: FileID) -> [FileName: RememberedName]
    /// The version in a file of which nothing is recorded, without rights that its mode does not tell.
    func unrecorded(_ stat: FileStat) -> Version
    /// Whether no versions are made of what has a path.
    func ignores(_ path: TreePath) -> Bool
}

/// What memory knows of a document with a name.
enum RememberedName: Sendable {
    /// Listeners do not hear of it yet.
    case untold
    case document(ItemID, Version)
}
