// What one scope of a metadata query has found, as the daemon of its container tells it, over the daemon's ends as
// well.

import ControlProtocol
import Dispatch
import Foundation
import Synchronization
import VersionsClient

/// A live query of one directory. It goes on by itself when the daemon has gone and come back.
final class MetadataFeed: Sendable {
    /// What the feed tells: where the container is mounted, if that is known, paths in it whose entries may be others
    /// now, and whether the first set is complete. Called on the client's reading thread, and soon done.
    typealias Note = @Sendable (_ root: Path?, _ paths: [Path], _ isGathered: Bool) -> Void

    private struct State {
        /// Where the container is mounted; nil until its daemon was found. Stays, as results are known by it.
        var root: Path?
        var results = QueryResults()
        /// Everything up to this change is in the results.
        var sequence: UInt64?
        var client: VersionsClient?
        var query: UInt64?
        var isStopped = false
    }

    /// Guards what was told. Nothing is called under it.
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

    /// Where its container is mounted, once it has told anything.
    var root: Path? { state.withLock(\.root) }

    /// The entry at a path of the container, as it was told last.
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
            // What was told of a first set that was not complete says little.
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

    /// The daemon is not there, or cannot go on from where this was: whoever waits for the first set waits no longer,
    /// and the daemon is asked again.
    private func fail(_ error: ControlError?) {
        let isStopped = state.withLock { state in
            // From a first set on, of which the difference is told: the feed has no rows of what was changed while the
            // container was not mounted.
            state.sequence = nil
            state.query = nil
            return state.isStopped
        }
        guard !isStopped else { return }
        note(root, [], true)
        // Nothing tells when a container is mounted: it is looked for.
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
