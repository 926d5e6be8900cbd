// The messages of one presenter of the client library, on their way to its handlers.

import ControlProtocol
import Synchronization

/// The messages of one presenter: one task handles questions in their order, another one news, so that no answer waits
/// for news.
///
/// The end of a claim is handled by the task of the questions, so that a presenter never takes its item back and lets it
/// go at the same time. It gets there when the news before it has been handled, so it may come behind a later question:
/// what becomes of it then says ``Relinquished``.
struct PresenterInbox: Sendable {
    /// Makes the sink once the presenter's number is known, which what it claims meanwhile names.
    let sink: @Sendable (UInt64) -> PresenterSink

    init(_ presenter: some ItemPresenter, _ arbiter: CoordinationContext.Arbiter) {
        sink = { number in
            let handling = MessageHandling(presenter)
            let context = CoordinationContext().handling(number, of: arbiter)
            // On Linux tasks of this priority have threads of their own, which handlers of news that block cannot use up.
            Task(priority: .userInitiated) {
                await CoordinationContext.$current.withValue(context) { await handling.handleQuestions() }
            }
            // What is claimed in there no answer waits for.
            Task { await CoordinationContext.$current.withValue(CoordinationContext()) { await handling.handleNews() } }
            return PresenterSink(take: { handling.take($0) }, ended: { handling.end($0) })
        }
    }
}

/// What the two tasks of a presenter have in common. Thread-safe.
private final class MessageHandling: Sendable {
    /// What is done in the order of the questions.
    private enum Turn: Sendable {
        case question(PresenterMessage)
        case end(claim: UInt64, time: UInt64)
    }

    /// What is done in the order of the news.
    private enum News: Sendable {
        case told(PresenterMessage.Content)
        case end(claim: UInt64, time: UInt64)
    }

    private struct State {
        var relinquished = Relinquished<UInt64, UInt64>()
        /// How much news there is that has not been handled.
        var newsCount = 0
    }

    private let presenter: any ItemPresenter
    /// Guards alone how far the two have come.
    private let state = Mutex(State())
    private let (turns, nextTurn) = AsyncStream.makeStream(of: Turn.self)
    private let (news, nextNews) = AsyncStream.makeStream(of: News.self)

    init(_ presenter: some ItemPresenter) { self.presenter = presenter }

    /// Called for one message after the other.
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

    /// Nothing comes any more. If that is not because the presenter has withdrawn, nobody will say when the claims are
    /// over that it let its item go for: they ended with the connection.
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
        if case .relinquish(_, let claim) = question { state.withLock { $0.relinquished.letsGo(claim) } }
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
