// What a daemon offers clients that take part in coordination.

import ControlProtocol
import Coordination
import VersionModel

/// Coordinates clients. What looks at the tree (``claim(_:as:for:of:peer:)``, ``present(_:of:peer:)``,
/// ``place(_:of:peer:)``, ``changes(after:limit:for:peer:)``, ``mayAsk(_:of:peer:)``, ``mayRefuse(_:of:peer:)``,
/// ``disturbance(of:at:peer:)``, ``presenters(_:_:)``) and ``cancel(_:of:)`` are called on the service's threads; all others
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
    func present(
        _ request: PresentRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> Presented
    /// Where the presenter's item is now. Throws `notFound` if the presenter is none of the client's.
    func place(
        _ request: PlacePresenterRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> (path: TreePath?, item: ItemID?)
    /// What changed behind `sequence` that a presenter of the peer hears of, at most `limit` rows looked at. Throws
    /// `notFound` if the feed no longer reaches back so far.
    func changes(
        after sequence: UInt64, limit: Int, for item: PresentedItem, peer: Peer
    ) throws(ControlError) -> PresentedPage
    /// False if it is none of the client's.
    func withdraw(_ presenter: PresenterID, of connection: ConnectionID) -> Bool
    func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID)
    /// Whether a presenter of the peer may be asked this now: its item may have come where the peer may not look.
    func mayAsk(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool
    /// Whether the peer's refusal counts: it could write what it is asked about.
    func mayRefuse(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool
    /// What the peer may know of something that was done to what it has claimed: where, if it may know the name, and
    /// whether it may still hold the claim.
    func disturbance(of claim: ClaimID, at path: TreePath, peer: Peer) -> (mayKnow: Bool, mayHold: Bool)
    /// The client has shown that it runs.
    func alive(_ connection: ConnectionID)
    /// The presenters that a caller may know of.
    func presenters(_ request: PresentersRequest, _ call: ControlCall) throws(ControlError) -> [PresenterInfo]
}

/// A presenter that has been made.
public struct Presented: Sendable {
    public var presenter: PresenterID
    public var purpose: Purpose
    /// The last change recorded before; it hears of those behind it.
    public var sequence: UInt64
    /// Its place in the change feed.
    public var item: PresentedItem

    public init(presenter: PresenterID, purpose: Purpose, sequence: UInt64, item: PresentedItem) {
        self.presenter = presenter
        self.purpose = purpose
        self.sequence = sequence
        self.item = item
    }
}

/// A piece of the change feed for a presenter.
public struct PresentedPage: Sendable {
    /// In order.
    public var changes: [PresentedChange]
    /// The last row looked at: where the next piece begins.
    public var upTo: UInt64
    /// The presenter's place behind it.
    public var item: PresentedItem

    public init(changes: [PresentedChange], upTo: UInt64, item: PresentedItem) {
        self.changes = changes
        self.upTo = upTo
        self.item = item
    }
}
