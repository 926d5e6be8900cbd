// Why an operation on history could not be done, in words for people and a kind for programs.

import SystemPackage
import VersionModel
import VersionStore

/// What went wrong with an operation that the control socket or `.versions` asked for.
public struct OperationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Kind: Sendable {
        /// No such document, directory, version or entry.
        case notFound
        /// The caller's own rights do not allow it.
        case denied
        /// The name to write to is taken.
        case exists
        /// Several ids begin like this.
        case ambiguous
        /// The content is not there any more.
        case contentMissing
        /// There is nothing to resolve, undelete, purge.
        case nothingToDo
        /// Another program is saving the document at this moment.
        case busy
        /// An argument means nothing here.
        case invalid
        /// The caller went away.
        case cancelled
        /// A system call or the catalog failed; see `errno`.
        case system
    }

    public var kind: Kind
    /// A clause without a full stop.
    public var message: String
    public var path: TreePath?
    /// What to do about it.
    public var advice: String?
    /// What a path that is not there is called now.
    public var renamed: TreePath?
    public var errno: Errno?
    /// Where history does not reach back to the time that was asked for: when it begins.
    public var begins: Timestamp?

    public init(_ kind: Kind, _ message: String, path: TreePath? = nil, advice: String? = nil, errno: Errno? = nil) {
        self.kind = kind
        self.message = message
        self.path = path
        self.advice = advice
        self.errno = errno
    }

    public var description: String { (path.map { "\($0): " } ?? "") + message }

    static func denied(_ path: TreePath?) -> OperationError { OperationError(.denied, "permission denied", path: path) }

    /// A time was asked for that history does not reach back to.
    public static func tooEarly(_ path: TreePath, begins: Timestamp?) -> OperationError {
        var error = OperationError(
            .invalid, "no history that far back", path: path,
            advice: begins.map { "versions begin at \($0.rfc3339)" } ?? "give a later time")
        error.begins = begins
        return error
    }

    /// A time was asked for that has not come.
    public static func notYet(_ path: TreePath) -> OperationError {
        OperationError(.invalid, "this time has not come yet", path: path, advice: "give a time that has passed")
    }

    /// The caller has decided by what is not current any more.
    static func savedMeanwhile(_ path: TreePath) -> OperationError {
        OperationError(
            .busy, "the file was saved in the meantime", path: path, advice: "look at it again, and repeat the command")
    }

    static func beingSaved(_ path: TreePath) -> OperationError {
        OperationError(.busy, "a program is saving the file", path: path, advice: "repeat the command in a moment")
    }

    static func databaseOpen(_ path: TreePath) -> OperationError {
        OperationError(
            .busy, "the database is open", path: path,
            advice: "close the program that uses it, and repeat the command")
    }

    /// What is deleted is in no conflict; once it is undeleted, its losers are unresolved as before.
    static func deletedConflict(_ document: DocumentRecord) -> OperationError {
        let isWaiting = !document.conflicts.isEmpty
        return OperationError(
            .invalid, isWaiting ? "the file is deleted, and its conflict with it" : "the file is deleted",
            path: document.path,
            advice: "`versionsctl undelete` brings it back" + (isWaiting ? " with the conflict" : ""))
    }

    static func unversioned(_ path: TreePath) -> OperationError {
        OperationError(
            .invalid, "no versions: the file is ignored, or a program's temporary file", path: path,
            advice: "`versionsctl status` names the patterns of ignored files")
    }

    static func taken(_ path: TreePath) -> OperationError {
        OperationError(.exists, "the name is taken", path: path, advice: "choose another name with --to PATH")
    }

    static func noDirectoryThen(_ path: TreePath) -> OperationError {
        OperationError(
            .invalid, "no such directory at that time", path: path,
            advice: "give a later time; `versionsctl history` shows when a file in it was saved")
    }

    static func renamedAbove(_ path: TreePath) -> OperationError {
        OperationError(
            .notFound, "a directory above it was renamed after that time", path: path,
            advice: "restore a copy with --to PATH")
    }

    static func missing(_ path: TreePath) -> OperationError {
        OperationError(.notFound, "no such file or directory", path: path)
    }

    /// Any error as one of these.
    static func wrap(_ error: any Error) -> OperationError {
        switch error {
        case let error as OperationError: error
        case Errno.noSuchFileOrDirectory, Errno.notDirectory:
            OperationError(.notFound, "no such file or directory", errno: error as? Errno)
        case Errno.fileExists: OperationError(.exists, "the name is taken", errno: .fileExists)
        case Errno.permissionDenied, Errno.notPermitted:
            OperationError(.denied, "permission denied", errno: error as? Errno)
        case let error as Errno: OperationError(.system, "\(error)", errno: error)
        case StoreError.io(let errno, let what): OperationError(.system, "\(what): \(errno)", errno: errno)
        default: OperationError(.system, "\(error)")
        }
    }
}

/// Runs the body of a public operation: whatever it throws becomes an ``OperationError``.
func operation<Result>(_ body: () throws -> Result) throws(OperationError) -> Result {
    do {
        return try body()
    } catch {
        throw OperationError.wrap(error)
    }
}
