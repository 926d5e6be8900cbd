// A presenter whose messages run in tasks: questions do not wait for notifications.

import ControlProtocol

/// A presenter's handlers of questions and notifications.
///
/// Questions (``relinquish(toWriter:claim:)``, ``save(claim:)``, ``accommodateDeletion(of:claim:)``) come one at a
/// time, and so do notifications (``changed(_:)``, ``wasRevoked()``). A question does not wait for notifications: it
/// may come during one, and before the notification of an earlier change, for example of a move. ``reacquire(claim:)``
/// comes in turn with the questions, after the notifications of all earlier changes.
///
/// A claim made in the handler of a question counts as nested in it. A claim made in the handler of a notification
/// leads to questions for this presenter as well, unless it is made for its presentation.
public protocol ItemPresenter: Sendable {
    /// Do not use the item from now on, until ``reacquire(claim:)``.
    func relinquish(toWriter: Bool, claim: UInt64) async
    /// The claim is over, for any reason, or the daemon has ended. The item belongs to the presenter again when all its
    /// relinquished claims are over: they may overlap. If the presenter relinquishes to a later claim before this call,
    /// the call comes at the end of the later claim.
    func reacquire(claim: UInt64) async
    /// Write all unsaved changes. A thrown error fails the claim.
    func save(claim: UInt64) async throws
    /// Make the deletion possible: close the item. A thrown error keeps the item.
    /// - Parameters:
    ///   - path: the item to be deleted in the presented package or directory; nil for the presented item itself.
    ///   - claim: the claim of the deletion; for a deletion without a wait, a number that belongs to no claim.
    func accommodateDeletion(of path: Path?, claim: UInt64) async throws
    /// A change by another program, in the order of the change feed and each change once. Conflict changes of the
    /// presenter itself are included. Comes before ``reacquire(claim:)`` of the claim with the change.
    func changed(_ change: PresentedChange) async
    /// The presenter has not answered in time, and other programs continued; or the change feed no longer goes back to
    /// the last reported change. The presenter may show old content.
    func wasRevoked() async
}

extension ItemPresenter {
    public func relinquish(toWriter: Bool, claim: UInt64) async {}
    public func reacquire(claim: UInt64) async {}
    public func save(claim: UInt64) async throws {}
    public func accommodateDeletion(of path: Path?, claim: UInt64) async throws {}
    public func changed(_ change: PresentedChange) async {}
    public func wasRevoked() async {}

    /// Handles a question.
    func handle(_ question: PresenterMessage.Content) async throws {
        switch question {
        case .relinquish(let toWriter, let claim): await relinquish(toWriter: toWriter, claim: claim)
        case .save(let claim): try await save(claim: claim)
        case .accommodateDeletion(let path, let claim): try await accommodateDeletion(of: path, claim: claim)
        case .reacquire, .changes, .revoked: break
        }
    }
}
