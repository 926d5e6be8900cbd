// What a presenter is told: changes in Apple's words, in their order, on its queue.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// Who tells a deletion from other changes, and need not guess: a file that is not there may have been moved.
protocol DeletionHearing: NSFilePresenter {
    /// The item has been deleted, or nothing that was said of it before counts any more.
    func presentedItemMayBeGone()
}

extension NSFilePresenter {
    /// For all others a deletion is a change, as on Apple's systems.
    func hearOfDeletion() {
        guard let hearing = self as? any DeletionHearing else { return presentedItemDidChange() }
        hearing.presentedItemMayBeGone()
    }
}

extension PresenterLink {
    /// Tells of a change that the arbiter has told of.
    func changed(_ change: PresentedChange, _ arbitration: any Arbitration) {
        let isMove = change.event.event == .renamed && change.relation == .item
        state.withLock { state in
            if isMove { state.moves.append(state.standing?.path) }
            state.standing?.path = change.place
            // Moved while no daemon saw it: where that had the item is no more.
            if isMove, arbitration === ProcessArbitration.shared { state.left = nil }
        }
        func url(_ path: Path) -> URL? { arbitration.url(of: path, isDirectory: false) }
        let event = change.event
        if isMove { return moved(to: url(change.place)) }
        guard let about = url(event.path) else { return }
        let isInPackage = change.relation == .inPackage
        switch (event.event, change.relation) {
        case (.conflict, _), (.resolved, _), (.versionLost, _): tellOfVersion(change, about, arbitration)
        case (.deleted, .item): tell { $0.hearOfDeletion() }
        case (_, .item): tell { $0.presentedItemDidChange() }
        case (.created, _), (.undeleted, _): tell(inPackage: isInPackage) { $0.presentedSubitemDidAppear(at: about) }
        case (.renamed, _):
            let from = event.from.flatMap(url) ?? about
            tell(inPackage: isInPackage) { $0.presentedSubitem(at: from, didMoveTo: about) }
        case (.saved, _), (.deleted, _), (.attributes, _):
            tell(inPackage: isInPackage) { $0.presentedSubitemDidChange(at: about) }
        }
    }

    /// - Parameter place: nil if it cannot be seen from here.
    private func moved(to place: URL?) {
        tell { presenter in
            self.state.withLock { _ = $0.moves.removeFirst() }
            if let place { presenter.presentedItemDidMove(to: place) }
        }
    }

    private func tellOfVersion(_ change: PresentedChange, _ url: URL, _ arbitration: any Arbitration) {
        guard let container = arbitration as? ContainerArbitration else { return }
        let (event, isItem) = (change.event, change.relation == .item)
        tell { presenter in
            // Asked for here, on the presenter's queue: nothing may wait on the thread that brings messages.
            guard let version = NSFileVersion(event, of: url, in: container) else { return }
            switch (event.event, isItem) {
            case (.conflict, true): presenter.presentedItemDidGain(version)
            case (.conflict, false): presenter.presentedSubitem(at: url, didGain: version)
            case (.resolved, true): presenter.presentedItemDidResolveConflict(version)
            case (.resolved, false): presenter.presentedSubitem(at: url, didResolve: version)
            case (_, true): presenter.presentedItemDidLose(version)
            case (_, false): presenter.presentedSubitem(at: url, didLose: version)
            }
        }
    }

    /// Tells the presenter something on its queue, in the order in which it is told.
    func tell(inPackage: Bool = false, _ body: @escaping @Sendable (any NSFilePresenter) -> Void) {
        let queue = presenter.presentedItemOperationQueue
        let isSerial = queue.maxConcurrentOperationCount == 1
        let work: @Sendable () -> Void = { [self] in
            guard !state.withLock({ $0.isRemoved }) else { return }
            let registration = state.withLock { $0.registration }
            var context = CoordinationContext.current
            // Where others of its queue go on meanwhile, its answers do not wait for what is claimed in here.
            if isSerial, let registration { context = context.handling(registration.number, of: registration.arbitration.arbiter) }
            CoordinationContext.$current.withValue(context) {
                Self.$isInPackage.withValue(inPackage) { body(presenter) }
            }
        }
        let isFirst = state.withLock { state in
            state.news.append(work)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if isFirst { tellNextLater() }
    }

    private func tellNextLater() {
        presenter.presentedItemOperationQueue.add({ self.tellNext() }, ifCancelled: { self.tellNextLater() })
    }

    /// The next piece of news, and the one behind it when this is done.
    private func tellNext() {
        let queue = presenter.presentedItemOperationQueue
        // Of operations that go on to a dispatch queue Foundation heeds no priority: its questions come first all the same.
        if queue.underlyingQueue != nil { while handleQuestion() {} }
        state.withLock { $0.news.popFirst() }?()
        let isMore = state.withLock { state in
            if state.news.isEmpty { state.isTelling = false }
            return state.isTelling
        }
        if isMore { tellNextLater() }
    }
}
