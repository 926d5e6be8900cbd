// What a daemon offers clients that take part in coordination.

import ControlProtocol
import Coordination

/// Coordinates clients. What looks at the tree (``claim(_:as:for:of:peer:)``, ``present(_:of:peer:)``,
/// ``place(_:of:peer:)``, ``presenters(_:_:)``) and ``cancel(_:of:)`` are called on the service's threads; all others
/// on its event loop, and return at once.
public protocol CoordinationBackend: Sendable {
    /// A client takes part from now on.
    func takePart(_ client: any CoordinationClient, peer: Peer) -> ConnectionID
    /// A client is gone, and with it its claims and presenters.
    func leave(_ connection: ConnectionID)
    /// A number for a claim that is to be made.
    func newClaim() -> ClaimID
    /// Makes a claim; the client is told what becomes of it, unless this throws.
    func claim(
        _ request: ClaimRequest, as id: ClaimID, for purpose: Purpose, of connection: ConnectionID, peer: Peer
    ) throws(ControlError)
    /// False if it is none of the client's.
    func release(_ claim: ClaimID, of connection: ConnectionID) -> Bool
    func cancel(_ claim: ClaimID, of connection: ConnectionID)
    /// The presenter, its purpose, and the last change recorded before.
    func present(
        _ request: PresentRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> (PresenterID, Purpose, sequence: UInt64)
    /// Throws `notFound` if the presenter is none of the client's.
    func place(_ request: PlacePresenterRequest, of connection: ConnectionID, peer: Peer) throws(ControlError)
    /// False if it is none of the client's.
    func withdraw(_ presenter: PresenterID, of connection: ConnectionID) -> Bool
    func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID)
    /// The client has shown that it runs.
    func alive(_ connection: ConnectionID)
    /// The presenters that a caller may know of.
    func presenters(_ request: PresentersRequest, _ call: ControlCall) throws(ControlError) -> [PresenterInfo]
}
