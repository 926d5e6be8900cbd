// What the past asks of the live tree, and has done in it.

import SystemPackage
import VersionModel
import VersionStore

/// The tree of today, as far as the past is compared with it.
protocol PresentTree: AnyObject, Sendable {
    /// The entries of a directory now, without the container's state.
    func entries(
        of path: TreePath
    ) throws -> (directory: FileID, entries: [(name: FileName, isDirectory: Bool)])
    /// The directory at a path, which the caller may pass through.
    func directory(at path: TreePath, as principal: Principal) throws -> FileID
    func times(ofDirectory path: TreePath) throws -> (directory: FileID, times: DirectoryTimes.Times)
    /// Where a recorded directory is now; nil if it is gone.
    func livePath(of directory: FileID) -> TreePath?
    func isFree(_ path: TreePath, _ principal: Principal) throws -> Bool
    /// Whether a program has it open for writing.
    func isBeingWritten(_ path: TreePath) throws -> Bool

    func document(at path: TreePath, as principal: Principal) throws(OperationError) -> DocumentRecord
    func document(_ item: ItemID, as principal: Principal) throws(OperationError) -> DocumentRecord
    /// Whether a document's content is equal to a version's, its own or its former document's.
    func holds(_ then: Version, of former: DocumentRecord, _ document: DocumentRecord) -> Bool

    func knowsAll(_ principal: Principal) -> Bool
    func mayList(_ directory: TreePath, as principal: Principal) -> Bool
    func mayRead(_ version: Version, of document: DocumentRecord, as principal: Principal) -> Bool
    func mayKnow(_ deletion: Deletion, _ principal: Principal, _ known: inout KnownDirectories) -> Bool
}

/// The tree of today, as far as a return to the past changes it.
protocol ReturningTree: PresentTree {
    func mayTake(_ deletion: Deletion, _ principal: Principal, _ known: inout KnownDirectories) -> Bool
    /// Throws unless the caller may make, and with `removing` take away, a name.
    func requireChange(of path: TreePath, removing: Bool, as principal: Principal) throws
    func requireWriting(to document: TreePath, as principal: Principal) throws
    /// Throws unless the caller may take a name away with everything below it.
    /// - Parameter others: names that are moved elsewhere before that.
    func requireDisplacing(_ path: TreePath, except others: Set<TreePath>, as principal: Principal) throws

    /// A name goes to the deleted area with everything below it; how many entries that were.
    func displace(_ path: TreePath, _ principal: Principal) throws -> Int
    func move(_ path: TreePath, to target: TreePath, _ principal: Principal) throws
    /// Moves one entry back without what was deleted from it.
    func undeleteOne(_ deletion: Deletion, to path: TreePath, as principal: Principal) throws
    /// Stages a copy of a version.
    func stage(_ version: Version, of document: DocumentRecord, as principal: Principal) throws -> StagedFile
    /// Puts a staged file under a name that is free, as a new document whose first version names `parents`.
    func putNew(
        _ staged: StagedFile, at path: TreePath, mode: UInt32, modified: Timestamp?, parents: [VersionID],
        as principal: Principal, rows: [VersionStore.Mutation]
    ) throws -> Version
    func replace(_ path: TreePath, with replacement: Replacement, as principal: Principal) throws -> Version
    /// chmod(2) of a document by the caller.
    /// - Parameter mode: what it is to be; nil leaves it as it is.
    func changeMode(
        ofDocument path: TreePath, as principal: Principal, to mode: (FileStat) -> UInt32?
    ) throws -> Bool
    func setTimes(accessed: Timestamp, modified: Timestamp, of directory: TreePath)
}
