// A backend without a container, and the service in front of it, for tests.

import ControlProtocol
import ControlService
import Foundation
import Glibc
import Logging
import Synchronization
import VersionModel

/// Answers from values that a test sets, and remembers what it was asked.
final class FakeBackend: ControlBackend {
    struct State: Sendable {
        var status = Samples.status
        var conflicts: [ConflictedDocument] = []
        var versions: [VersionInfo] = []
        var deleted: [DeletedEntry] = []
        /// One page each.
        var logPages: [[LoggedEvent]] = []
        var report = CheckReport(findings: [], contents: 3, bytes: 300)
        var settings = [Setting(key: "stale-writes", value: "\"keep\"", standard: "\"keep\"")]
        var log: [String] = []
        var peers: Set<Peer> = []
        var changes: [WatchEvent] = []
        /// The feed begins behind this number.
        var pruned: UInt64 = 0
        var observers: [Int: @Sendable () -> Void] = [:]
    }

    let state = Mutex(State())
    let coordination = FakeCoordination()
    let fakeQuery = FakeQuery()
    /// Called by `check` in place of a check.
    let checking: @Sendable (ControlCall) throws(ControlError) -> Void

    init(checking: @escaping @Sendable (ControlCall) throws(ControlError) -> Void = { _ in }) {
        self.checking = checking
    }

    var log: [String] { state.withLock { $0.log } }

    func record(_ events: [WatchEvent]) {
        let observers = state.withLock { state in
            state.changes += events
            return Array(state.observers.values)
        }
        observers.forEach { $0() }
    }

    private func note(_ text: String, _ call: ControlCall) {
        state.withLock { state in
            state.log.append(text)
            state.peers.insert(call.peer)
        }
    }

    private func name(_ target: Target) -> String {
        switch target {
        case .path(let path): "path \(path)"
        case .id(let id): "id \(id)"
        }
    }

    private func find(_ name: VersionName?) throws(ControlError) -> VersionInfo {
        let versions = state.withLock { $0.versions }
        let steps = versions.filter { $0.kind != .conflict }
        let found: VersionInfo? =
            switch name {
            case nil: versions.first { $0.kind == .current }
            case .id(let digits): versions.first { $0.id.hex.hasPrefix(digits) }
            case .back(let count): count < steps.count ? steps[count] : nil
            case .at(let time): steps.first { $0.saved <= time }
            case .before(let program): versions.first { $0.program != program }
            }
        guard let found else {
            if case .at = name { throw ControlError(.invalidValue, "no history that far back", begins: Samples.noon) }
            throw ControlError(
                .notFound, "no version \(name.map { "\($0)" } ?? "")",
                advice: "`versionsctl history` lists the versions")
        }
        return found
    }

    func hello(_ request: Handshake, _ call: ControlCall) throws(ControlError) -> Handshake.Reply {
        note("hello \(request.program)", call)
        return Handshake.Reply(version: "0.1.0", container: ContainerID(high: 5, low: 6), mountpoint: Path("/mnt"))
    }
    func status(_ request: StatusRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus {
        state.withLock { $0.status }
    }
    func conflicts(_ request: ConflictsRequest, _ call: ControlCall) throws(ControlError) -> [ConflictedDocument] {
        note("conflicts \(name(request.target))", call)
        return state.withLock { $0.conflicts }
    }
    func history(_ request: HistoryRequest, _ call: ControlCall) throws(ControlError) -> DocumentHistory {
        note("history \(name(request.target))", call)
        guard case .path(let path) = request.target else { throw ControlError(.notFound, "no such item") }
        return DocumentHistory(path: path, versions: state.withLock { $0.versions })
    }
    /// Names that look like ids, and of which nothing was deleted.
    private static let likeIDs: Set = ["cafe", "0a1b2"]
    func show(_ request: ShowRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo {
        if case .id(let id) = request.target { return try find(request.version ?? .id(id)) }
        if case .path(let path) = request.target, Self.likeIDs.contains(path.description) {
            throw ControlError(.notFound, "no such file", path: path)
        }
        return try find(request.version)
    }
    func deleted(_ request: DeletedRequest, _ call: ControlCall) throws(ControlError) -> [DeletedEntry] {
        note("deleted \(name(request.target))", call)
        if case .path(let path) = request.target, Self.likeIDs.contains(path.description) { return [] }
        return state.withLock { $0.deleted }
    }
    func log(_ request: LogRequest, _ call: ControlCall) throws(ControlError) -> LogPage {
        note("log \(name(request.target)) \(request.after ?? "-")", call)
        let page = request.after.flatMap { Int($0) } ?? 0
        return state.withLock { state in
            let next = page + 1 < state.logPages.count ? "\(page + 1)" : nil
            let events = (page < state.logPages.count ? state.logPages[page] : []).filter { event in
                (request.since.map { event.time >= $0 } ?? true) && (request.until.map { event.time <= $0 } ?? true)
            }
            return LogPage(events: events, next: next)
        }
    }
    func space(_ request: SpaceRequest, _ call: ControlCall) throws(ControlError) -> SpaceUse { Samples.status.space }
    func claims(_ request: ClaimsRequest, _ call: ControlCall) throws(ControlError) -> [ClaimInfo] { [] }
    func resolve(_ request: ResolveRequest, _ call: ControlCall) throws(ControlError) -> Resolution {
        note("resolve \(name(request.target)) \(request.keep) seen \(request.seen?.count ?? -1)", call)
        return Resolution(document: Path("doc.txt"), current: VersionID(high: 1, low: 1), resolved: request.seen ?? [])
    }
    func resolveAll(_ request: ResolveAllRequest, _ call: ControlCall) throws(ControlError) -> [Resolution] { [] }
    func simulateConflict(
        _ request: SimulateConflictRequest, _ call: ControlCall
    ) throws(ControlError) -> ConflictedDocument { Samples.conflict }
    func restore(_ request: RestoreRequest, _ call: ControlCall) throws(ControlError) -> Restored {
        let version = request.version.map { "\($0)" } ?? "-"
        note("restore \(name(request.target)) \(version) to \(request.to.map(\.description) ?? "-")", call)
        return Restored(document: request.to ?? Path("doc.txt"), entries: 1)
    }
    func restoreDirectory(_ request: RestoreDirectoryRequest, _ call: ControlCall) throws(ControlError) -> Restored {
        Restored(document: Path(""), entries: 2)
    }
    func compareDirectory(
        _ request: CompareDirectoryRequest, _ call: ControlCall
    ) throws(ControlError) -> DirectoryComparison {
        DirectoryComparison(at: request.at ?? Timestamp(nanoseconds: 0), entries: [])
    }
    func undelete(_ request: UndeleteRequest, _ call: ControlCall) throws(ControlError) -> Restored {
        note("undelete \(name(request.target))", call)
        if case .path(let path) = request.target, Self.likeIDs.contains(path.description) {
            throw ControlError(.nothingToDo, "nothing was deleted here", path: path)
        }
        throw ControlError(.exists, "exists", path: Path("doc.txt"), advice: "--to PATH puts it elsewhere")
    }
    func pin(_ request: PinRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo {
        try find(request.version)
    }
    func addVersion(_ request: AddVersionRequest, _ call: ControlCall) throws(ControlError) -> VersionInfo {
        note("addVersion \(name(request.target)) from \(request.contents)", call)
        return try find(nil)
    }
    func thin(_ request: ThinRequest, _ call: ControlCall) throws(ControlError) -> Removed {
        Removed(versions: [], versionCount: 2, deletedCount: 0, bytes: 2048)
    }
    func purge(_ request: PurgeRequest, _ call: ControlCall) throws(ControlError) -> Removed {
        Removed(versions: [], versionCount: 0, deletedCount: 0, bytes: 0)
    }
    func purgeDeleted(_ request: PurgeDeletedRequest, _ call: ControlCall) throws(ControlError) -> Removed {
        Removed(versions: [], versionCount: 0, deletedCount: 3, bytes: 10)
    }
    func forget(_ request: ForgetRequest, _ call: ControlCall) throws(ControlError) -> ContainerStatus {
        throw ControlError(.busy, "mounted")
    }
    func check(_ request: CheckRequest, _ call: ControlCall) throws(ControlError) -> CheckReport {
        try checking(call)
        return state.withLock { $0.report }
    }
    func config(_ request: ConfigRequest, _ call: ControlCall) throws(ControlError) -> [Setting] {
        state.withLock { $0.settings }
    }
    func setConfig(_ request: SetConfigRequest, _ call: ControlCall) throws(ControlError) -> Setting {
        throw ControlError(.invalidValue, "stale-writes cannot be \(request.value)", advice: "keep, merge or refuse")
    }
    func lastSequence() throws(ControlError) -> UInt64 { state.withLock { $0.changes.last?.sequence ?? $0.pruned } }
    func changes(
        after sequence: UInt64, limit: Int, within target: Target, _ depth: WatchDepth, peer: Peer
    ) throws(ControlError) -> ChangePage {
        let (rows, pruned) = state.withLock { state in
            (Array(state.changes.drop { $0.sequence <= sequence }.prefix(limit)), state.pruned)
        }
        guard sequence >= pruned else { throw ControlError(.notFound, "the feed begins at \(pruned)") }
        guard case .path(let path) = target, let tree = path.tree else { throw ControlError(.notFound, "no such item") }
        let events = rows.filter { $0.path.tree?.isWithin(tree) ?? false }
        return ChangePage(events: events, upTo: rows.last?.sequence ?? sequence)
    }
    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> any ChangeObservation {
        let number = state.withLock { state in
            state.observers[state.observers.count] = handler
            return state.observers.count - 1
        }
        return Observation { [weak self] in _ = self?.state.withLock { $0.observers.removeValue(forKey: number) } }
    }

    private struct Observation: ChangeObservation {
        var end: @Sendable () -> Void
        func cancel() { end() }
    }
}

/// A fresh directory with a served socket in it; both go with `stop`.
struct FakeService {
    let backend: FakeBackend
    let server: ControlServer
    let directory: String
    var socket: String { server.place.path }

    init(_ backend: FakeBackend = FakeBackend(), limits: ControlServer.Limits = .init()) throws {
        self.backend = backend
        directory = try temporaryDirectory()
        server = try ControlServer(
            at: SocketPlace(path: directory + "/c.sock"), backend: backend, limits: limits,
            logger: Logger(label: "test"))
    }

    func stop() {
        server.stop()
        remove(directory)
    }
}

/// Somewhere where extended attributes work.
func temporaryDirectory() throws -> String {
    var template = Array("/var/tmp/control-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ControlError(.system, "no temporary directory") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func remove(_ directory: String) {
    guard directory.hasPrefix("/var/tmp/control-test-") else { return }
    try? FileManager.default.removeItem(atPath: directory)
}
