// The arbiter of items: the daemon of a container, or this process for items outside of containers.

import ControlProtocol
import Foundation
import VersionsClient

/// A requested claim.
struct ClaimWanted: Sendable {
    var accesses: [AccessRequest]
    /// 32 hex digits.
    var purpose: String
    /// The number of the claiming presenter with the same arbiter.
    var presenter: UInt64?
    var isPreparation = false
    /// The context of the caller's work while it waits.
    var context: CoordinationContext
    var heldUp: (@Sendable (HeldUpNotification) -> Void)?
}

/// A claim before or after its request.
protocol PendingClaim: Sendable {
    /// Sends the request. `then` is called once, on the thread that receives the answer, and returns soon.
    func start(then: @escaping @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void)
    /// Withdraws the claim. Unless it has just been granted, its answer is `cancelled`.
    func cancel()
}

/// A presenter's registration.
struct PresenterWanted: Sendable {
    var path: Path?
    /// 32 hex digits.
    var purpose: String
    /// The last change that the presenter saw when its item was at `path`; nil: changes from now on.
    var after: UInt64?
    /// Makes the receiver of its messages from its number, before the first message.
    var inbox: @Sendable (UInt64) -> PresenterSink
}

/// A registered presenter.
struct KnownPresenter: Sendable {
    var number: UInt64
    /// The last change before the registration; 0 where changes have no numbers.
    var sequence: UInt64
}

/// Grants claims and keeps presenters.
protocol Arbitration: AnyObject, Sendable {
    /// The arbiter of the numbers of its claims and presenters.
    var arbiter: CoordinationContext.Arbiter { get }
    /// A caller that claims items of several arbiters asks them in this order, so that no two callers wait for one
    /// another.
    var rank: String { get }
    /// The place of an arbiter's path for this process; nil if this process cannot see it.
    func url(of path: Path, isDirectory: Bool) -> URL?
    func claim(_ wanted: ClaimWanted) -> any PendingClaim
    func release(_ claim: UInt64)
    /// `then` is called like a claim's.
    func present(_ wanted: PresenterWanted, then: @escaping @Sendable (Result<KnownPresenter, ControlError>) -> Void)
    /// Reports the present place of the presenter's item.
    func place(_ presenter: UInt64, at path: Path?, then: @escaping @Sendable () -> Void)
    /// Removes a presenter: it gets no questions after this. A presenter whose registration is still running is not
    /// known yet.
    func withdraw(_ presenter: UInt64)
    /// Reports a move that a program has made.
    func moved(_ old: Path, to new: Path, by purpose: String)
}

/// An item's place in the terms of its arbiter.
struct Place: Sendable {
    var arbitration: any Arbitration
    var path: Path
}
