// Whoever coordinates items: the daemon of a container, or this process for what lies in none.

import ControlProtocol
import Foundation
import VersionsClient

/// A claim as it is asked for.
struct ClaimWanted: Sendable {
    var accesses: [AccessRequest]
    /// 32 hex digits.
    var purpose: String
    /// The presenter that it is made for, by its number with the same arbiter.
    var presenter: UInt64?
    var isPreparation = false
    /// What its caller does meanwhile.
    var context: CoordinationContext
    var heldUp: (@Sendable (HeldUpNotification) -> Void)?
}

/// A claim that is about to be asked for, or has been.
protocol PendingClaim: Sendable {
    /// Asks for it. `then` is called once, on whatever thread brings the answer, and returns soon.
    func start(then: @escaping @Sendable (Result<ClaimRequest.Reply, ControlError>) -> Void)
    /// It is not wanted any more; unless it has just been granted, it is answered `cancelled`.
    func cancel()
}

/// A presenter as it is registered.
struct PresenterWanted: Sendable {
    var path: Path?
    /// 32 hex digits.
    var purpose: String
    /// The last change that it has seen, when its item was at `path`; nil: from now on.
    var after: UInt64?
    /// Makes what takes its messages, given its number, before the first of them.
    var inbox: @Sendable (UInt64) -> PresenterSink
}

/// A presenter that the arbiter knows by now.
struct KnownPresenter: Sendable {
    var number: UInt64
    /// The last change before; 0 where nobody counts.
    var sequence: UInt64
}

/// Grants claims and knows presenters.
protocol Arbitration: AnyObject, Sendable {
    /// Whose numbers those of its claims and presenters are.
    var arbiter: CoordinationContext.Arbiter { get }
    /// Who claims items of several arbiters takes them in this order, so that no two wait for one another.
    var rank: String { get }
    /// Where a path of its is for this process; nil if that cannot be seen from here.
    func url(of path: Path, isDirectory: Bool) -> URL?
    func claim(_ wanted: ClaimWanted) -> any PendingClaim
    func release(_ claim: UInt64)
    /// `then` is called as that of a claim is.
    func present(_ wanted: PresenterWanted, then: @escaping @Sendable (Result<KnownPresenter, ControlError>) -> Void)
    /// The presenter's item is here now.
    func place(_ presenter: UInt64, at path: Path?, then: @escaping @Sendable () -> Void)
    /// Nothing is asked of the presenter after this. One that is still being registered is not known yet.
    func withdraw(_ presenter: UInt64)
    /// Something was moved by a program that says so.
    func moved(_ old: Path, to new: Path, by purpose: String)
}

/// Where an item is, as whoever coordinates it names it.
struct Place: Sendable {
    var arbitration: any Arbitration
    var path: Path
}
