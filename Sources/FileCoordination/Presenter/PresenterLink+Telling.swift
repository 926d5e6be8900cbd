// The notifications of a presenter: changes in Apple's terms, in order, on its queue.

import ControlProtocol
import Foundation
import Synchronization
import VersionModel
import VersionsClient

/// A presenter that distinguishes deletions from other changes. It needs no guess: a missing file may have been moved.
protocol DeletionHearing: NSFilePresenter {
    /// The item has been deleted, or earlier notifications about it no longer hold.
    func presentedItemMayBeGone()
}

extension NSFilePresenter {
    /// For all other presenters a deletion is a change, as on Apple's systems.
    func hearOfDeletion() {
        guard let hearing = self as? any DeletionHearing else { return presentedItemDidChange() }
        hearing.presentedItemMayBeGone()
    }
}

extension PresenterLink {
    /// Notifies the presenter of a change from the arbiter.
    func changed(_ change: PresentedChange, _ arbitration: any Arbitration) {
        let isMove = change.event.event == .renamed && change.relation == .item
        state.withLock { state in
            if isMove { state.moves.append(state.standing?.path) }
            state.standing?.path = change.place
            // A move without a daemon: the daemon's last known place of the item is no longer valid.
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

    /// - Parameter place: nil if this process cannot see it.
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
            // Looked up here, on the presenter's queue: the thread that reads messages must not wait.
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

    /// Runs a notification on the presenter's queue, in the order of the calls.
    func tell(inPackage: Bool = false, _ body: @escaping @Sendable (any NSFilePresenter) -> Void) {
        let queue = presenter.presentedItemOperationQueue
        let isSerial = queue.maxConcurrentOperationCount == 1
        let work: @Sendable () -> Void = { [self] in
            guard !state.withLock({ $0.isRemoved }) else { return }
            let registration = state.withLock { $0.registration }
            var context = CoordinationContext.current
            // On a serial queue no other message runs during this one, so claims made in here must not wait for the
            // presenter's answers.
            if isSerial, let registration {
                context = context.handling(registration.number, of: registration.arbitration.arbiter)
            }
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

    /// Runs the next notification, then schedules the one after it.
    private func tellNext() {
        let queue = presenter.presentedItemOperationQueue
        // Foundation ignores the priority of operations on a dispatch queue. This keeps questions first there too.
        if queue.underlyingQueue != nil { while handleQuestion() {} }
        state.withLock { $0.news.popFirst() }?()
        let isMore = state.withLock { state in
            if state.news.isEmpty { state.isTelling = false }
            return state.isTelling
        }
        if isMore { tellNextLater() }
    }
}
