// The messages of one presenter of the client library, on the way to its handlers.

import ControlProtocol
import Synchronization

/// The messages of one presenter: one task handles questions in order, another handles notifications, so that no answer
/// waits for a notification.
///
/// The task of the questions also handles the end of a claim, so that a presenter never takes its item back and
/// relinquishes it at the same time. It gets the end after the earlier notifications, possibly after a later question.
/// ``Relinquished`` decides what follows then.
struct PresenterInbox: Sendable {
    /// Makes the sink from the presenter's number, which its nested claims name.
    let sink: @Sendable (UInt64) -> PresenterSink

    init(_ presenter: some ItemPresenter, _ arbiter: CoordinationContext.Arbiter) {
        sink = { number in
            let handling = MessageHandling(presenter)
            let context = CoordinationContext().handling(number, of: arbiter)
            // On Linux tasks of this priority have threads of their own, which blocking notification handlers cannot
            // exhaust.
            Task(priority: .userInitiated) {
                await CoordinationContext.$current.withValue(context) { await handling.handleQuestions() }
            }
            // No answer waits for claims that are made in there.
            Task { await CoordinationContext.$current.withValue(CoordinationContext()) { await handling.handleNews() } }
            return PresenterSink(take: { handling.take($0) }, ended: { handling.end($0) })
        }
    }
}

/// The shared state of a presenter's two tasks. Thread-safe.
private final class MessageHandling: Sendable {
    /// Work in the order of the questions.
    private enum Turn: Sendable {
        case question(PresenterMessage)
        case end(claim: UInt64, time: UInt64)
    }

    /// Work in the order of the notifications.
    private enum News: Sendable {
        case told(PresenterMessage.Content)
        case end(claim: UInt64, time: UInt64)
    }

    private struct State {
        var relinquished = Relinquished<UInt64, UInt64>()
        /// The number of unhandled notifications.
        var newsCount = 0
    }

    private let presenter: any ItemPresenter
    /// Guards only the progress of the two tasks.
    private let state = Mutex(State())
    private let (turns, nextTurn) = AsyncStream.makeStream(of: Turn.self)
    private let (news, nextNews) = AsyncStream.makeStream(of: News.self)

    init(_ presenter: some ItemPresenter) { self.presenter = presenter }

    /// Takes one message at a time.
    func take(_ message: PresenterMessage) {
        switch message.content {
        case .relinquish(_, let claim):
            state.withLock { $0.relinquished.asked(claim) }
            nextTurn.yield(.question(message))
        case .save, .accommodateDeletion: nextTurn.yield(.question(message))
        case .reacquire(let claim):
            let (time, isNext) = state.withLock { state in
                defer { if state.newsCount > 0 { state.newsCount += 1 } }
                return (state.relinquished.isOver(claim), state.newsCount == 0)
            }
            if isNext {
                nextTurn.yield(.end(claim: claim, time: time))
            } else {
                nextNews.yield(.end(claim: claim, time: time))
            }
        case .changes, .revoked:
            state.withLock { $0.newsCount += 1 }
            nextNews.yield(.told(message.content))
        }
    }

    /// Handles the end of the messages. If the presenter has not withdrawn, the connection has ended, and with it the
    /// claims: no message will report their end.
    func end(_ reason: ControlError) {
        let claims = reason.code == .cancelled ? [] : state.withLock { $0.relinquished.claims }
        for claim in claims { take(PresenterMessage(.reacquire(claim: claim)) { _ in }) }
        nextNews.finish()
    }

    func handleQuestions() async {
        for await turn in turns {
            switch turn {
            case .question(let message): message.answer(await handle(message.content))
            case .end(let claim, let time):
                for claim in state.withLock({ $0.relinquished.due(claim, from: time) }) {
                    await presenter.reacquire(claim: claim)
                }
            }
        }
        for claim in state.withLock({ $0.relinquished.rest() }) { await presenter.reacquire(claim: claim) }
    }

    private func handle(_ question: PresenterMessage.Content) async -> Result<Void, ControlError> {
        if case .relinquish(_, let claim) = question { state.withLock { $0.relinquished.relinquish(to: claim) } }
        do {
            try await presenter.handle(question)
            return .success(())
        } catch let error as ControlError {
            return .failure(error)
        } catch {
            return .failure(ControlError(.failed, "\(error)"))
        }
    }

    func handleNews() async {
        for await piece in news {
            switch piece {
            case .told(.changes(let changes, _)): for change in changes { await presenter.changed(change) }
            case .told(.revoked): await presenter.wasRevoked()
            case .told: break
            case .end(let claim, let time): nextTurn.yield(.end(claim: claim, time: time))
            }
            state.withLock { $0.newsCount -= 1 }
        }
        nextTurn.finish()
    }
}
