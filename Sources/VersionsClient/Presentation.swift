// A presented item: the daemon asks the program before other accesses to it, and tells the program when they are over.

import ControlProtocol
import Synchronization

/// A presented item, until ``withdraw()`` or the end of the connection.
public final class Presentation: Sendable {
    /// The presenter's number for the daemon.
    public let id: UInt64
    /// The purpose of claims for the presenter.
    public let purpose: String
    /// The last change before the presentation: a subscription from here misses no change.
    public let sequence: UInt64
    private let connection: ControlConnection

    init(_ reply: PresentRequest.Reply, _ connection: ControlConnection) {
        id = reply.presenter
        purpose = reply.purpose
        sequence = reply.sequence
        self.connection = connection
    }

    /// Sets the present place of the item; nil while it has none.
    public func move(to path: Path?) async throws(ControlError) {
        _ = try await connection.call(PlacePresenterRequest(presenter: id, path: path))
    }

    /// Sets the present place of the item; `then` is called after the daemon's answer, on the reading thread.
    public func move(to path: Path?, then: @escaping @Sendable (Result<Done, ControlError>) -> Void) {
        connection.call(PlacePresenterRequest(presenter: id, path: path), then: then)
    }

    /// Ends the presentation: no question comes after this.
    public func withdraw() async {
        connection.forget(presenter: id)
        _ = try? await connection.call(WithdrawRequest(presenter: id))
    }

    /// The same, without a wait for the answer: the daemon reads it before any later call of the connection.
    public func withdrawAndGoOn() {
        connection.forget(presenter: id)
        connection.post(WithdrawRequest(presenter: id))
    }
}

extension VersionsClient {
    /// Presents an item.
    /// - Parameters:
    ///   - path: relative to the container's root; nil for an item that does not exist yet.
    ///   - accommodatesSubitems: whether a presenter of a directory gets a question before an item in it is deleted.
    ///   - sequence: the last change that the presenter has seen, with its item at `path`; nil: from now on.
    ///   - purpose: the purpose of an earlier presentation that this one continues, or a new one from the caller.
    ///   - presenter: the handler of questions and notifications.
    public func present(
        _ path: Path?, accommodatesSubitems: Bool = false, after sequence: UInt64? = nil, purpose: String? = nil,
        _ presenter: some ItemPresenter
    ) async throws(ControlError) -> Presentation {
        let inbox = PresenterInbox(presenter, arbiter)
        let outcome = await withCheckedContinuation { continuation in
            present(
                path, accommodatesSubitems: accommodatesSubitems, after: sequence, purpose: purpose, inbox: inbox.sink
            ) { continuation.resume(returning: $0) }
        }
        return try outcome.get()
    }

    /// Presents an item whose messages go to a sink.
    /// - Parameters:
    ///   - path: relative to the container's root; nil for an item that does not exist yet.
    ///   - accommodatesSubitems: whether a presenter of a directory gets a question before an item in it is deleted.
    ///   - sequence: the last change that the presenter has seen, with its item at `path`; nil: from now on.
    ///   - purpose: the purpose of an earlier presentation that this one continues, or a new one from the caller.
    ///   - inbox: makes the sink from the presenter's number. It is in place before the first message is read.
    ///   - then: called once, on the reading thread.
    public func present(
        _ path: Path?, accommodatesSubitems: Bool = false, after sequence: UInt64? = nil, purpose: String? = nil,
        inbox: @escaping @Sendable (UInt64) -> PresenterSink,
        then: @escaping @Sendable (Result<Presentation, ControlError>) -> Void
    ) {
        let connection = connection
        let request = PresentRequest(
            path: path, accommodatesSubitems: accommodatesSubitems, after: sequence, purpose: purpose)
        connection.call(request) { result in
            if case .success(let reply) = result {
                let sink = inbox(reply.presenter)
                connection.state.withLock { $0.sinks[reply.presenter] = sink }
            }
            then(result.map { Presentation($0, connection) })
        }
    }
}

extension ControlConnection {
    /// Stops the messages of a presenter.
    func forget(presenter: UInt64) {
        let sink = state.withLock { $0.sinks.removeValue(forKey: presenter) }
        sink?.ended(ControlError(.cancelled, "the presenter has withdrawn"))
    }
}
