// What a daemon offers on its control socket: one synchronous method for each request.

import ControlProtocol

/// Answers requests over a container. Methods are called on the service's own threads, several at once; each acts with
/// the rights of `call.peer` on the files concerned: what the caller may not read is not listed, what it may not write
/// is `denied`.
///
/// Paths in ``ControlProtocol/Target`` are as the client sent them: relative to the container's root, bytes, not
/// checked. Use `Path.tree`, and answer `notFound` where it is nil.
public protocol ControlBackend: Sendable {
    func hello(_ request: Handshake, _ call: ControlCall) throws(ControlError) -> Handshake.Reply
    func status(_ request: StatusRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus

    // Reading
    func conflicts(_ request: ConflictsRequest, _ call: ControlCall) throws(ControlError) -> [ConflictedDocument]
    func history(_ request: HistoryRequest, _ call: ControlCall) throws(ControlError) -> DocumentHistory
    func show(_ request: ShowRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo
    func deleted(_ request: DeletedRequest, _ call: ControlCall) throws(ControlError) -> [DeletedEntry]
    /// A page of what happened at the target; pages are small, however much there is.
    func log(_ request: LogRequest, _ call: ControlCall) throws(ControlError) -> LogPage
    func space(_ request: SpaceRequest, _ call: ControlCall) throws(ControlError) -> SpaceUse
    func compareDirectory(
        _ request: CompareDirectoryRequest, _ call: ControlCall
    ) throws(ControlError) -> DirectoryComparison
    func claims(_ request: ClaimsRequest, _ call: ControlCall) throws(ControlError) -> [ClaimInfo]

    // Resolving
    func resolve(_ request: ResolveRequest, _ call: ControlCall) throws(ControlError) -> Resolution
    func resolveAll(_ request: ResolveAllRequest, _ call: ControlCall) throws(ControlError) -> [Resolution]
    func simulateConflict(
        _ request: SimulateConflictRequest, _ call: ControlCall
    ) throws(ControlError) -> ConflictedDocument

    // Bringing back
    func restore(_ request: RestoreRequest, _ call: ControlCall) throws(ControlError) -> Restored
    func restoreDirectory(_ request: RestoreDirectoryRequest, _ call: ControlCall) throws(ControlError) -> Restored
    func undelete(_ request: UndeleteRequest, _ call: ControlCall) throws(ControlError) -> Restored

    // Keeping and giving up
    func pin(_ request: PinRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo
    func addVersion(_ request: AddVersionRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo
    func thin(_ request: ThinRequest, _ call: ControlCall) throws(ControlError) -> Removed
    func purge(_ request: PurgeRequest, _ call: ControlCall) throws(ControlError) -> Removed
    func purgeDeleted(_ request: PurgeDeletedRequest, _ call: ControlCall) throws(ControlError) -> Removed
    /// Only `versionsfs --offline` does it; a mounted container answers `busy`.
    func forget(_ request: ForgetRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus

    // The container itself
    func check(_ request: CheckRequest, _ call: ControlCall) throws(ControlError) -> CheckReport
    func config(_ request: ConfigRequest, _ call: ControlCall) throws(ControlError) -> [Setting]
    func setConfig(_ request: SetConfigRequest, _ call: ControlCall) throws(ControlError) -> Setting

    // The change feed. The service keeps each subscriber's place in it and asks for the next piece when the
    // subscriber has taken the last one: nothing is queued for anyone.

    /// The sequence number of the last change.
    func lastSequence() throws(ControlError) -> UInt64
    /// The changes behind `sequence` at the target, or as far below it as is asked for, that the peer may know of, at most `limit` rows looked
    /// at. Throws `notFound` if the feed no longer reaches back so far.
    func changes(
        after sequence: UInt64, limit: Int, within target: Target, _ depth: WatchDepth, peer: Peer
    ) throws(ControlError) -> ChangePage
    /// Has `handler` called after changes were recorded; it returns at once. Calls may be coalesced.
    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> any ChangeObservation
}

/// A piece of the change feed.
public struct ChangePage: Sendable {
    /// In order.
    public var events: [WatchEvent]
    /// The last row looked at, shown or not: where the next piece begins. Equal to `after` if there is nothing more.
    public var upTo: UInt64

    public init(events: [WatchEvent], upTo: UInt64) {
        self.events = events
        self.upTo = upTo
    }
}

/// Ends when it is cancelled.
public protocol ChangeObservation: Sendable {
    func cancel()
}
