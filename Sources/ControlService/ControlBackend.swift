// The daemon's services on its control socket: one synchronous method for each request.

import ControlProtocol

/// Answers requests over a container. The service calls the methods on its own threads, several at once. Each method
/// acts with the rights of `call.peer` on the files: it does not list items that the caller may not read, and answers
/// `denied` for items that the caller may not write.
///
/// Paths in ``ControlProtocol/Target`` come unchecked from the client: bytes, relative to the container's root. Use
/// `Path.tree`, and answer `notFound` where it is nil.
public protocol ControlBackend: Sendable {
    func hello(_ request: Handshake, _ call: ControlCall) throws(ControlError) -> Handshake.Reply
    func status(_ request: StatusRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus

    // Reading
    func conflicts(_ request: ConflictsRequest, _ call: ControlCall) throws(ControlError) -> [ConflictedDocument]
    func history(_ request: HistoryRequest, _ call: ControlCall) throws(ControlError) -> DocumentHistory
    func show(_ request: ShowRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo
    func deleted(_ request: DeletedRequest, _ call: ControlCall) throws(ControlError) -> [DeletedEntry]
    /// A page of the target's events; pages have a bounded size.
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

    // Restoring
    func restore(_ request: RestoreRequest, _ call: ControlCall) throws(ControlError) -> Restored
    func restoreDirectory(_ request: RestoreDirectoryRequest, _ call: ControlCall) throws(ControlError) -> Restored
    func undelete(_ request: UndeleteRequest, _ call: ControlCall) throws(ControlError) -> Restored

    // Keeping and purging
    func pin(_ request: PinRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo
    func addVersion(_ request: AddVersionRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo
    func thin(_ request: ThinRequest, _ call: ControlCall) throws(ControlError) -> Removed
    func purge(_ request: PurgeRequest, _ call: ControlCall) throws(ControlError) -> Removed
    func purgeDeleted(_ request: PurgeDeletedRequest, _ call: ControlCall) throws(ControlError) -> Removed
    /// Only for `versionsfs --offline`; a mounted container answers `busy`.
    func forget(_ request: ForgetRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus

    // The container itself
    func check(_ request: CheckRequest, _ call: ControlCall) throws(ControlError) -> CheckReport
    func config(_ request: ConfigRequest, _ call: ControlCall) throws(ControlError) -> [Setting]
    func setConfig(_ request: SetConfigRequest, _ call: ControlCall) throws(ControlError) -> Setting

    // The change feed. The service keeps each subscriber's position in it and asks for the next page when the
    // subscriber has read the last one: it queues no events.

    /// The sequence number of the last change.
    func lastSequence() throws(ControlError) -> UInt64
    /// The changes after `sequence` at the target, and below it to the given depth, that the peer may know; reads at
    /// most `limit` rows. Throws `notFound` if the feed no longer goes back so far.
    func changes(
        after sequence: UInt64, limit: Int, within target: Target, _ depth: WatchDepth, peer: Peer
    ) throws(ControlError) -> ChangePage
    /// Calls `handler` after each recorded change. The handler must return at once. Calls may be coalesced.
    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> any ChangeObservation
}

/// A page of the change feed.
public struct ChangePage: Sendable {
    /// In order.
    public var events: [WatchEvent]
    /// The last row that was read, visible or not: the next page starts after it. Equal to `after` at the end of the
    /// feed.
    public var upTo: UInt64

    public init(events: [WatchEvent], upTo: UInt64) {
        self.events = events
        self.upTo = upTo
    }
}

/// Observes until it is canceled.
public protocol ChangeObservation: Sendable {
    func cancel()
}
