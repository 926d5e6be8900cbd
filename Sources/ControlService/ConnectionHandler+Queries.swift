// Queries of one connection: sends pages as fast as the client reads, and continues after changes.

import ControlProtocol
import NIOCore

/// A query of a connection, and whether its next page is due. Confined to the event loop.
struct QueryPlace {
    let query: any RunningQuery
    let isLive: Bool
    private var isFetching = false
    /// Whether there may be more than the last page had.
    private var isStale = true
    /// Whether pages of the current step have been sent.
    var isWithinStep = true

    init(_ query: any RunningQuery, isLive: Bool) {
        self.query = query
        self.isLive = isLive
    }

    mutating func changesHappened() { isStale = true }

    /// Whether to fetch a page now; if so, the fetch counts as begun.
    mutating func beginFetch(isWritable: Bool) -> Bool {
        guard isStale, isWritable, !isFetching else { return false }
        isFetching = true
        isStale = false
        return true
    }

    mutating func took(_ page: QueryPage) {
        isFetching = false
        if !page.isAtEnd { isStale = true }
        isWithinStep = page.sequence == nil
    }
}

extension ConnectionHandler {
    /// Serves a method of queries.
    /// - Returns: false for other methods.
    func query(_ method: String, _ line: IncomingLine, _ id: RequestID) -> Bool {
        do throws(ControlError) {
            switch method {
            case QueryRequest.method: try beginQuery(line.parameters(QueryRequest.self), id)
            case EndQueryRequest.method:
                let request = try line.parameters(EndQueryRequest.self)
                guard queries.removeValue(forKey: request.query) != nil else {
                    throw ControlError(.notFound, "no query \(request.query) of this connection")
                }
                write(try Wire.line(replying: Done(), to: id))
            default: return false
            }
        } catch {
            write(Wire.line(failing: error, to: id))
        }
        return true
    }

    private func beginQuery(_ request: QueryRequest, _ id: RequestID) throws(ControlError) {
        guard let backend = shared.backend as? any QueryBackend, let peer else {
            throw ControlError(.unknownMethod, "no queries here")
        }
        guard queries.count < shared.limits.queryCountPerConnection else {
            throw ControlError(.busy, "too many queries of this connection", advice: "end some")
        }
        let isLive = request.live ?? false
        guard isLive || request.after == nil else {
            throw ControlError(.invalidParameters, "after: for live queries alone")
        }
        let number = nextQuery
        nextQuery += 1
        let parcel = Parcel<any RunningQuery>()
        run(on: .feeds, id) { _ in
            do throws(ControlError) {
                let query = try backend.query(request, peer: peer)
                parcel.put(query)
                return try Wire.line(replying: QueryRequest.Reply(query: number, sequence: query.began), to: id)
            } catch {
                return Wire.line(failing: error, to: id)
            }
        } then: { handler in
            guard let query = parcel.take() else { return }
            handler.queries[number] = QueryPlace(query, isLive: isLive)
            handler.pumpQuery(number)
        }
    }

    /// Continues after the client has read.
    func pumpQueries() { queries.keys.sorted().forEach(pumpQuery) }

    /// Notes that the backend has recorded changes.
    func changesHappenedForQueries() {
        for number in queries.keys.sorted() {
            queries[number]?.changesHappened()
            pumpQuery(number)
        }
    }

    /// Fetches a query's next page after the client has read the last one. Nothing is buffered in between.
    private func pumpQuery(_ number: UInt64) {
        guard let context, var place = queries[number] else { return }
        let mayFetch = place.beginFetch(isWritable: context.channel.isWritable)
        queries[number] = place
        guard mayFetch else { return }
        let loop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: loop)
        shared.run(on: .feeds, from: source) { [query = place.query] in
            let page = Result { () throws(ControlError) in try query.next() }
            loop.execute { handler.value.fetched(page, forQuery: number) }
        }
    }

    private func fetched(_ page: Result<QueryPage, ControlError>, forQuery number: UInt64) {
        guard var place = queries[number] else { return }
        switch page {
        case .failure(let error):
            queries[number] = nil
            notify(QueryEndedNotification(query: number, reason: error.message))
        case .success(let page):
            // A step with sent pages needs an end, even if its last page is empty.
            if !page.isEmpty || page.sequence != nil && place.isWithinStep {
                notify(QueryResultsNotification(
                    query: number, items: page.items, gone: page.gone, unmatched: page.unmatched,
                    sequence: page.sequence, gathered: page.isGathered))
            }
            place.took(page)
            queries[number] = page.isGathered && !place.isLive ? nil : place
            pumpQuery(number)
        }
        closeIfDone()
    }
}
