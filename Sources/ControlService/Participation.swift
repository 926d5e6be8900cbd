// A connection's part in coordination: its claims, its presenters, and what they are told too early.

import ControlProtocol
import Coordination
import NIOCore
import VersionModel

/// What a connection has to remember of its claims and presenters; confined to the event loop.
struct Participation {
    /// A claim that has not been answered.
    struct Waiting {
        var request: RequestID
        var key: UInt64?
        var purpose: Purpose
        /// What the client has named itself.
        var accesses: [AccessRequest] = []
    }

    let connection: ConnectionID
    private(set) var waiting: [ClaimID: Waiting] = [:]
    private var keys: [UInt64: ClaimID] = [:]
    /// Claims that are granted.
    var held: Set<ClaimID> = []
    /// The presenters that the client knows of.
    var presenters: [PresenterID: PresenterFeed] = [:]
    /// Presenters that are being made.
    var begunPresenters = 0
    /// Messages for presenters whose number is on its way to the client.
    var early: [PresenterID: [CoordinationMessage]] = [:]

    var claimCount: Int { waiting.count + held.count }

    init(connection: ConnectionID) { self.connection = connection }

    mutating func add(_ id: ClaimID, _ claim: Waiting) {
        waiting[id] = claim
        if let key = claim.key { keys[key] = id }
    }

    /// A presenter was made, or could not be. With the last of them, nothing is early any more.
    mutating func presenterHasBegun() {
        begunPresenters -= 1
        if begunPresenters == 0 { early = [:] }
    }

    /// A claim is answered now.
    mutating func take(_ id: ClaimID) -> Waiting? {
        guard let claim = waiting.removeValue(forKey: id) else { return nil }
        if let key = claim.key, keys[key] == id { keys[key] = nil }
        return claim
    }

    func claim(of key: UInt64) -> ClaimID? { keys[key] }
}

/// Takes what a client is to be told to its connection's event loop, in order.
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
