// A registered presenter: passes messages to its queue, and its answers back to the arbiter.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// Connects one presenter with the arbiter of its item. Thread-safe.
final class PresenterLink: Sendable {
    /// Retained as long as it is registered. Called on its queue, except for its two properties.
    nonisolated(unsafe) let presenter: any NSFilePresenter
    let identity: PresenterIdentity

    /// The state of a claim that the presenter has to relinquish the item to.
    enum Relinquishing {
        case asked
        case done(reacquirer: (@Sendable () -> Void)?)
        /// The claim is over, since this time, and the presenter has not answered yet.
        case over(time: UInt64)
    }

    /// A claim, among those of all arbiters.
    fileprivate struct ClaimKey: Hashable, Sendable {
        var arbiter: CoordinationContext.Arbiter
        var claim: UInt64
    }

    /// An arbiter that knows a presenter, with the presenter's number there.
    struct Registration {
        var arbitration: any Arbitration
        var number: UInt64

        func isThat(_ other: UInt64, of others: any Arbitration) -> Bool { number == other && arbitration === others }
    }

    /// The progress of an arbiter's notifications to a presenter.
    struct Standing {
        /// The rank of the arbiter.
        var rank: String
        /// The item's place for the arbiter.
        var path: Path?
        /// The last change that the arbiter has reported.
        var sequence: UInt64?
        /// The presenter's URL at the last look, so that a new URL is noticed.
        var url: URL?
    }

    struct State {
        var registration: Registration?
        /// For the arbiter that knows the presenter, or knew it last.
        var standing: Standing?
        /// For the daemon of a container that is no longer mounted, so that this process replaces the daemon.
        var left: Standing?
        fileprivate var relinquishings: [ClaimKey: Relinquishing] = [:]
        fileprivate var relinquished = Relinquished<ClaimKey, (@Sendable () -> Void)?>()
        /// Questions that its queue has not started.
        var questions = Backlog<@Sendable () -> Void>()
        /// Pending notifications. The queue has one operation for them at a time, so that questions come first.
        var news = Backlog<@Sendable () -> Void>()
        var isTelling = false
        /// The item's place before each of the moves among the notifications.
        var moves: [Path?] = []
        var isRegistering = false
        var isRemoved = false
    }

    /// Guards the state of the presenter. The presenter is never called under it.
    let state = Mutex(State())

    /// Whether the item of the current notification lies in a package that the presenter presents.
    @TaskLocal static var isInPackage = false

    init(_ presenter: any NSFilePresenter, _ identity: PresenterIdentity) {
        self.presenter = presenter
        self.identity = identity
    }

    // MARK: Registering

    /// Registers the presenter at its item's place, and waits for the answer. Without an item, or without an answer,
    /// the registration happens later.
    func register() {
        takingTurn {
            if state.withLock({ $0.registration == nil }) { enroll() }
        }
    }

    /// Called after a new connection to a container: its presenters may be unregistered without a daemon, or registered
    /// with this process in place of the daemon.
    func registerAgain() {
        guard let registration = state.withLock({ $0.registration }) else { return register() }
        guard registration.arbitration === ProcessArbitration.shared, let url = presenter.presentedItemURL,
            let place = try? Places.locate(presented: url), place.arbitration !== registration.arbitration
        else { return }
        transfer(from: registration)
    }

    /// Runs a registration, one at a time: a new connection for one presenter registers all other presenters that wait
    /// for it.
    /// - Returns: whether this call had the turn.
    @discardableResult
    private func takingTurn(_ body: () -> Void) -> Bool {
        let isFirst = state.withLock { state in
            guard !state.isRemoved, !state.isRegistering else { return false }
            state.isRegistering = true
            return true
        }
        guard isFirst else { return false }
        body()
        state.withLock { $0.isRegistering = false }
        if state.withLock({ $0.isRemoved }) { remove() }
        return true
    }

    private func enroll() {
        guard let url = presenter.presentedItemURL, let place = try? Places.locate(presented: url) else { return }
        let registered = Awaited<Void>()
        // A presenter whose daemon was gone continues from its item's last place, and hears of all changes since.
        let known = state.withLock { $0.standing(at: place, url) }
        let standing = Standing(
            rank: place.arbitration.rank, path: known?.path ?? place.path, sequence: known?.sequence, url: url)
        let wanted = PresenterWanted(
            path: standing.path, purpose: identity.purpose, after: standing.sequence
        ) { number in
            self.state.withLock { state in
                state.registration = Registration(arbitration: place.arbitration, number: number)
                let isStandIn = place.arbitration === ProcessArbitration.shared
                if !isStandIn {
                    state.left = nil
                } else if state.standing?.rank != standing.rank {
                    state.left = state.standing
                }
                state.standing = standing
            }
            return self.inbox(number, place.arbitration)
        }
        place.arbitration.present(wanted) { result in
            if case .success(let reply) = result { self.state.withLock { $0.heard(reply.sequence) } }
            registered.set(())
        }
        registered.wait()
    }

    /// Moves the registration to the arbiter of the item's new place.
    private func transfer(from former: Registration) {
        let hasTurn = takingTurn {
            let isStill = state.withLock { state in
                guard state.registration?.isThat(former.number, of: former.arbitration) == true else { return false }
                state.registration = nil
                return true
            }
            guard isStill else { return }
            former.arbitration.withdraw(former.number)
            enroll()
        }
        // Another thread has the turn, and may have read the URL before: the next access looks again.
        if !hasTurn { state.withLock { $0.standing?.url = nil } }
    }

    /// Removes the presenter: it gets no more questions.
    func remove() {
        let registration = state.withLock { state -> Registration? in
            state.isRemoved = true
            // The arbiter may not know it yet; then the registering thread withdraws it.
            return state.isRegistering ? nil : state.registration.take()
        }
        if let registration { registration.arbitration.withdraw(registration.number) }
    }

    /// The presenter's number with an arbiter; nil if the arbiter does not know it.
    func number(with arbitration: any Arbitration) -> UInt64? {
        state.withLock { $0.registration.flatMap { $0.arbitration === arbitration ? $0.number : nil } }
    }

    /// Looks at the presenter's URL after an access on its behalf: the item may be new, or another one.
    func look() {
        guard let registration = state.withLock({ $0.registration }) else { return register() }
        let url = presenter.presentedItemURL
        let isOther = state.withLock { state in
            defer { state.standing?.url = url }
            return state.standing?.url != url
        }
        // A change from a reported move needs no message: the arbiter has this place already.
        guard isOther else { return }
        let place = url.flatMap { try? Places.locate(presented: $0) }
        if let place, place.arbitration !== registration.arbitration {
            // Notifications about another item do not concern this one.
            state.withLock { ($0.standing, $0.left) = (nil, nil) }
            return transfer(from: registration)
        }
        guard state.withLock({ $0.standing?.path != place?.path }) else { return }
        let placed = Awaited<Void>()
        registration.arbitration.place(registration.number, at: place?.path) { placed.set(()) }
        placed.wait()
        state.withLock { state in
            state.standing?.path = place?.path
            state.left = nil
        }
    }

    // MARK: Messages

    private func inbox(_ number: UInt64, _ arbitration: any Arbitration) -> PresenterSink {
        PresenterSink(
            take: { [weak self] in self?.take($0, number, arbitration) },
            ended: { [weak self] _ in self?.ended(number, arbitration) })
    }

    private func take(_ message: PresenterMessage, _ number: UInt64, _ arbitration: any Arbitration) {
        let arbiter = arbitration.arbiter
        let isItsOwn = state.withLock { state in
            guard state.registration?.isThat(number, of: arbitration) == true else { return false }
            if case .relinquish(_, let claim) = message.content {
                state.relinquishings[ClaimKey(arbiter: arbiter, claim: claim)] = .asked
                state.relinquished.asked(ClaimKey(arbiter: arbiter, claim: claim))
            }
            return true
        }
        // The message is from before the move to another arbiter.
        guard isItsOwn else { return message.answer(.success(())) }
        switch message.content {
        case .relinquish(let toWriter, let claim):
            let key = ClaimKey(arbiter: arbiter, claim: claim)
            ask(number, arbiter, message) { $0.relinquish(toWriter: toWriter, key, $1) }
        case .save: ask(number, arbiter, message) { $0.save($1) }
        case .accommodateDeletion(let path, _):
            let url = path.flatMap { arbitration.url(of: $0, isDirectory: false) }
            ask(number, arbiter, message) { $0.accommodateDeletion(of: url, $1) }
        case .reacquire(let claim): reacquire(ClaimKey(arbiter: arbiter, claim: claim))
        case .changes(let changes, let sequence):
            for change in changes { changed(change, arbitration) }
            state.withLock { $0.heard(sequence) }
        case .revoked: tell { $0.hearOfDeletion() }
        }
    }

    /// Handles a question on the presenter's queue, on the first thread there that is free for it.
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
        handleQuestionLater()
        PresenterCenter.shared.wakeWaiters(on: presenter.presentedItemOperationQueue)
    }

    /// Precedes all operations that the queue has not started, because another program waits for the answer. One
    /// operation per question; a cancelled one is added again.
    private func handleQuestionLater() {
        presenter.presentedItemOperationQueue.add(
            priority: .veryHigh, { self.handleQuestion() }, ifCancelled: { self.handleQuestionLater() })
    }

    /// Handles the next open question; false if there is none.
    @discardableResult
    func handleQuestion() -> Bool {
        let next = state.withLock { $0.questions.popFirst() }
        next?()
        return next != nil
    }

    private func relinquish(toWriter: Bool, _ claim: ClaimKey, _ message: PresenterMessage) {
        state.withLock { $0.relinquished.relinquish(to: claim) }
        let reply = PresenterReply(ifDropped: nil, message.answer)
        let answer: @Sendable ((@Sendable () -> Void)?) -> Void = { reacquirer in
            // Only the first answer counts.
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

    private static let silence = ControlError(
        .failed, "the presenter released its completion handler without calling it")

    // MARK: Reacquiring

    private func relinquished(_ claim: ClaimKey, _ reacquirer: (@Sendable () -> Void)?) {
        let end = state.withLock { state -> UInt64? in
            if case .over(let time)? = state.relinquishings[claim] {
                state.relinquishings[claim] = nil
                return time
            }
            state.relinquishings[claim] = .done(reacquirer: reacquirer)
            return nil
        }
        if let end { tell(reacquirer, from: end) }
    }

    private func reacquire(_ claim: ClaimKey) {
        let end = state.withLock { state -> (reacquirer: (@Sendable () -> Void)?, time: UInt64)? in
            switch state.relinquishings[claim] {
            case nil, .over?: return nil
            case .asked?:
                let time = state.relinquished.isOver(claim)
                state.relinquishings[claim] = .over(time: time)
                return (nil, time)
            case .done(let reacquirer)?:
                state.relinquishings[claim] = nil
                return (reacquirer, state.relinquished.isOver(claim))
            }
        }
        if let end { tell(end.reacquirer, from: end.time) }
    }

    /// Runs after the notifications of that claim's changes. If the presenter has relinquished again by then, it runs
    /// after that claim, too.
    private func tell(_ reacquirer: (@Sendable () -> Void)?, from time: UInt64) {
        tell { _ in
            for due in self.state.withLock({ $0.relinquished.due(reacquirer, from: time) }) { due?() }
        }
    }

    /// Ends the messages of this arbiter: its claims no longer report their end.
    private func ended(_ number: UInt64, _ arbitration: any Arbitration) {
        let claims = state.withLock { state -> [ClaimKey] in
            if state.registration?.isThat(number, of: arbitration) == true { state.registration = nil }
            guard !state.isRemoved else { return [] }
            return state.relinquishings.keys.filter { $0.arbiter == arbitration.arbiter }.sorted { $0.claim < $1.claim }
        }
        claims.forEach { reacquire($0) }
    }
}

extension PresenterLink.State {
    /// The earlier standing with an arbiter. Nil if the presenter has changed to another item since: it has another
    /// URL, and no reported move explains it. The first pending move starts at the presenter's own view of the item's
    /// place.
    fileprivate func standing(at place: Place, _ url: URL) -> PresenterLink.Standing? {
        let known = [standing, left].compactMap { $0 }.first { $0.rank == place.arbitration.rank }
        guard let known, known.url == url || (moves.first ?? known.path) == place.path else { return nil }
        return known
    }

    /// Notes that the presenter has heard of all changes up to this one.
    fileprivate mutating func heard(_ sequence: UInt64) {
        let last = standing?.sequence ?? 0
        standing?.sequence = max(last, sequence)
    }
}
