// The questions and notifications for an object that shows or edits a file or directory.

import Foundation

/// An object that shows or edits a file or a directory, and takes part when other programs access it.
///
/// Register it with ``NSFileCoordinator/addFilePresenter(_:)``. From then on it gets a question before other programs
/// access the item through coordinators. In a container it also gets one before plain programs write the item.
/// Afterwards it hears of the changes. All methods except the two required properties have a default implementation,
/// which has no effect and lets the other program continue.
///
/// Messages run as operations of ``presentedItemOperationQueue``. For one access they come in this order: relinquish,
/// then save or accommodate a deletion; during the access, notifications; then the reacquirer. Questions (relinquish,
/// save, accommodate) overtake every operation that the queue has not started: notifications of earlier accesses, and
/// their reacquirers, which then wait for the end of the later access as well. A thread that waits in a coordinator on
/// the same queue handles questions itself, so a presenter on the main queue does not block its own main thread.
///
/// If a presenter does not answer a question within ten seconds while other programs wait, the access starts without
/// it. It then gets ``presentedItemDidChange()``, because it may show old content.
public protocol NSFilePresenter: NSObjectProtocol {
    /// The URL of the item; nil while the item does not exist. Read on any thread at any time.
    ///
    /// The library reads it again after each coordinated access on behalf of the presenter, because the item may be
    /// new.
    var presentedItemURL: URL? { get }
    /// The queue of the presenter's messages. Read on any thread at any time.
    var presentedItemOperationQueue: OperationQueue { get }
    /// Never read, because Linux has no sandbox that needs it.
    var primaryPresentedItemURL: URL? { get }

    /// Another program is about to read the item. Do not change it until the block that you pass to `reader` is called.
    /// Always call `reader`, with a block or with nil.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// Another program is about to write the item. Do not use it until the block that you pass to `writer` is called.
    /// Always call `writer`, with a block or with nil.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
    /// Write all unsaved changes, and call the handler. An error fails the other program's access.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// The item is about to be deleted: close it, and call the handler. An error keeps the item.
    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// Never called on one device, because no item is evicted.
    func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The item, or a directory above it, has another name or place.
    func presentedItemDidMove(to newURL: URL)
    /// The item's content or attributes have changed.
    func presentedItemDidChange()
    /// The file has a new version, which lost a conflict. Also called for changes of the presenter itself.
    func presentedItemDidGain(_ version: NSFileVersion)
    /// A version of the file is gone. Also called for changes of the presenter itself.
    func presentedItemDidLose(_ version: NSFileVersion)
    /// A conflict of the file is resolved. Also called for changes of the presenter itself.
    func presentedItemDidResolveConflict(_ version: NSFileVersion)
    /// Never called on one device: items have no synchronization state.
    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>)
    /// The ubiquity attributes that the presenter observes.
    var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { get }

    /// An item in the presented directory is about to be deleted. An error keeps it.
    func accommodatePresentedSubitemDeletion(at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
    /// A new item is in the presented directory, at any depth. The default implementation calls
    /// ``presentedSubitemDidChange(at:)``.
    func presentedSubitemDidAppear(at url: URL)
    /// An item in the presented directory has another name or place inside the directory.
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)
    /// An item in the presented directory has changed, or is gone.
    func presentedSubitemDidChange(at url: URL)
    /// A file in the presented directory has a new version, which lost a conflict.
    func presentedSubitem(at url: URL, didGain version: NSFileVersion)
    /// A version of a file in the presented directory is gone.
    func presentedSubitem(at url: URL, didLose version: NSFileVersion)
    /// A conflict of a file in the presented directory is resolved.
    func presentedSubitem(at url: URL, didResolve version: NSFileVersion)
}

extension NSFilePresenter {
    public var primaryPresentedItemURL: URL? { nil }
    public var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { [] }

    public func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        reader(nil)
    }
    public func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        writer(nil)
    }
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

    // A presenter without this method hears of a new item as of a change, like on Apple's systems in practice.
    public func presentedSubitemDidAppear(at url: URL) { presentedSubitemDidChange(at: url) }
    // A presenter of a package that does not follow its contents hears that the package has changed.
    public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
        if PresenterLink.isInPackage { presentedItemDidChange() }
    }
    public func presentedSubitemDidChange(at url: URL) { if PresenterLink.isInPackage { presentedItemDidChange() } }
}
