// A presenter whose messages are handled by tasks: what it is asked does not wait for what it is told.

import ControlProtocol

/// What a presenter does when it is asked and told.
///
/// Questions (``relinquish(toWriter:claim:)``, ``save(claim:)``, ``accommodateDeletion(of:claim:)``) come one after the
/// other, and so does news (``changed(_:)``, ``wasRevoked()``). A question does not wait for news: it may come while news is
/// being handled, and before news of what was done earlier, of a move for instance. ``reacquire(claim:)`` comes in turn
/// with the questions, behind the news of what was done until then.
///
/// What is claimed in the handler of a question is known to be claimed in it. What is claimed in one of news is asked of
/// the presenter, too, unless it is claimed for its presentation.
public protocol ItemPresenter: Sendable {
    /// Leave the item alone from now on, until ``reacquire(claim:)``.
    func relinquish(toWriter: Bool, claim: UInt64) async
    /// The claim is over, whatever became of it, or the daemon has ended. The item is the presenter's again once all are
    /// that it relinquished to: they may overlap. Who relinquishes to a later one before it could be told of this is told
    /// when that is over.
    func reacquire(claim: UInt64) async
    /// Write what has not been written yet. What is thrown fails the claim.
    func save(claim: UInt64) async throws
    /// Make the deletion possible: close the item. What is thrown keeps the item.
    /// - Parameters:
    ///   - path: what is to be deleted in the package or directory that is presented; nil for the item itself.
    ///   - claim: for which claim; of what waits for nobody a number that is no claim's.
    func accommodateDeletion(of path: Path?, claim: UInt64) async throws
    /// What somebody else did, in the order of the change feed and each thing once; of conflicts everybody's. Before
    /// ``reacquire(claim:)`` of the claim in which it was done.
    func changed(_ change: PresentedChange) async
    /// No answer came in time, and others went on, or the change feed does not reach back to what was told last: what is
    /// shown may be old.
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
