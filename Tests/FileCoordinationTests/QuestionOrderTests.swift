// Presenters whose handlers of news take long, on queues of every kind: questions come before news that has not begun.

import FileCoordination
import Foundation
import Testing

@Suite("Questions to presenters that are behind with news", .timeLimit(.minutes(2)))
struct QuestionOrderTests {
    /// Ways to run one operation at a time.
    enum Kind: String, CaseIterable {
        case serial, dispatch

        func queue(_ dispatch: DispatchQueue) -> OperationQueue {
            let queue = OperationQueue()
            switch self {
            case .serial: queue.maxConcurrentOperationCount = 1
            case .dispatch: queue.underlyingQueue = dispatch
            }
            return queue
        }
    }

    @Test(
        """
        a question waits for the handler that runs, and for none of the news behind that; news comes once and in order
        """, arguments: Kind.allCases)
    func overtaking(_ kind: Kind) throws {
        try inDirectory { directory in
            // A queue of operations does not hold on to this one.
            let dispatch = DispatchQueue(label: "presenter")
            defer { withExtendedLifetime(dispatch) {} }
            let presenter = RecordingPresenter(directory, on: kind.queue(dispatch))
            let (handling, handled) = (Gate(), DispatchSemaphore(value: 0))
            presenter.behavior.toldOfSubitem = {
                handling.open()
                handled.wait()
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let files = (0..<20).map { directory.appendingPathComponent("\($0)") }
            for file in files {
                NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { try? Data().write(to: $0) }
            }
            handling.pass()
            let (waits, granted) = (Gate(), Gate())
            let seen = Collected<[String]>()
            Thread.detachNewThread {
                let coordinator = NSFileCoordinator()
                coordinator.heldUpHandler = { _ in waits.open() }
                coordinator.coordinate(readingItemAt: directory, options: .withoutChanges, error: nil) { _ in
                    seen.add(presenter.words)
                }
                granted.open()
            }
            // The queue is the program's: what runs on it is not interrupted.
            waits.pass()
            #expect(presenter.words == ["0 appeared"])
            handled.signal()
            granted.pass()
            #expect(seen.all.first?.prefix(2) == ["0 appeared", "relinquish to reader"])
            for _ in files { handled.signal() }
            let words = presenter.await("reacquire from reader")
            let news = files.map { "\($0.lastPathComponent) appeared" }
            #expect(words == [news[0], "relinquish to reader"] + news[1...] + ["reacquire from reader"])
        }
    }

    @Test("an item is not said to be the presenter's again while somebody has it to whom it has let go meanwhile")
    func askedAgain() throws {
        try inDirectory { directory in
            let (file, new) = (directory.appendingPathComponent("a"), directory.appendingPathComponent("b"))
            let presenter = RecordingPresenter(file, on: OperationQueue())
            let (handling, goOn) = (Gate(), Gate())
            presenter.behavior.changed = {
                handling.open()
                goOn.pass()
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { try? Data().write(to: $0) }
            handling.pass()
            let mover = NSFileCoordinator()
            mover.coordinate(writingItemAt: file, options: .forMoving, error: nil) { url in
                goOn.open()
                try? FileManager.default.moveItem(at: url, to: new)
                mover.item(at: url, didMoveTo: new)
                presenter.await("moved to b")
            }
            let words = presenter.await { $0.count { $0 == "reacquire from writer" } == 2 }
            let before = ["relinquish to writer", "changed", "relinquish to writer", "moved to b"]
            #expect(words == before + ["reacquire from writer", "reacquire from writer"])
        }
    }

    @Test("a document that is asked to save before it is told of its move is saved where it is by then")
    func savingBehindMove() throws {
        try inDirectory { directory in
            let (old, new) = (directory.appendingPathComponent("a"), directory.appendingPathComponent("b"))
            try Data("old".utf8).write(to: old)
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let presenter = RecordingPresenter(old, on: queue)
            presenter.behavior.save = {
                var error: NSError?
                guard let url = presenter.presentedItemURL else { return nil }
                NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: url, error: &error) { url in
                    try? Data("new".utf8).write(to: url)
                }
                return error
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            #expect(readBehindMove(of: old, to: new, presentedOn: queue) == "new")
            #expect(!FileManager.default.fileExists(atPath: old.path))
            presenter.await("moved to b")
        }
    }
}

/// Moves a file, and reads it once a reader waits for its presenter, which has heard nothing of the move until then.
func readBehindMove(of old: URL, to new: URL, presentedOn queue: OperationQueue) -> String? {
    let (isBusy, waits, goOn) = (Gate(), Gate(), Gate())
    let mover = NSFileCoordinator()
    mover.coordinate(writingItemAt: old.deletingLastPathComponent(), options: .forMoving, error: nil) { _ in
        queue.addOperation {
            isBusy.open()
            goOn.pass()
        }
        isBusy.pass()
        try? FileManager.default.moveItem(at: old, to: new)
        mover.item(at: old, didMoveTo: new)
    }
    Thread.detachNewThread {
        waits.pass()
        goOn.open()
    }
    var text: String?
    let reader = NSFileCoordinator()
    reader.heldUpHandler = { _ in waits.open() }
    reader.coordinate(readingItemAt: new, error: nil) { text = try? String(contentsOf: $0, encoding: .utf8) }
    return text
}
