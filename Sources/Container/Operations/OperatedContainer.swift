// The operations that change what a container has, as the control socket asks for them.

import VersionModel
import VersionStore

/// What a request to undelete is about.
public enum Undeletable: Sendable {
    /// An entry of the deleted area, with what was deleted from it.
    case entry(Deletion)
    /// A directory that came back without all that was deleted from it.
    case unfinished(UnfinishedUndelete)
    /// A live directory, and the last group of deletions from it and below.
    case inside(TreePath, FileID, group: DeletionID)
}

/// A container whose history and tree operations may change. Each is carried out with the rights of its caller.
public protocol OperatedContainer: Sendable {
    typealias Report = (_ done: Int) throws -> Void
    typealias PartReport = (_ done: Int, _ of: Int) throws -> Void

    // MARK: Settings

    /// The settings in force; setting them takes effect at once, but for `actors.boundaries`.
    var settings: Settings { get nonmutating set }
    /// `.versionsignore` at the root as it was read last; nil if there is none.
    var ignoreFile: IgnoreFile? { get }

    // MARK: Going back

    func restore(
        _ version: Version, of document: DocumentRecord, to target: TreePath?, as principal: Principal
    ) throws(OperationError) -> RestoreOutcome
    func restoreDirectory(
        _ path: TreePath, at time: Timestamp, to target: TreePath?, as principal: Principal, report: Report
    ) throws(OperationError) -> RestoreOutcome

    // MARK: Undeleting

    func undeletable(
        at path: TreePath, elsewhere: Bool, as principal: Principal
    ) throws(OperationError) -> Undeletable
    /// The undeletion that has begun with an entry of this id, whose first digits will do; nil if there is none.
    func unfinishedUndelete(_ digits: String) throws(OperationError) -> UnfinishedUndelete?
    /// The directories whose undeletion has begun and not ended, with how many entries are still deleted.
    func unfinishedUndeletes() throws(OperationError) -> [(path: TreePath, remaining: Int)]
    /// Where what is undeleted comes back to.
    func home(of what: Undeletable) -> TreePath
    func undelete(
        _ what: Undeletable, to target: TreePath?, as principal: Principal, report: Report,
        expecting: @escaping (_ entries: Int) -> Void
    ) throws(OperationError) -> RestoreOutcome

    // MARK: Conflicts

    func resolve(
        _ document: DocumentRecord, _ choice: ResolutionChoice, seen: [VersionID]?, as principal: Principal
    ) throws(OperationError) -> ResolutionOutcome
    func resolveAll(
        within path: TreePath, as principal: Principal, report: PartReport
    ) throws(OperationError) -> [ResolutionOutcome]
    func simulateConflict(
        _ document: DocumentRecord, as principal: Principal
    ) throws(OperationError) -> DocumentRecord

    // MARK: Versions

    func pin(
        _ version: Version, of document: DocumentRecord, _ isPinned: Bool, as principal: Principal
    ) throws(OperationError) -> Version
    func addVersion(
        from source: TreePath, to document: DocumentRecord, as principal: Principal
    ) throws(OperationError) -> Version
    func purge(
        _ document: DocumentRecord, _ version: Version?, dryRun: Bool, force: Bool, as principal: Principal
    ) throws(OperationError) -> RemovalOutcome
    func purgeDeleted(
        before: Timestamp?, within path: TreePath?, entry: DeletionID?, dryRun: Bool, force: Bool,
        as principal: Principal, report: PartReport
    ) throws(OperationError) -> RemovalOutcome
}

extension LiveContainer: OperatedContainer {}
