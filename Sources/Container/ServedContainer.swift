// A container as the daemon serves it: to the kernel, and to the clients of the control socket.

import VersionModel
import VersionStore

/// An open container, whichever core decides its requests.
public protocol ServedContainer: ContainerRequests {
    var state: ContainerState { get }
    var options: ContainerOptions { get }
    var finder: Finder { get }
    var operations: any OperatedContainer { get }
    /// Makes the tree under `.versions`, for one mount.
    func makeBrowser() -> Browser
    /// The path of the control socket, which programs find by an attribute of any file.
    var socketPath: String? { get set }

    /// Begins the work in the background.
    func start()
    /// Saves what programs have open, and closes the catalog. The state is closed next, the tree last.
    func close()

    // MARK: How it is

    /// Why no change is allowed, because the catalog cannot be written; nil while it can, or may soon.
    var writingFailure: String? { get }
    /// Whether the catalog cannot be written now; changes wait in memory.
    var isWritingStuck: Bool { get }
    func counts() throws(StoreError) -> ContainerCounts
    /// The versions whose content is gone, with at most `limit` of their documents.
    func lostContents(naming limit: Int) throws(StoreError) -> LostContents
    /// Reads every content and follows every reference. A repair never removes content.
    ///
    /// - Parameters:
    ///   - isAtRest: whether no program uses the container.
    ///   - progress: called now and then with the number of checked contents and the total.
    func check(
        repair: Bool, isAtRest: Bool, progress: (_ done: Int, _ of: Int) -> Void
    ) throws(StoreError) -> [Finding]

    // MARK: Space

    /// Sentences for `status`.
    var spaceNotes: [String] { get }
    /// Whether nothing is thinned at present, because the clock is not to be trusted.
    var isThinningPaused: Bool { get }
    /// Adds up what lies at or below a path, as far as the caller may look into it.
    /// - Parameter limit: nanoseconds after which the tree is not walked any further; nil: no limit.
    func space(
        within path: TreePath, limit: Int64?, as principal: Principal, report: (_ entries: Int) throws -> Void
    ) throws(OperationError) -> SpaceOutcome
    /// Gives up history that is too dense for its age, or too much for its share.
    func thin(
        dryRun: Bool, as principal: Principal, report: (_ done: Int, _ of: Int) throws -> Void
    ) throws(OperationError) -> RemovalOutcome

    // MARK: The past

    /// What in a directory is not as it was, by path, as far as the caller may know it.
    func differences(
        in path: TreePath, since time: Timestamp, as principal: Principal
    ) throws(OperationError) -> [PastDifference]
    /// The moment before the last run of a program that changed something in a directory; nil if none is remembered.
    /// - Parameter program: a name, or the number of a process.
    func momentBefore(
        lastRunOf program: String, in path: TreePath, as principal: Principal
    ) throws(OperationError) -> Timestamp?
}

extension ServedContainer {
    /// The same moment on the clock of claims and on the wall clock.
    public var moment: (claims: Int64, wall: Timestamp) { (Scheduler.now, options.clock.now()) }
}

extension LiveContainer: ServedContainer {
    public var state: ContainerState { store.base }
    public var operations: any OperatedContainer { self }
    public func makeBrowser() -> Browser { Browser(self) }
    public var writingFailure: String? { store.writingFailure }
    public var isWritingStuck: Bool { store.isWritingStuck }
    public func counts() throws(StoreError) -> ContainerCounts { try store.statistics() }

    public func lostContents(naming limit: Int) throws(StoreError) -> LostContents {
        try store.lostContents(naming: limit)
    }

    public func check(
        repair: Bool, isAtRest: Bool, progress: (_ done: Int, _ of: Int) -> Void
    ) throws(StoreError) -> [Finding] {
        let findings = try store.check(repair: repair, isAtRest: isAtRest, progress: progress)
        if repair { tellRepaired(findings) }
        return findings
    }
}
