// A connection's part in coordination: its claims, its presenters, and early messages for them.

import ControlProtocol
import Coordination
import NIOCore
import VersionModel

/// The state of a connection's claims and presenters. Confined to the event loop.
struct Participation {
    /// A claim without an answer yet.
    struct Waiting {
        var request: RequestID
        var key: UInt64?
        var purpose: Purpose
        /// The accesses in the client's own words.
        var accesses: [AccessRequest] = []
    }

    let connection: ConnectionID
    private(set) var waiting: [ClaimID: Waiting] = [:]
    private var keys: [UInt64: ClaimID] = [:]
    /// Granted claims.
    var held: Set<ClaimID> = []
    /// The presenters that the client knows.
    var presenters: [PresenterID: PresenterFeed] = [:]
    /// The number of presenters in the making.
    var begunPresenters = 0
    /// Messages for presenters whose number is still on its way to the client.
    var early: [PresenterID: [CoordinationMessage]] = [:]

    var claimCount: Int { waiting.count + held.count }

    init(connection: ConnectionID) { self.connection = connection }

    mutating func add(_ id: ClaimID, _ claim: Waiting) {
        waiting[id] = claim
        if let key = claim.key { keys[key] = id }
    }

    /// Notes the end of a registration. With the last one, no message is early any more.
    mutating func presenterHasBegun() {
        begunPresenters -= 1
        if begunPresenters == 0 { early = [:] }
    }

    /// Takes a claim that gets its answer now.
    mutating func take(_ id: ClaimID) -> Waiting? {
        guard let claim = waiting.removeValue(forKey: id) else { return nil }
        if let key = claim.key, keys[key] == id { keys[key] = nil }
        return claim
    }

    func claim(of key: UInt64) -> ClaimID? { keys[key] }
}

/// Passes messages for a client to its connection's event loop, in order.
final class Participant: CoordinationClient {
    private let loop: any EventLoop
    private let handler: NIOLoopBound<ConnectionHandler>

    init(_ handler: ConnectionHandler, on loop: any EventLoop) {
        self.loop = loop
        self.handler = NIOLoopBound(handler, eventLoop: loop)
    }

    func tell(_ message: CoordinationMessage) {
        loop.execute { [handler] in handler.value.told(message) }
    }
}
