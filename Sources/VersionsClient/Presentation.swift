// An item that a program shows or edits: the daemon asks it before others access it, and tells it when it has it back.

import ControlProtocol
import Synchronization

/// An item that is presented, until ``withdraw()`` or the end of the connection.
public final class Presentation: Sendable {
    /// What the daemon knows the presenter by.
    public let id: UInt64
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

    /// The item is here now; `then` is called once that is known, on the reading thread.
    public func move(to path: Path?, then: @escaping @Sendable (Result<Done, ControlError>) -> Void) {
        connection.call(PlacePresenterRequest(presenter: id, path: path), then: then)
    }

    /// The item is presented no more: nothing is asked after this.
    public func withdraw() async {
        connection.forget(presenter: id)
        _ = try? await connection.call(WithdrawRequest(presenter: id))
    }

    /// The same, without waiting until the daemon knows: it hears of it before any later call of the connection.
    public func withdrawAndGoOn() {
        connection.forget(presenter: id)
        connection.post(WithdrawRequest(presenter: id))
    }
}

extension VersionsClient {
    /// Presents an item from now on.
    /// - Parameters:
    ///   - path: relative to the container's root; nil for an item that is to be made.
    ///   - accommodatesSubitems: whether a presenter of a directory is asked before something in it is deleted.
    ///   - sequence: the last change that the presenter has seen, when `path` was where its item was; nil: from now on.
    ///   - purpose: that of a presentation that this one goes on for, or one of the caller's making.
    ///   - presenter: who is asked and told.
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

    /// Presents an item from now on; its messages go to a sink.
    /// - Parameters:
    ///   - path: relative to the container's root; nil for an item that is to be made.
    ///   - accommodatesSubitems: whether a presenter of a directory is asked before something in it is deleted.
    ///   - sequence: the last change that the presenter has seen, when `path` was where its item was; nil: from now on.
    ///   - purpose: that of a presentation that this one goes on for, or one of the caller's making.
    ///   - inbox: makes the sink for the presenter's number. It is in place before the first message is read.
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
    /// Nothing more is handled for a presenter.
    func forget(presenter: UInt64) {
        let sink = state.withLock { $0.sinks.removeValue(forKey: presenter) }
        sink?.ended(ControlError(.cancelled, "the presenter has withdrawn"))
    }
}
