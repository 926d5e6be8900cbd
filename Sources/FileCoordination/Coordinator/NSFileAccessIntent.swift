// Asynchronous accesses to several items at once.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

/// One item of a coordinated access, with the kind of the access.
public final class NSFileAccessIntent: NSObject, Sendable {
    /// Guards only the URL.
    private let place: Mutex<URL>
    let mode: Wanted.Mode

    private init(_ url: URL, _ mode: Wanted.Mode) {
        place = Mutex(url)
        self.mode = mode
        super.init()
    }

    /// An intent to read an item.
    public class func readingIntent(
        with url: URL, options: NSFileCoordinator.ReadingOptions = []
    ) -> NSFileAccessIntent { NSFileAccessIntent(url, .reading(options)) }

    /// An intent to write an item.
    public class func writingIntent(
        with url: URL, options: NSFileCoordinator.WritingOptions = []
    ) -> NSFileAccessIntent { NSFileAccessIntent(url, .writing(options)) }

    /// The item's place. In the accessor this is its present place.
    public var url: URL { place.withLock { $0 } }

    func set(_ url: URL) { place.withLock { $0 = url } }
    var wanted: Wanted { Wanted(url: url, mode: mode) }
}

extension NSFileCoordinator {
    /// Accesses several items after all of them are granted together. Returns at once.
    /// - Parameters:
    ///   - intents: the items. In the accessor their URLs are the present places.
    ///   - queue: the queue of the accessor. If the operation is cancelled before its turn, the accessor gets an error
    ///     and has no access.
    ///   - accessor: gets the error if the access failed; with nil, it has the items until it returns.
    public func coordinate(
        with intents: [NSFileAccessIntent], queue: OperationQueue,
        byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let wanted = intents.map(\.wanted)
        let isWriting = wanted.contains(where: \.isWriting)
        queue.beServed()
        // The caller continues: its own claims do not last until these are granted.
        acquire(wanted, in: CoordinationContext()) { [self] result in
            switch result {
            case .failure(let error): fail(error.cocoa(wanted.first?.url, isWriting: isWriting), on: queue, accessor)
            case .success(let granted):
                queue.add({ [self] in
                    defer { lookAgain() }
                    guard !isCancelled else {
                        granted.release()
                        return accessor(CocoaError(.userCancelled))
                    }
                    access(intents, wanted, granted, accessor)
                }, ifCancelled: { [self] in
                    // The operation is gone, so these claims would never be released.
                    granted.release()
                    fail(CocoaError(.userCancelled), on: queue, accessor)
                })
            }
        }
    }

    /// Reports the error on the accessor's queue, even after a cancellation there: the caller relies on an answer.
    private func fail(
        _ error: any Error, on queue: OperationQueue, _ accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
        queue.add({ accessor(error) }, ifCancelled: { [self] in fail(error, on: queue, accessor) })
    }

    private func access(
        _ intents: [NSFileAccessIntent], _ wanted: [Wanted], _ granted: Granted, _ accessor: ((any Error)?) -> Void
    ) {
        let snapshots: Snapshots
        do {
            snapshots = try Snapshots(of: granted.urls, wanted)
        } catch {
            granted.release()
            return accessor(error)
        }
        defer { snapshots.remove() }
        for (intent, url) in zip(intents, snapshots.urls) { intent.set(url) }
        let isReleased = snapshots.areAll
        if isReleased { granted.release() }
        let context = isReleased ? CoordinationContext.current : granted.context()
        CoordinationContext.$current.withValue(context) { accessor(nil) }
        if !isReleased { granted.release() }
    }
}
