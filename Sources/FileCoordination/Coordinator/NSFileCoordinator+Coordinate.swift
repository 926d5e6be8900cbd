// Synchronous accesses, which wait on the calling thread.

import ControlProtocol
import Foundation
import VersionsClient

extension NSFileCoordinator {
    /// Reads an item when no other program writes it and its presenters have saved.
    /// - Parameters:
    ///   - url: the item: a file, a directory, or a missing item.
    ///   - options: the options for the read and for the presenters.
    ///   - outError: gets the error if the access fails; then `reader` is not called.
    ///   - reader: called on this thread with the item's present place.
    public func coordinate(
        readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
        byAccessor reader: (URL) -> Void
    ) {
        access([.reading(url, options)], outError) { reader($0[0]) }
    }

    /// Writes an item when no other program reads or writes it and its presenters have relinquished it.
    public func coordinate(
        writingItemAt url: URL, options: WritingOptions = [], error outError: NSErrorPointer,
        byAccessor writer: (URL) -> Void
    ) {
        access([.writing(url, options)], outError) { writer($0[0]) }
    }

    /// Reads one item and writes another, both granted together.
    public func coordinate(
        readingItemAt readingURL: URL, options readingOptions: ReadingOptions = [], writingItemAt writingURL: URL,
        options writingOptions: WritingOptions = [], error outError: NSErrorPointer,
        byAccessor readerWriter: (URL, URL) -> Void
    ) {
        access([.reading(readingURL, readingOptions), .writing(writingURL, writingOptions)], outError) {
            readerWriter($0[0], $0[1])
        }
    }

    /// Writes two items, both granted together: a move, for instance.
    public func coordinate(
        writingItemAt url1: URL, options options1: WritingOptions = [], writingItemAt url2: URL,
        options options2: WritingOptions = [], error outError: NSErrorPointer, byAccessor writer: (URL, URL) -> Void
    ) {
        access([.writing(url1, options1), .writing(url2, options2)], outError) { writer($0[0], $0[1]) }
    }

    /// Asks the presenters of several items, and of the items inside them, once for all accesses of this coordinator.
    /// The accesses must come before the call of the handler that `batchAccessor` receives.
    ///
    /// This excludes no other access. `resolvesSymbolicLink` and `forReplacing` are not allowed.
    public func prepare(
        forReadingItemsAt readingURLs: [URL], options readingOptions: ReadingOptions = [],
        writingItemsAt writingURLs: [URL], options writingOptions: WritingOptions = [], error outError: NSErrorPointer,
        byAccessor batchAccessor: (@escaping @Sendable () -> Void) -> Void
    ) {
        guard !readingOptions.contains(.resolvesSymbolicLink), !writingOptions.contains(.forReplacing) else {
            let error = ControlError(.invalidValue, "a batch cannot be prepared with these options")
            outError?.pointee = error.cocoa(nil, isWriting: false)
            return
        }
        let wanted =
            readingURLs.map { Wanted.reading($0, readingOptions) }
            + writingURLs.map { Wanted.writing($0, writingOptions) }
        switch wait(for: wanted, isPreparation: true) {
        case .failure(let error): outError?.pointee = error.cocoa(wanted.first?.url, isWriting: !writingURLs.isEmpty)
        case .success(let granted):
            let end = PresenterReply(ifDropped: nil) { _ in granted.release() }
            batchAccessor { end.give() }
        }
    }

    // MARK: Waiting

    /// Requests items, waits, and runs `body` while they are held.
    private func access(_ wanted: [Wanted], _ outError: NSErrorPointer, _ body: ([URL]) -> Void) {
        switch wait(for: wanted, isPreparation: false) {
        case .failure(let error):
            outError?.pointee = error.cocoa(wanted.first?.url, isWriting: wanted.contains(where: \.isWriting))
        case .success(let granted):
            let snapshots: Snapshots
            do {
                snapshots = try Snapshots(of: granted.urls, wanted)
            } catch {
                granted.release()
                outError?.pointee = error as NSError
                return
            }
            defer { snapshots.remove() }
            // No program has to wait for the reader of a snapshot.
            let isReleased = snapshots.areAll
            if isReleased { granted.release() }
            let context = isReleased ? CoordinationContext.current : granted.context()
            CoordinationContext.$current.withValue(context) { body(snapshots.urls) }
            if !isReleased { granted.release() }
            lookAgain()
        }
    }

    private func wait(for wanted: [Wanted], isPreparation: Bool) -> Result<Granted, ControlError> {
        guard !isCancelled else { return .failure(ControlError(.cancelled, "cancelled")) }
        let result: Result<Granted, ControlError>
        if let queue = OperationQueue.current {
            result = wait(for: wanted, isPreparation, on: queue)
        } else {
            let answer = Awaited<Result<Granted, ControlError>>()
            acquire(wanted, isPreparation: isPreparation, in: .current) { answer.set($0) }
            result = answer.wait()
        }
        if case .success(let granted) = result, isCancelled {
            granted.release()
            return .failure(ControlError(.cancelled, "cancelled"))
        }
        return result
    }

    /// Waits on a thread of an operation queue. The presenters on that queue need the thread, so it handles their
    /// questions meanwhile.
    private func wait(
        for wanted: [Wanted], _ isPreparation: Bool, on queue: OperationQueue
    ) -> Result<Granted, ControlError> {
        let waiter = QueueWaiter()
        PresenterCenter.shared.add(waiter, on: queue)
        defer { PresenterCenter.shared.remove(waiter, on: queue) }
        let answer = Answered<Result<Granted, ControlError>>()
        acquire(wanted, isPreparation: isPreparation, in: .current) { result in
            answer.set(result)
            waiter.signal.signal()
        }
        while true {
            if let result = answer.value { return result }
            if !PresenterCenter.shared.handleQuestion(on: queue) { waiter.signal.wait() }
        }
    }
}
