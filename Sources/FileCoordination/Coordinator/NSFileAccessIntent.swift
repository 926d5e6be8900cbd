// Accesses of many items at once, without waiting for them.

import ControlProtocol
import Foundation
import Synchronization
import VersionsClient

/// One item of a coordinated access, and how it is to be accessed.
public final class NSFileAccessIntent: NSObject, Sendable {
    /// Guards the URL alone.
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

    /// Where the item is; in the accessor, where it is by then.
    public var url: URL { place.withLock { $0 } }

    func set(_ url: URL) { place.withLock { $0 = url } }
    var wanted: Wanted { Wanted(url: url, mode: mode) }
}

extension NSFileCoordinator {
    /// Accesses items once all of them are granted together, and goes on meanwhile.
    /// - Parameters:
    ///   - intents: their URLs are, in the accessor, where the items are by then.
    ///   - queue: where the accessor is run. If that is cancelled before its turn, it is told so, and has no items.
    ///   - accessor: gets why the access failed; nil, and it has the items until it returns.
    public func coordinate(
        with intents: [NSFileAccessIntent], queue: OperationQueue, byAccessor accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let wanted = intents.map(\.wanted)
        let isWriting = wanted.contains(where: \.isWriting)
        queue.beServed()
        // Whoever calls this goes on: what it holds does not last until these are granted.
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
                    // Nobody else would, and others wait.
                    granted.release()
                    fail(CocoaError(.userCancelled), on: queue, accessor)
                })
            }
        }
    }

    /// Says so on the accessor's queue, whatever is cancelled there: whoever has asked counts on an answer.
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
