// Queries of a backend without a container: pieces that a test lays out.

import ControlProtocol
import ControlService
import Synchronization
import VersionModel

/// The query that ``FakeBackend`` runs; pieces beyond those laid out are empty ends.
final class FakeQuery: RunningQuery {
    struct State: Sendable {
        var pages: [QueryPage] = []
        var asked = 0
        var requests: [QueryRequest] = []
        var refusal: ControlError?
        var failure: ControlError?
    }

    let state = Mutex(State())
    var began: UInt64 { 7 }

    func next() throws(ControlError) -> QueryPage {
        let result = state.withLock { state -> Result<QueryPage, ControlError> in
            state.asked += 1
            if !state.pages.isEmpty { return .success(state.pages.removeFirst()) }
            return state.failure.map { .failure($0) } ?? .success(QueryPage(isAtEnd: true))
        }
        return try result.get()
    }
}

extension FakeBackend: QueryBackend {
    func query(_ request: QueryRequest, peer: Peer) throws(ControlError) -> any RunningQuery {
        let refusal = fakeQuery.state.withLock { state in
            state.requests.append(request)
            return state.refusal
        }
        if let refusal { throw refusal }
        return fakeQuery
    }

    /// More of the query has come about.
    func tell(_ pages: [QueryPage]) {
        fakeQuery.state.withLock { $0.pages += pages }
        let observers = state.withLock { Array($0.observers.values) }
        observers.forEach { $0() }
    }
}
