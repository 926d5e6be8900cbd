// The daemon's services for clients that take part in coordination.

import ControlProtocol
import Coordination
import VersionModel

/// Coordinates clients. The service calls the methods that read the tree (``claim(_:as:for:of:peer:)``,
/// ``present(_:of:peer:)``, ``place(_:of:peer:)``, ``changes(after:limit:for:peer:)``, ``mayAsk(_:of:peer:)``,
/// ``mayRefuse(_:of:peer:)``, ``disturbance(of:at:peer:)``, ``presenters(_:_:)``) and ``cancel(_:of:)`` on its threads.
/// It calls all other methods on its event loop; they must return at once.
public protocol CoordinationBackend: Sendable {
    /// Registers a client.
    func takePart(_ client: any CoordinationClient, peer: Peer) -> ConnectionID
    /// Removes a client with its claims and presenters.
    func leave(_ connection: ConnectionID)
    /// A number for a new claim.
    func newClaim() -> ClaimID
    /// Makes a claim. The client hears of the outcome, unless this throws.
    func claim(
        _ request: ClaimRequest, as id: ClaimID, for purpose: Purpose, of connection: ConnectionID, peer: Peer
    ) throws(ControlError)
    /// False if the client has no such claim.
    func release(_ claim: ClaimID, of connection: ConnectionID) -> Bool
    func cancel(_ claim: ClaimID, of connection: ConnectionID)
    func present(
        _ request: PresentRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> Presented
    /// Sets the present place of the presenter's item. Throws `notFound` if the client has no such presenter.
    func place(
        _ request: PlacePresenterRequest, of connection: ConnectionID, peer: Peer
    ) throws(ControlError) -> (path: TreePath?, item: ItemID?)
    /// The changes after `sequence` for a presenter of the peer; reads at most `limit` rows. Throws `notFound` if the
    /// feed no longer goes back so far.
    func changes(
        after sequence: UInt64, limit: Int, for item: PresentedItem, peer: Peer
    ) throws(ControlError) -> PresentedPage
    /// False if the client has no such presenter.
    func withdraw(_ presenter: PresenterID, of connection: ConnectionID) -> Bool
    func answer(_ question: QuestionID, _ answer: Answer, of connection: ConnectionID)
    /// Whether a presenter of the peer may get this question now: its item may have moved to a place that the peer may
    /// not read.
    func mayAsk(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool
    /// Whether the peer's refusal counts: it may write the item of the question.
    func mayRefuse(_ question: Question, of presenter: PresenterID, peer: Peer) -> Bool
    /// The peer's rights on a changed item under its claim: whether it may know the name, and whether it may keep the
    /// claim.
    func disturbance(of claim: ClaimID, at path: TreePath, peer: Peer) -> (mayKnow: Bool, mayHold: Bool)
    /// Notes that the client runs.
    func alive(_ connection: ConnectionID)
    /// The presenters that a caller may know.
    func presenters(_ request: PresentersRequest, _ call: ControlCall) throws(ControlError) -> [PresenterInfo]
}

/// A registered presenter.
public struct Presented: Sendable {
    public var presenter: PresenterID
    public var purpose: Purpose
    /// The last change before the registration; the presenter hears of later ones.
    public var sequence: UInt64
    /// Its item in the change feed.
    public var item: PresentedItem

    public init(presenter: PresenterID, purpose: Purpose, sequence: UInt64, item: PresentedItem) {
        self.presenter = presenter
        self.purpose = purpose
        self.sequence = sequence
        self.item = item
    }
}

/// A page of the change feed for a presenter.
public struct PresentedPage: Sendable {
    /// In order.
    public var changes: [PresentedChange]
    /// The last row that was read; the next page starts after it.
    public var upTo: UInt64
    /// The presenter's item after this page.
    public var item: PresentedItem

    public init(changes: [PresentedChange], upTo: UInt64, item: PresentedItem) {
        self.changes = changes
        self.upTo = upTo
        self.item = item
    }
}
