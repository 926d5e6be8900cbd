// The results of one scope of a metadata query, as the daemon of its container reports them. The feed survives the end
// of a daemon.

import ControlProtocol
import Dispatch
import Foundation
import Synchronization
import VersionsClient

/// A live query of one directory. It continues when the daemon comes back.
final class MetadataFeed: Sendable {
    /// A report of the feed: the mount point of the container if it is known, paths whose entries may have changed, and
    /// whether the first set is complete. Called on the client's reading thread; it must return soon.
    typealias Note = @Sendable (_ root: Path?, _ paths: [Path], _ isGathered: Bool) -> Void

    private struct State {
        /// The container's mount point; nil until its daemon was found. It stays, because results are identified by it.
        var root: Path?
        var results = QueryResults()
        /// The results contain all changes up to this one.
        var sequence: UInt64?
        var client: VersionsClient?
        var query: UInt64?
        var isStopped = false
    }

    /// Guards the reported state. No callback runs under it.
    private let state = Mutex(State())
    private let directory: URL
    private let predicate: String
    private let note: Note
    private let queue = DispatchQueue(label: "metadata-query")

    init(_ directory: URL, _ predicate: NSMetadataPredicate, note: @escaping Note) {
        self.directory = directory
        self.predicate = "\(predicate)"
        self.note = note
    }

    func start() { queue.async { self.begin() } }

    func stop() {
        let (client, query) = state.withLock { state in
            state.isStopped = true
            return (state.client, state.query)
        }
        if let client, let query { client.endQuery(query) }
    }

    /// The container's mount point, after the first report.
    var root: Path? { state.withLock(\.root) }

    /// The last reported entry at a path of the container.
    func item(at path: Path) -> QueryItem? { state.withLock { $0.results.item(at: path) } }

    // MARK: Asking

    private func begin() {
        guard !state.withLock(\.isStopped) else { return }
        let served: ServedItem
        do throws(ControlError) {
            guard let found = try ServedItem.find(directory) else { return fail(nil) }
            served = found
        } catch {
            return fail(error)
        }
        let after = state.withLock { state in
            state.client = served.client
            state.root = state.root ?? served.root
            // An incomplete first set is of no use.
            if state.sequence == nil { state.results.beginAgain() }
            return state.sequence
        }
        let request = QueryRequest(.path(served.path), predicate: predicate, live: true, after: after)
        served.client.query(request, results: { self.take($0) }, ended: { self.fail($0) }, then: { self.began($0) })
    }

    private func began(_ result: Result<QueryRequest.Reply, ControlError>) {
        switch result {
        case .success(let reply):
            let isStopped = state.withLock { state in
                state.query = reply.query
                return state.isStopped
            }
            if isStopped { stop() }
        case .failure(let error): fail(error)
        }
    }

    /// Handles a missing daemon, or one that cannot continue from the last change: a wait for the first set ends, and
    /// the feed asks again.
    private func fail(_ error: ControlError?) {
        let isStopped = state.withLock { state in
            // Starts with a first set again, and reports the difference: the change feed has no rows about changes
            // while the container was not mounted.
            state.sequence = nil
            state.query = nil
            return state.isStopped
        }
        guard !isStopped else { return }
        note(root, [], true)
        // No event tells of a mount, so the feed looks for it.
        queue.asyncAfter(deadline: .now() + .seconds(1)) { self.begin() }
    }

    private func take(_ piece: QueryResultsNotification) {
        let step = state.withLock { state -> QueryStep? in
            guard !state.isStopped else { return nil }
            let step = state.results.take(piece)
            if let sequence = step?.sequence { state.sequence = sequence }
            return step
        }
        guard let step else { return }
        let paths = step.added.map(\.path) + step.removed.map(\.path) + step.changed.map(\.item.path)
        note(root, paths + step.changed.compactMap(\.from), step.isGathered)
    }
}
