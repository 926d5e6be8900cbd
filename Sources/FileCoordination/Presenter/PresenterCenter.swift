// The presenters of this process, and the threads that wait on their queues.

import Foundation
import Synchronization

/// The common identity of one presenter's claims, so that they never exclude one another.
final class PresenterIdentity: Sendable {
    let purpose: String
    init() { purpose = PurposeToken.random() }
}

/// A thread of an operation queue that waits for a claim. Questions to presenters on that queue would wait for the
/// thread, so it handles them itself.
final class QueueWaiter: Sendable {
    /// Signaled when there is a question or an answer.
    let signal = DispatchSemaphore(value: 0)
}

/// Knows the presenters of this process.
final class PresenterCenter: Sendable {
    static let shared = PresenterCenter()

    private struct Weak {
        weak var identity: PresenterIdentity?
    }

    private struct State {
        /// In the order of registration.
        var links: [PresenterLink] = []
        /// By presenter, including unregistered presenters with coordinators.
        var identities: [ObjectIdentifier: Weak] = [:]
        var waiters: [ObjectIdentifier: [QueueWaiter]] = [:]
    }

    /// Guards the lists. No presenter is called under it.
    private let state = Mutex(State())

    /// The common identity of a presenter's claims.
    func identity(of presenter: any NSFilePresenter) -> PresenterIdentity {
        let key = ObjectIdentifier(presenter)
        return state.withLock { state in
            if let known = state.identities[key]?.identity { return known }
            let new = PresenterIdentity()
            // Removes the entries of deallocated presenters.
            state.identities = state.identities.filter { $0.value.identity != nil }
            state.identities[key] = Weak(identity: new)
            return new
        }
    }

    var presenters: [any NSFilePresenter] { state.withLock { $0.links }.map(\.presenter) }

    func add(_ presenter: any NSFilePresenter) {
        let link = PresenterLink(presenter, identity(of: presenter))
        presenter.presentedItemOperationQueue.beServed()
        state.withLock { $0.links.append(link) }
        link.register()
    }

    func remove(_ presenter: any NSFilePresenter) {
        let link = state.withLock { state -> PresenterLink? in
            guard let index = state.links.lastIndex(where: { $0.presenter === presenter }) else { return nil }
            return state.links.remove(at: index)
        }
        link?.remove()
    }

    /// The presenter's registrations.
    func links(of presenter: any NSFilePresenter) -> [PresenterLink] {
        state.withLock { $0.links }.filter { $0.presenter === presenter }
    }

    /// Registers presenters whose daemon has come back, or has just started.
    func registerAgain() {
        for link in state.withLock({ $0.links }) { link.registerAgain() }
    }

    // MARK: Waiting on a queue

    func add(_ waiter: QueueWaiter, on queue: OperationQueue) {
        state.withLock { $0.waiters[ObjectIdentifier(queue), default: []].append(waiter) }
    }

    func remove(_ waiter: QueueWaiter, on queue: OperationQueue) {
        state.withLock { state in
            state.waiters[ObjectIdentifier(queue)]?.removeAll { $0 === waiter }
            if state.waiters[ObjectIdentifier(queue)]?.isEmpty == true { state.waiters[ObjectIdentifier(queue)] = nil }
        }
    }

    func wakeWaiters(on queue: OperationQueue) {
        for waiter in state.withLock({ $0.waiters[ObjectIdentifier(queue)] ?? [] }) { waiter.signal.signal() }
    }

    /// Handles one question to a presenter on the queue; false if there is none.
    func handleQuestion(on queue: OperationQueue) -> Bool {
        state.withLock { $0.links }.contains {
            $0.presenter.presentedItemOperationQueue === queue && $0.handleQuestion()
        }
    }
}
