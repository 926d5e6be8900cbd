// A program that shows or edits an item: it is asked before others access it, and told when it has it back.

import ControlProtocol
import Synchronization

/// What a presenter does when it is asked. Messages come one after the other, each in a task of its own; what a handler
/// claims meanwhile is known to be claimed in it.
public protocol ItemPresenter: Sendable {
    /// Leave the item alone from now on, until ``reacquire(claim:)``.
    func relinquish(toWriter: Bool, claim: UInt64) async
    /// The item is the presenter's again, whatever became of the claim.
    func reacquire(claim: UInt64) async
    /// Write what has not been written yet. What is thrown fails the claim.
    func save(claim: UInt64) async throws
    /// Make the deletion possible: close the item. What is thrown keeps the item.
    /// - Parameter path: what is to be deleted in the package or directory that is presented; nil for the item itself.
    func accommodateDeletion(of path: Path?, claim: UInt64) async throws
    /// No answer came in time, and others went on: what is shown may be old.
    func wasRevoked() async
}

extension ItemPresenter {
    public func relinquish(toWriter: Bool, claim: UInt64) async {}
    public func reacquire(claim: UInt64) async {}
    public func save(claim: UInt64) async throws {}
    public func accommodateDeletion(of path: Path?, claim: UInt64) async throws {}
    public func wasRevoked() async {}
}

/// An item that is presented, until ``withdraw()`` or the end of the connection.
public final class Presentation: Sendable {
    let id: UInt64
    /// What claims for it are made with.
    public let purpose: String
    /// The last change recorded before: who watches from here misses nothing.
    public let sequence: UInt64
    private let connection: ControlConnection

    init(_ reply: PresentRequest.Reply, _ connection: ControlConnection) {
        id = reply.presenter
        purpose = reply.purpose
        sequence = reply.sequence
        self.connection = connection
    }

    /// The item is here now; nil while it is nowhere.
    public func move(to path: Path?) async throws(ControlError) {
        _ = try await connection.call(PlacePresenterRequest(presenter: id, path: path))
    }

    /// The item is presented no more: nothing is asked after this.
    public func withdraw() async {
        connection.withdraw(id)
        _ = try? await connection.call(WithdrawRequest(presenter: id))
    }
}

extension VersionsClient {
    /// Presents an item from now on.
    /// - Parameters:
    ///   - path: relative to the container's root; nil for an item that is to be made.
    ///   - accommodatesSubitems: whether a presenter of a directory is asked before something in it is deleted.
    public func present(
        _ path: Path?, accommodatesSubitems: Bool = false, _ presenter: some ItemPresenter
    ) async throws(ControlError) -> Presentation {
        let connection = connection
        let reply = try await connection.present(
            PresentRequest(path: path, accommodatesSubitems: accommodatesSubitems), PresenterInbox(presenter, connection))
        return Presentation(reply, connection)
    }
}

/// The messages of one presenter, handled in their order.
final class PresenterInbox: Sendable {
    /// A message, and what is done with the answer to it.
    struct Message: Sendable {
        var answer: @Sendable (Result<Void, ControlError>) -> Void
        var handle: @Sendable (any ItemPresenter) async throws -> Void
    }

    private let continuation: AsyncStream<Message>.Continuation

    /// - Parameter connection: not kept: the inbox ends with it.
    init(_ presenter: some ItemPresenter, _ connection: ControlConnection) {
        let (messages, continuation) = AsyncStream.makeStream(of: Message.self)
        self.continuation = continuation
        Task {
            for await message in messages {
                do {
                    try await message.handle(presenter)
                    message.answer(.success(()))
                } catch let error as ControlError {
                    message.answer(.failure(error))
                } catch {
                    message.answer(.failure(ControlError(.failed, "\(error)")))
                }
            }
        }
    }

    func put(_ message: Message) { continuation.yield(message) }
    func end() { continuation.finish() }
}
