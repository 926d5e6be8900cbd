// Queries of a client: a part of the tree, and its later changes.

import ControlProtocol
import Synchronization

extension ControlConnection {
    /// The handlers of a query, called on the reading thread. A slow handler delays the daemon.
    struct QueryWatcher: Sendable {
        var results: @Sendable (QueryResultsNotification) -> Void
        /// Called once: nil if the query is complete, else the reason of its end.
        var ended: @Sendable (ControlError?) -> Void
        var isLive: Bool
    }

    /// Starts a query. The watcher is in place before the first result is read.
    func query(
        _ request: QueryRequest, _ watcher: QueryWatcher,
        then: @escaping @Sendable (Result<QueryRequest.Reply, ControlError>) -> Void
    ) {
        call(request) { [weak self] result in
            if case .success(let reply) = result { self?.state.withLock { $0.queries[reply.query] = watcher } }
            then(result)
        }
    }

    /// Takes results of a running query of this client.
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
    /// Starts a query and returns at once. All handlers are called on the reading thread. A slow handler delays the
    /// daemon.
    /// - Parameters:
    ///   - request: the predicate and the target.
    ///   - results: gets each page; ``QueryResults`` applies it.
    ///   - ended: called once, unless ``endQuery(_:)`` ended the query: nil when a query that is not live is complete,
    ///     else the reason why no more results come.
    ///   - then: gets the query's number, before its first result.
    public func query(
        _ request: QueryRequest, results: @escaping @Sendable (QueryResultsNotification) -> Void,
        ended: @escaping @Sendable (ControlError?) -> Void,
        then: @escaping @Sendable (Result<QueryRequest.Reply, ControlError>) -> Void
    ) {
        let watcher = ControlConnection.QueryWatcher(results: results, ended: ended, isLive: request.live ?? false)
        connection.query(request, watcher, then: then)
    }

    /// Ends a query: its handlers are not called any more.
    public func endQuery(_ query: UInt64) { connection.endQuery(query) }

    /// Queries the entries that match a predicate, and passes each page to `body` on the reading thread. A live query
    /// ends with its connection, or if the daemon cannot continue from its position. Cancellation of the task ends it
    /// too.
    /// - Returns: the reason of the end; nil if the query was not live and is complete.
    public func query(
        _ request: QueryRequest, _ body: @escaping @Sendable (QueryResultsNotification) -> Void
    ) async throws(ControlError) -> ControlError? {
        let end = RunningEnd<ControlError?>(of: Running { [weak connection] in connection?.endQuery($0) })
        query(
            request, results: body, ended: { end.came(.success($0)) }, then: { end.began($0.map(\.query)) })
        guard let last = await end.wait() else { throw ControlError(.cancelled, "cancelled") }
        return try last.get()
    }

    /// The entries at or below a target that match a predicate, in the order of their paths.
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
    /// The results of a query that is not live, for a caller without a task.
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

/// The results of a query that is not live, during their arrival.
private final class Gathered: Sendable {
    /// Guards only the results.
    private let results = Mutex(QueryResults())
    func take(_ piece: QueryResultsNotification) { _ = results.withLock { $0.take(piece) } }
    var items: [QueryItem] { results.withLock { $0.items } }
}
