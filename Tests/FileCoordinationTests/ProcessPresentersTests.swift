// Presenters of one process, and what its coordinators ask of them, outside of any container.

import FileCoordination
import Foundation
import Testing

@Suite("Presenters in one process", .timeLimit(.minutes(2)))
struct ProcessPresentersTests {
    @Test("a presenter is asked to let go and to save, saves by a coordinator of its own, and has its item back")
    func saving() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            try Data("old".utf8).write(to: file)
            let presenter = RecordingPresenter(file)
            presenter.behavior.save = {
                var error: NSError?
                NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: file, error: &error) { url in
                    try? Data("new".utf8).write(to: url)
                }
                return error
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            #expect(NSFileCoordinator.filePresenters.contains { $0 === presenter })
            NSFileCoordinator().coordinate(readingItemAt: file, error: nil) { url in
                #expect((try? String(contentsOf: url, encoding: .utf8)) == "new")
                #expect(presenter.words == ["relinquish to reader", "save"])
            }
            #expect(
                presenter.await("reacquire from reader") == ["relinquish to reader", "save", "reacquire from reader"])
            NSFileCoordinator().coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
            presenter.await { $0.count == 5 }
            NSFileCoordinator(filePresenter: presenter).coordinate(readingItemAt: file, error: nil) { _ in }
            #expect(presenter.words.count == 5)
        }
    }

    @Test("others' writes are told before the item is given back, and one's own not at all")
    func changes() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            try Data("old".utf8).write(to: file)
            let (presenter, around) = (RecordingPresenter(file), RecordingPresenter(directory))
            NSFileCoordinator.addFilePresenter(presenter)
            NSFileCoordinator.addFilePresenter(around)
            defer {
                NSFileCoordinator.removeFilePresenter(presenter)
                NSFileCoordinator.removeFilePresenter(around)
            }
            NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: file, error: nil) { url in
                try? Data("own".utf8).write(to: url)
            }
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
                try? Data("other".utf8).write(to: url)
            }
            #expect(
                presenter.await("reacquire from writer") == [
                    "relinquish to writer", "changed", "reacquire from writer",
                ])
            #expect(around.await { $0.count == 2 } == ["a changed", "a changed"])
            let new = directory.appendingPathComponent("b")
            NSFileCoordinator().coordinate(writingItemAt: new, error: nil) { url in try? Data().write(to: url) }
            around.await("b appeared")
            NSFileCoordinator().coordinate(writingItemAt: file, options: .forDeleting, error: nil) { url in
                try? FileManager.default.removeItem(at: url)
            }
            presenter.await("accommodate")
            #expect(around.await { $0.count == 5 }.suffix(2) == ["accommodate a", "a changed"])
        }
    }

    /// Implements nothing that it need not but one message.
    private final class Follower: NSObject, NSFilePresenter, Sendable {
        let presentedItemURL: URL?
        let presentedItemOperationQueue = OperationQueue()
        let heard = Gate()
        init(_ url: URL) { presentedItemURL = url }
        func presentedSubitemDidChange(at url: URL) { if url.lastPathComponent == "new" { heard.open() } }
    }

    @Test("what has come is told as a change to a presenter that makes no difference")
    func appearingAsChange() throws {
        try inDirectory { directory in
            let follower = Follower(directory)
            NSFileCoordinator.addFilePresenter(follower)
            defer { NSFileCoordinator.removeFilePresenter(follower) }
            NSFileCoordinator().coordinate(writingItemAt: directory.appendingPathComponent("new"), error: nil) { url in
                try? Data().write(to: url)
            }
            follower.heard.pass()
        }
    }

    @Test(
        """
        a move is told to whoever presents the item, something in it, or the directory; \
        a waiting reader gets the new URL
        """)
    func moves() throws {
        try inDirectory { directory in
            let (old, new) = (directory.appendingPathComponent("old"), directory.appendingPathComponent("new"))
            try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
            let inside = old.appendingPathComponent("a")
            try Data().write(to: inside)
            let presenters = [old, inside, directory].map { RecordingPresenter($0) }
            presenters.forEach { NSFileCoordinator.addFilePresenter($0) }
            defer { presenters.forEach { NSFileCoordinator.removeFilePresenter($0) } }
            let read = Collected<URL>()
            let done = Gate()
            let queue = OperationQueue()
            let mover = NSFileCoordinator()
            mover.coordinate(
                writingItemAt: old, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil
            ) {
                let intent = NSFileAccessIntent.readingIntent(with: inside, options: .withoutChanges)
                NSFileCoordinator().coordinate(with: [intent], queue: queue) { _ in
                    read.add(intent.url)
                    done.open()
                }
                try? FileManager.default.moveItem(at: $0, to: $1)
                mover.item(at: $0, didMoveTo: $1)
            }
            done.pass()
            queue.waitUntilAllOperationsAreFinished()
            #expect(read.all.map(\.path) == [new.appendingPathComponent("a").path])
            presenters[0].await("moved to new")
            presenters[1].await("moved to a")
            presenters[2].await("old moved to new")
            #expect(presenters[1].presentedItemURL?.path == new.appendingPathComponent("a").path)
        }
    }

    @Test("a presenter can keep its item from being deleted, and its words are in the error")
    func veto() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(file)
            presenter.behavior.accommodate = {
                NSError(domain: "test", code: 1, userInfo: [NSLocalizedDescriptionKey: "still needed"])
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            var error: NSError?
            NSFileCoordinator().coordinate(writingItemAt: file, options: .forDeleting, error: &error) { _ in
                Issue.record("it was deleted")
            }
            #expect(error?.localizedDescription == "still needed")
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == CocoaError.fileWriteUnknown.rawValue)
            presenter.await("reacquire from writer")
        }
    }

    @Test("a presenter that removes itself while it accommodates a deletion hears nothing more")
    func leaving() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(file)
            presenter.behavior.accommodate = {
                NSFileCoordinator.removeFilePresenter(presenter)
                return nil
            }
            NSFileCoordinator.addFilePresenter(presenter)
            var wasCalled = false
            NSFileCoordinator().coordinate(writingItemAt: file, options: .forDeleting, error: nil) { _ in
                wasCalled = true
            }
            presenter.presentedItemOperationQueue.waitUntilAllOperationsAreFinished()
            #expect(wasCalled && presenter.words == ["relinquish to writer", "accommodate"])
        }
    }

    @Test("a program that waits on its presenter's own queue asks the presenter itself")
    func ownQueue() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let presenter = RecordingPresenter(file, on: queue)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let seen = Collected<[String]>()
            queue.addOperation {
                NSFileCoordinator().coordinate(readingItemAt: file, error: nil) { _ in seen.add(presenter.words) }
            }
            presenter.await("reacquire from reader")
            #expect(seen.all == [["relinquish to reader", "save"]])
        }
    }

    @Test("two presenters that read the file when it has changed do not wait for one another")
    func readingInNotifications() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenters = (0..<2).map { _ in RecordingPresenter(file) }
            let read = DispatchGroup()
            for presenter in presenters {
                read.enter()
                presenter.behavior.changed = {
                    NSFileCoordinator(filePresenter: presenter).coordinate(readingItemAt: file, error: nil) { _ in }
                    read.leave()
                }
                NSFileCoordinator.addFilePresenter(presenter)
            }
            defer { presenters.forEach { NSFileCoordinator.removeFilePresenter($0) } }
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in try? Data("1".utf8).write(to: url)
            }
            read.wait()
        }
    }

    @Test("a presenter that lets go of its handlers without calling them is not waited for")
    func forgetting() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(file)
            presenter.behavior.answers = false
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            var error: NSError?
            NSFileCoordinator().coordinate(readingItemAt: file, error: &error) { _ in Issue.record("it was read") }
            #expect(error?.localizedDescription.contains("without calling it") == true)
            var wasCalled = false
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in wasCalled = true }
            #expect(wasCalled)
        }
    }

    @Test("a batch has presenters asked once, also those of what is in the directory, until it ends")
    func preparing() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            try Data().write(to: file)
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let coordinator = NSFileCoordinator()
            coordinator.prepare(forReadingItemsAt: [directory], writingItemsAt: [], error: nil) { end in
                #expect(presenter.words == ["relinquish to reader", "save"])
                for _ in 0..<3 {
                    coordinator.coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
                }
                #expect(presenter.words == ["relinquish to reader", "save"])
                end()
            }
            presenter.await("reacquire from reader")
        }
    }

    @Test("a presenter without an item is asked again when it has written one")
    func appearing() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(nil)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            NSFileCoordinator(filePresenter: presenter).coordinate(
                writingItemAt: file, options: .forReplacing, error: nil
            ) {
                try? Data().write(to: $0)
                presenter.presentedItemURL = $0
            }
            NSFileCoordinator().coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
            presenter.await("relinquish to reader")
            let other = directory.appendingPathComponent("b")
            NSFileCoordinator(filePresenter: presenter).coordinate(
                writingItemAt: other, options: .forReplacing, error: nil
            ) {
                presenter.presentedItemURL = $0
            }
            NSFileCoordinator().coordinate(writingItemAt: other, error: nil) { _ in }
            presenter.await("relinquish to writer")
        }
    }

    @Test(
        "64 threads that wait, and the presenter that they wait for, which has a thread of its queue's for each of them"
    )
    func manyThreads() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let presenter = RecordingPresenter(file, on: OperationQueue())
            let count = Collected<Int>()
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            onThreads(64) { index in
                NSFileCoordinator().coordinate(readingItemAt: file, error: nil) { _ in count.add(index) }
            }
            #expect(count.all.count == 64)
            presenter.await { $0.count { $0 == "reacquire from reader" } == 64 }
        }
    }
}
