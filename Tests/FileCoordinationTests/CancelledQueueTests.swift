// Programs that cancel all that waits in their queue: what the library has put there is not lost by that.

import FileCoordination
import Foundation
import Testing

@Suite("Queues that are cleared", .timeLimit(.minutes(2)))
struct CancelledQueueTests {
    /// A queue that runs one thing at a time, and is at it until it is let on.
    private final class BusyQueue: Sendable {
        let queue: OperationQueue
        private let goOn = Gate()

        init(_ queue: OperationQueue = OperationQueue()) {
            queue.maxConcurrentOperationCount = 1
            self.queue = queue
            let (isBusy, goOn) = (Gate(), goOn)
            queue.addOperation {
                isBusy.open()
                goOn.pass()
            }
            isBusy.pass()
        }

        /// Cancels all that waits, and goes on.
        func clear() {
            queue.cancelAllOperations()
            goOn.open()
        }
    }

    @Test("an access whose queue is cleared before its turn fails as one that was cancelled, and others have the item")
    func access() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let busy = BusyQueue()
            let (codes, done) = (Collected<Int>(), Gate())
            NSFileCoordinator().coordinate(with: [.writingIntent(with: file)], queue: busy.queue) { error in
                codes.add((error as? NSError)?.code ?? 0)
                if OperationQueue.current !== busy.queue { codes.add(-1) }
                done.open()
            }
            busy.clear()
            #expect(done.isPassed(within: 20))
            #expect(codes.all == [CocoaError.userCancelled.rawValue])
            let granted = Gate()
            NSFileCoordinator().coordinate(with: [.readingIntent(with: file)], queue: OperationQueue()) { _ in
                granted.open()
            }
            #expect(granted.isPassed(within: 20))
        }
    }

    @Test("a question whose presenter's queue is cleared is asked all the same, and so are those that follow")
    func question() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let busy = BusyQueue(presenter.presentedItemOperationQueue)
            let seen = Collected<[String]>()
            let granted = Gate()
            Thread.detachNewThread {
                let reader = NSFileCoordinator()
                reader.heldUpHandler = { _ in busy.clear() }
                reader.coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in
                    seen.add(presenter.words)
                }
                granted.open()
            }
            granted.pass()
            // Had it not been asked, it would have been passed over after ten seconds.
            #expect(seen.all == [["relinquish to reader"]])
            presenter.await("reacquire from reader")
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in
                #expect(presenter.words.last == "relinquish to writer")
            }
        }
    }

    @Test("news that waits in a queue that is cleared is told all the same, each piece once and in order")
    func news() throws {
        try inDirectory { directory in
            let presenter = RecordingPresenter(directory)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let busy = BusyQueue(presenter.presentedItemOperationQueue)
            for name in ["a", "b", "c"] {
                let file = directory.appendingPathComponent(name)
                NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { try? Data().write(to: $0) }
            }
            busy.clear()
            #expect(presenter.await { $0.count == 3 } == ["a appeared", "b appeared", "c appeared"])
        }
    }
}
