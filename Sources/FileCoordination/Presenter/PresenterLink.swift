// A registered presenter: its messages go to its queue, its answers back to whoever asked.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// Connects one presenter with the arbiter of its item. Thread-safe.
final class PresenterLink: Sendable {
    /// Held as long as it is registered; called on its queue, but for its two properties.
    nonisolated(unsafe) let presenter: any NSFilePresenter
    let identity: PresenterIdentity

    /// A claim that the presenter was asked to relinquish to.
    enum Relinquishing {
        case asked
        case done(reacquirer: (@Sendable () -> Void)?)
        /// It is over, and the presenter has not answered yet.
        case over
    }

    struct State {
        /// Who knows of it, and by what number.
        var registration: (arbitration: any Arbitration, number: UInt64)?
        /// What the presenter said last, so that it is seen when it says something else by itself.
        var url: URL?
        /// Where the arbiter has its item.
        var path: Path?
        /// The last change that it was told of, and by whom.
        var sequence: UInt64?
        var container: String?
        var relinquishings: [UInt64: Relinquishing] = [:]
        /// Questions that its queue has not come to.
        var questions: [@Sendable () -> Void] = []
        /// What it is told, where its queue would mix it up.
        var news: [@Sendable () -> Void] = []
        var isTelling = false
        var isRegistering = false
        var isRemoved = false
    }

    /// Guards what is known of the presenter. The presenter is never called under it.
    let state = Mutex(State())

    /// Whether what a presenter is being told of lies in a package that it presents.
    @TaskLocal static var isInPackage = false

    init(_ presenter: any NSFilePresenter, _ identity: PresenterIdentity) {
        self.presenter = presenter
        self.identity = identity
    }

    // MARK: Registering

    /// Makes the presenter known where its item is, and waits until it is. Without an item, or if nobody answers, this is
    /// done later.
    func register() {
        // Once at a time: a connection that is made for it has all others registered that wait for one.
        let isFirst = state.withLock { state in
            guard state.registration == nil, !state.isRemoved, !state.isRegistering else { return false }
            state.isRegistering = true
            return true
        }
        guard isFirst else { return }
        defer { state.withLock { $0.isRegistering = false } }
        guard let url = presenter.presentedItemURL, let place = try? Places.locate(url) else { return }
        let registered = Awaited<Void>()
        // Of a presenter whose daemon was gone, where its item was when it last heard of it: it hears what came then.
        let last = state.withLock { state in state.container == place.arbitration.rank ? (state.path, state.sequence) : nil }
        let path = last.map { $0.0 ?? place.path } ?? place.path
        let wanted = PresenterWanted(path: path, purpose: identity.purpose, after: last?.1) { number in
            self.state.withLock { state in
                state.registration = (place.arbitration, number)
                state.container = place.arbitration.rank
                state.url = url
                state.path = path
            }
            return self.inbox(number, place.arbitration)
        }
        place.arbitration.present(wanted) { result in
            if case .success(let sequence) = result { self.state.withLock { $0.sequence = max($0.sequence ?? 0, sequence) } }
            registered.set(())
        }
        registered.wait()
        if state.withLock({ $0.isRemoved }) { remove() }
    }

    /// The presenter is not asked any more.
    func remove() {
        let registration = state.withLock { state in
            state.isRemoved = true
            return state.registration.take()
        }
        if let registration { registration.arbitration.withdraw(registration.number) }
    }

    /// Its number with an arbiter; nil if that does not know it.
    func number(with arbitration: any Arbitration) -> UInt64? {
        state.withLock { $0.registration.flatMap { $0.arbitration === arbitration ? $0.number : nil } }
    }

    /// After an access on its behalf: its item may have come into being, or be another by now.
    func look() {
        guard state.withLock({ $0.registration != nil }) else { return register() }
        let url = presenter.presentedItemURL
        let isOther = state.withLock { state in
            defer { state.url = url }
            return state.url != url
        }
        // What it was told of in between it knows from the arbiter, which has the place already.
        guard isOther, let registration = state.withLock({ $0.registration }) else { return }
        let place = url.flatMap { try? Places.locate($0) }
        guard place.map({ $0.arbitration === registration.arbitration }) ?? true else {
            // It has gone to where another arbiter has the say.
            registration.arbitration.withdraw(registration.number)
            state.withLock { state in
                state.registration = nil
                state.sequence = nil
            }
            return register()
        }
        guard state.withLock({ $0.path != place?.path }) else { return }
        let placed = Awaited<Void>()
        registration.arbitration.place(registration.number, at: place?.path) { placed.set(()) }
        placed.wait()
        state.withLock { $0.path = place?.path }
    }

    // MARK: Messages

    private func inbox(_ number: UInt64, _ arbitration: any Arbitration) -> PresenterSink {
        PresenterSink(
            take: { [weak self] in self?.take($0, number, arbitration) },
            ended: { [weak self] in self?.ended($0) })
    }

    private func take(_ message: PresenterMessage, _ number: UInt64, _ arbitration: any Arbitration) {
        let arbiter = arbitration.arbiter
        switch message.content {
        case .relinquish(let toWriter, let claim):
            state.withLock { $0.relinquishings[claim] = .asked }
            ask(number, arbiter, message) { $0.relinquish(toWriter: toWriter, claim, $1) }
        case .save: ask(number, arbiter, message) { $0.save($1) }
        case .accommodateDeletion(let path, _):
            let url = path.flatMap { arbitration.url(of: $0, isDirectory: false) }
            ask(number, arbiter, message) { $0.accommodateDeletion(of: url, $1) }
        case .reacquire(let claim): reacquire(claim)
        case .changes(let changes, let sequence):
            for change in changes { changed(change, arbitration) }
            state.withLock { $0.sequence = max($0.sequence ?? 0, sequence) }
        case .revoked: tell { $0.hearOfDeletion() }
        }
    }

    /// Has a question handled on the presenter's queue, by whichever thread of it comes to it first.
    private func ask(
        _ number: UInt64, _ arbiter: CoordinationContext.Arbiter, _ message: PresenterMessage,
        _ handle: @escaping @Sendable (PresenterLink, PresenterMessage) -> Void
    ) {
        let work: @Sendable () -> Void = { [self] in
            guard !state.withLock({ $0.isRemoved }) else { return message.answer(.success(())) }
            let context = CoordinationContext.current.handling(number, of: arbiter)
            CoordinationContext.$current.withValue(context) { handle(self, message) }
        }
        state.withLock { $0.questions.append(work) }
        let queue = presenter.presentedItemOperationQueue
        queue.addOperation { self.handleQuestion() }
        PresenterCenter.shared.wakeWaiters(on: queue)
    }

    /// Handles the next question that nobody has come to; false if there is none.
    @discardableResult
    func handleQuestion() -> Bool {
        let next = state.withLock { $0.questions.isEmpty ? nil : $0.questions.removeFirst() }
        next?()
        return next != nil
    }

    private func relinquish(toWriter: Bool, _ claim: UInt64, _ message: PresenterMessage) {
        let reply = PresenterReply(ifDropped: nil, message.answer)
        let answer: @Sendable ((@Sendable () -> Void)?) -> Void = { reacquirer in
            // The first answer counts.
            guard reply.give() else { return }
            self.relinquished(claim, reacquirer)
        }
        if toWriter {
            presenter.relinquishPresentedItem(toWriter: answer)
        } else {
            presenter.relinquishPresentedItem(toReader: answer)
        }
    }

    private func save(_ message: PresenterMessage) {
        let reply = PresenterReply(ifDropped: Self.silence, message.answer)
        presenter.savePresentedItemChanges { reply.give($0) }
    }

    private func accommodateDeletion(of url: URL?, _ message: PresenterMessage) {
        let reply = PresenterReply(ifDropped: Self.silence, message.answer)
        if let url {
            presenter.accommodatePresentedSubitemDeletion(at: url) { reply.give($0) }
        } else {
            presenter.accommodatePresentedItemDeletion { reply.give($0) }
        }
    }

    private static let silence = ControlError(.failed, "the presenter let go of its completion handler without calling it")

    // MARK: Reacquiring

    private func relinquished(_ claim: UInt64, _ reacquirer: (@Sendable () -> Void)?) {
        let isOver = state.withLock { state in
            if case .over? = state.relinquishings[claim] {
                state.relinquishings[claim] = nil
                return true
            }
            state.relinquishings[claim] = .done(reacquirer: reacquirer)
            return false
        }
        if isOver, let reacquirer { tell { _ in reacquirer() } }
    }

    private func reacquire(_ claim: UInt64) {
        let reacquirer = state.withLock { state -> (@Sendable () -> Void)? in
            switch state.relinquishings[claim] {
            case nil: return nil
            case .asked?, .over?:
                state.relinquishings[claim] = .over
                return nil
            case .done(let reacquirer)?:
                state.relinquishings[claim] = nil
                return reacquirer
            }
        }
        if let reacquirer { tell { _ in reacquirer() } }
    }

    /// Whoever it relinquished to will not say any more when that is over.
    private func ended(_ error: ControlError) {
        let (wasLost, claims) = state.withLock { state in
            let wasLost = error.code != .cancelled
            if wasLost { state.registration = nil }
            return (wasLost, state.relinquishings.keys.sorted())
        }
        guard wasLost else { return }
        claims.forEach { reacquire($0) }
    }
}
