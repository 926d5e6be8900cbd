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
        /// It is over, since then, and the presenter has not answered yet.
        case over(time: UInt64)
    }

    /// A claim, among those of all arbiters.
    fileprivate struct ClaimKey: Hashable, Sendable {
        var arbiter: CoordinationContext.Arbiter
        var claim: UInt64
    }

    /// Who knows of a presenter, and by what number.
    struct Registration {
        var arbitration: any Arbitration
        var number: UInt64

        func isThat(_ other: UInt64, of others: any Arbitration) -> Bool { number == other && arbitration === others }
    }

    /// How far an arbiter has told a presenter of its item.
    struct Standing {
        /// The arbiter's.
        var rank: String
        /// Where it has the item.
        var path: Path?
        /// The last change that it told of.
        var sequence: UInt64?
        /// What the presenter said last, so that it is seen when it says something else by itself.
        var url: URL?
    }

    struct State {
        var registration: Registration?
        /// With the arbiter that knows of it, or knew last.
        var standing: Standing?
        /// With the daemon whose container was found unmounted since, so that this process stood in for it.
        var left: Standing?
        fileprivate var relinquishings: [ClaimKey: Relinquishing] = [:]
        fileprivate var relinquished = Relinquished<ClaimKey, (@Sendable () -> Void)?>()
        /// Questions that its queue has not come to.
        var questions = Backlog<@Sendable () -> Void>()
        /// What it is to be told. The queue has one piece of it at a time, so that questions come before the rest.
        var news = Backlog<@Sendable () -> Void>()
        var isTelling = false
        /// Where its item was before each of the moves among the news.
        var moves: [Path?] = []
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
        takingTurn {
            if state.withLock({ $0.registration == nil }) { enroll() }
        }
    }

    /// A connection to a container is new: its presenters are not registered for want of a daemon, or with this
    /// process, which stood in for one.
    func registerAgain() {
        guard let registration = state.withLock({ $0.registration }) else { return register() }
        guard registration.arbitration === ProcessArbitration.shared, let url = presenter.presentedItemURL,
            let place = try? Places.locate(presented: url), place.arbitration !== registration.arbitration
        else { return }
        transfer(from: registration)
    }

    /// Once at a time: a connection that is made for a presenter has all others registered that wait for one.
    /// - Returns: whether it was this one's turn.
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
        // Of a presenter whose daemon was gone, where its item was when it last heard of it: it hears what came then.
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

    /// Another arbiter has the say where its item is now.
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
        // Somebody else is at it, and may have looked before: the next access looks again.
        if !hasTurn { state.withLock { $0.standing?.url = nil } }
    }

    /// The presenter is not asked any more.
    func remove() {
        let registration = state.withLock { state -> Registration? in
            state.isRemoved = true
            // The arbiter may not know it yet: whoever registers it does this then.
            return state.isRegistering ? nil : state.registration.take()
        }
        if let registration { registration.arbitration.withdraw(registration.number) }
    }

    /// Its number with an arbiter; nil if that does not know it.
    func number(with arbitration: any Arbitration) -> UInt64? {
        state.withLock { $0.registration.flatMap { $0.arbitration === arbitration ? $0.number : nil } }
    }

    /// After an access on its behalf: its item may have come into being, or be another by now.
    func look() {
        guard let registration = state.withLock({ $0.registration }) else { return register() }
        let url = presenter.presentedItemURL
        let isOther = state.withLock { state in
            defer { state.standing?.url = url }
            return state.standing?.url != url
        }
        // What it was told of in between it knows from the arbiter, which has the place already.
        guard isOther else { return }
        let place = url.flatMap { try? Places.locate(presented: $0) }
        if let place, place.arbitration !== registration.arbitration {
            // What it heard of another item says nothing of this one.
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
        // Sent before the arbiter knew that it is elsewhere by now.
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
        handleQuestionLater()
        PresenterCenter.shared.wakeWaiters(on: presenter.presentedItemOperationQueue)
    }

    /// Before what the queue has not begun, whoever's that is: somebody waits for the answer. As many operations as
    /// questions: one that is cancelled comes again.
    private func handleQuestionLater() {
        presenter.presentedItemOperationQueue.add(
            priority: .veryHigh, { self.handleQuestion() }, ifCancelled: { self.handleQuestionLater() })
    }

    /// Handles the next question that nobody has come to; false if there is none.
    @discardableResult
    func handleQuestion() -> Bool {
        let next = state.withLock { $0.questions.popFirst() }
        next?()
        return next != nil
    }

    private func relinquish(toWriter: Bool, _ claim: ClaimKey, _ message: PresenterMessage) {
        state.withLock { $0.relinquished.letsGo(claim) }
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

    /// Behind the news of what was done in the claim that was over then; and if the presenter has let go again by its turn,
    /// behind that, too.
    private func tell(_ reacquirer: (@Sendable () -> Void)?, from time: UInt64) {
        tell { _ in
            for due in self.state.withLock({ $0.relinquished.due(reacquirer, from: time) }) { due?() }
        }
    }

    /// Nothing comes of this arbiter any more: whoever it relinquished to will not say when that is over.
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
    /// What is known from before with an arbiter; nil if the presenter has gone to another item since: it says
    /// something else, and no move that it was told of has led there. The first move that it is still to be told of begins
    /// where it has the item.
    fileprivate func standing(at place: Place, _ url: URL) -> PresenterLink.Standing? {
        let known = [standing, left].compactMap { $0 }.first { $0.rank == place.arbitration.rank }
        guard let known, known.url == url || (moves.first ?? known.path) == place.path else { return nil }
        return known
    }

    /// It was told of changes up to this one.
    fileprivate mutating func heard(_ sequence: UInt64) {
        let last = standing?.sequence ?? 0
        standing?.sequence = max(last, sequence)
    }
}
