// What an object is asked and told that shows or edits a file or directory.

import Foundation

/// An object that shows or edits a file or a directory, and wants to take part when others access it.
///
/// Register it with ``NSFileCoordinator/addFilePresenter(_:)``. From then on it is asked before others access the item
/// through coordinators, or, in a container, by plain programs that write it; and told what became of it. All methods but
/// the two required properties have an implementation that does nothing and lets the others go on.
///
/// Messages come as operations of ``presentedItemOperationQueue``. For one access they come in this order: relinquish,
/// then save or accommodate a deletion; while the access goes on, notifications; then the reacquirer. Questions (relinquish,
/// save, accommodate) come before whatever the queue has not begun: before notifications of earlier accesses, and their
/// reacquirers, which then wait for the later access to end as well. A thread that waits in a coordinator on that very
/// queue handles questions itself, so that a presenter on the main queue does not shut out its own main thread.
///
/// Who does not answer a question within ten seconds, while others wait, is passed over; it is told
/// ``presentedItemDidChange()`` then, since what it shows may be old.
public protocol NSFilePresenter: NSObjectProtocol {
    /// Where the item is; nil while it does not exist yet. Asked on any thread at any time.
    ///
    /// It is asked again after each coordinated access on behalf of the presenter, in case the item has just been made.
    var presentedItemURL: URL? { get }
    /// Where messages to the presenter are run. Asked on any thread at any time.
    var presentedItemOperationQueue: OperationQueue { get }
    /// Nothing here asks for it: there is no sandbox that would.
    var primaryPresentedItemURL: URL? { get }

    /// Somebody is going to read the item: leave it as it is until the block that you give to `reader` is called. `reader`
    /// itself has to be called, with a block or with nil.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// Somebody is going to write the item: let it alone until the block that you give to `writer` is called. `writer`
    /// itself has to be called, with a block or with nil.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// Write what has not been written yet, and call the handler. An error keeps the others from their access.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// The item is about to be deleted: close it, and call the handler. An error keeps the item.
    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// Never asked for on one device: nothing is evicted.
    func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The item, or a directory that it is in, has another name or place.
    func presentedItemDidMove(to newURL: URL)
    /// The item's content or attributes have changed.
    func presentedItemDidChange()
    /// The file has a version more: one that has lost a conflict. Told also of what the presenter did itself.
    func presentedItemDidGain(_ version: NSFileVersion)
    /// A version of the file is gone. Told also of what the presenter did itself.
    func presentedItemDidLose(_ version: NSFileVersion)
    /// A conflict of the file is settled. Told also of what the presenter did itself.
    func presentedItemDidResolveConflict(_ version: NSFileVersion)
    /// Never told on one device: items have no state of synchronisation.
    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>)
    /// What of that the presenter wants to be told.
    var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { get }

    /// Something in the presented directory is about to be deleted. An error keeps it.
    func accommodatePresentedSubitemDeletion(at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// Something has come into the presented directory, at any depth. Without an implementation it is
    /// ``presentedSubitemDidChange(at:)``.
    func presentedSubitemDidAppear(at url: URL)
    /// Something in the presented directory has another name or place in it.
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)
    /// Something in the presented directory has changed, or has gone.
    func presentedSubitemDidChange(at url: URL)
    /// A file in the presented directory has a version more, which lost a conflict.
    func presentedSubitem(at url: URL, didGain version: NSFileVersion)
    /// A version of a file in the presented directory is gone.
    func presentedSubitem(at url: URL, didLose version: NSFileVersion)
    /// A conflict of a file in the presented directory is settled.
    func presentedSubitem(at url: URL, didResolve version: NSFileVersion)
}

extension NSFilePresenter {
    public var primaryPresentedItemURL: URL? { nil }
    public var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { [] }

    public func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { reader(nil) }
    public func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { writer(nil) }
    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(nil)
    }
    public func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(nil)
    }
    public func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(CocoaError(.featureUnsupported))
    }
    public func accommodatePresentedSubitemDeletion(
        at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        completionHandler(nil)
    }
    public func presentedItemDidMove(to newURL: URL) {}
    public func presentedItemDidChange() {}
    public func presentedItemDidGain(_ version: NSFileVersion) {}
    public func presentedItemDidLose(_ version: NSFileVersion) {}
    public func presentedItemDidResolveConflict(_ version: NSFileVersion) {}
    public func presentedSubitem(at url: URL, didGain version: NSFileVersion) {}
    public func presentedSubitem(at url: URL, didLose version: NSFileVersion) {}
    public func presentedSubitem(at url: URL, didResolve version: NSFileVersion) {}
    public func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {}

    // Whoever makes no difference hears of what has come as of what has changed, as it is on Apple's systems in practice.
    public func presentedSubitemDidAppear(at url: URL) { presentedSubitemDidChange(at: url) }
    // Of a package whoever does not follow its contents is told that it has changed.
    public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        if PresenterLink.isInPackage { presentedItemDidChange() }
    }
    public func presentedSubitemDidChange(at url: URL) { if PresenterLink.isInPackage { presentedItemDidChange() } }
}
