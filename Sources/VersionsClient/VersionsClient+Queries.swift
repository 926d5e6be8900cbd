// Queries of a client: a part of the tree as it is, and then as it changes.

import ControlProtocol
import Synchronization

extension ControlConnection {
    /// What a query's results go to, on the reading thread: what blocks there holds the daemon back.
    struct QueryWatcher: Sendable {
        var results: @Sendable (QueryResultsNotification) -> Void
        /// Called once: nil if the query is complete, else why it has ended.
        var ended: @Sendable (ControlError?) -> Void
        var isLive: Bool
    }

    /// Begins a query; the watcher is in place before the first result is read.
    func query(
        _ request: QueryRequest, _ watcher: QueryWatcher,
        then: @escaping @Sendable (Result<QueryRequest.Reply, ControlError>) -> Void
    ) {
        call(request) { [weak self] result in
            if case .success(let reply) = result { self?.state.withLock { $0.queries[reply.query] = watcher } }
            then(result)
        }
    }

    /// Results of a query that this client began and has not ended.
    func took(_ results: QueryResultsNotification) {
        guard let watcher = state.withLock({ $0.queries[results.query] }) else { return }
        watcher.results(results)
        guard results.gathered ?? false, !watcher.isLive else { return }
        state.withLock { $0.queries[results.query] = nil }
        watcher.ended(nil)
    }

    func queryEnded(_ ended: QueryEndedNotification) {
        let watcher = state.withLock { $0.queries.removeValue(forKey: ended.query) }
        watcher?.ended(ControlError(.notFound, ended.reason, advice: "ask again"))
    }

    func endQuery(_ query: UInt64) {
        guard state.withLock({ $0.queries.removeValue(forKey: query) }) != nil else { return }
        post(EndQueryRequest(query: query))
    }
}

extension VersionsClient {
    /// Begins a query and goes on. Everything is called on the reading thread, and while it takes its time there the
    /// daemon waits.
    /// - Parameters:
    ///   - request: what is looked for, and where.
    ///   - results: gets each piece; ``QueryResults`` says what it means.
    ///   - ended: called once, unless the query was ended by ``endQuery(_:)``: nil when a query that is not live is
    ///     complete, else why no more will come.
    ///   - then: gets the query's number, before its first result.
    public func query(
        _ request: QueryRequest, results: @escaping @Sendable (QueryResultsNotification) -> Void,
        ended: @escaping @Sendable (ControlError?) -> Void,
        then: @escaping @Sendable (Result<QueryRequest.Reply, ControlError>) -> Void
    ) {
        let watcher = ControlConnection.QueryWatcher(results: results, ended: ended, isLive: request.live ?? false)
        connection.query(request, watcher, then: then)
    }

    /// Ends a query: nothing more is told of it.
    public func endQuery(_ query: UInt64) { connection.endQuery(query) }

    /// Asks for what a predicate is true of, and tells each step on the reading thread; a live query ends with its
    /// connection, or if the daemon cannot go on from where it was. A task that is cancelled has it ended.
    /// - Returns: why it ended; nil if it was not live, and is complete.
    public func query(
        _ request: QueryRequest, _ body: @escaping @Sendable (QueryResultsNotification) -> Void
    ) async throws(ControlError) -> ControlError? {
        let end = RunningEnd<ControlError?>(of: Running { [weak connection] in connection?.endQuery($0) })
        query(
            request, results: body, ended: { end.came(.success($0)) }, then: { end.began($0.map(\.query)) })
        guard let last = await end.wait() else { throw ControlError(.cancelled, "cancelled") }
        return try last.get()
    }

    /// The entries at or below a target that a predicate is true of, in the order of their paths.
    public func items(of target: Target, where predicate: String? = nil) async throws(ControlError) -> [QueryItem] {
        try await items(of: QueryRequest(target, predicate: predicate))
    }

    /// The results of a query that is not live, in the order of their paths.
    public func items(of request: QueryRequest) async throws(ControlError) -> [QueryItem] {
        let gathered = Gathered()
        if let error = try await query(request, { gathered.take($0) }) { throw error }
        return gathered.items
    }
}

extension VersionsClient {
    /// The results of a query that is not live; for a caller that is no task.
    @available(*, noasync, message: "use items(of:)")
    public func itemsAndWait(of request: QueryRequest) throws(ControlError) -> [QueryItem] {
        let gathered = Gathered()
        let end = Awaited<ControlError?>()
        query(
            request, results: { gathered.take($0) }, ended: { end.set($0) },
            then: { result in if case .failure(let error) = result { end.set(error) } })
        if let error = end.wait() { throw error }
        return gathered.items
    }
}

/// The results of a query that is not live, as they come.
private final class Gathered: Sendable {
    /// Guards the results alone.
    private let results = Mutex(QueryResults())
    func take(_ piece: QueryResultsNotification) { _ = results.withLock { $0.take(piece) } }
    var items: [QueryItem] { results.withLock { $0.items } }
}
