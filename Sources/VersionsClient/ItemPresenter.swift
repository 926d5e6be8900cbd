// A presenter whose messages are handled by a task, one after the other.

import ControlProtocol

/// What a presenter does when it is asked. Messages come one after the other; what a handler claims meanwhile is known to
/// be claimed in it.
public protocol ItemPresenter: Sendable {
    /// Leave the item alone from now on, until ``reacquire(claim:)``.
    func relinquish(toWriter: Bool, claim: UInt64) async
    /// The item is the presenter's again, whatever became of the claim.
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

    func handle(_ content: PresenterMessage.Content) async throws {
        switch content {
        case .relinquish(let toWriter, let claim): await relinquish(toWriter: toWriter, claim: claim)
        case .save(let claim): try await save(claim: claim)
        case .accommodateDeletion(let path, let claim): try await accommodateDeletion(of: path, claim: claim)
        case .reacquire(let claim): await reacquire(claim: claim)
        case .changes(let changes, _): for change in changes { await changed(change) }
        case .revoked: await wasRevoked()
        }
    }
}

/// The messages of one presenter, handled in their order by a task.
struct PresenterInbox: Sendable {
    /// Makes the sink once the presenter's number is known, which what it claims meanwhile names.
    let sink: @Sendable (UInt64) -> PresenterSink

    init(_ presenter: some ItemPresenter, _ arbiter: CoordinationContext.Arbiter) {
        sink = { number in
            let (messages, continuation) = AsyncStream.makeStream(of: PresenterMessage.self)
            let context = CoordinationContext().handling(number, of: arbiter)
            Task {
                for await message in messages {
                    do {
                        try await CoordinationContext.$current.withValue(context) {
                            try await presenter.handle(message.content)
                        }
                        message.answer(.success(()))
                    } catch let error as ControlError {
                        message.answer(.failure(error))
                    } catch {
                        message.answer(.failure(ControlError(.failed, "\(error)")))
                    }
                }
            }
            return PresenterSink(take: { continuation.yield($0) }, ended: { _ in continuation.finish() })
        }
    }
}
