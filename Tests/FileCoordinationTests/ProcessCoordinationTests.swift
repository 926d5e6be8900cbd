// Coordinators and presenters of one process, outside of any container.

import FileCoordination
import Foundation
import Testing

@Suite("Coordination in one process", .timeLimit(.minutes(2)))
struct ProcessCoordinationTests {
    @Test("an access runs on the calling thread with the item's URL, and leaves no error")
    func simplest() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            var error: NSError?
            var seen: URL?
            let caller = Thread.current
            NSFileCoordinator().coordinate(writingItemAt: file, options: .forReplacing, error: &error) { url in
                seen = url
                #expect(Thread.current == caller)
                #expect(throws: Never.self) { try Data("1".utf8).write(to: url) }
            }
            #expect(seen == file && error == nil)
            NSFileCoordinator().coordinate(readingItemAt: file, error: nil) { url in
                #expect((try? String(contentsOf: url, encoding: .utf8)) == "1")
            }
        }
    }

    @Test(
        "what cannot be coordinated fails with an error of the kind that Apple's gives, and the accessor is not called")
    func failures() throws {
        try inDirectory { directory in
            func code(_ url: URL, _ options: NSFileCoordinator.WritingOptions) -> String {
                var error: NSError?
                NSFileCoordinator().coordinate(writingItemAt: url, options: options, error: &error) { _ in
                    Issue.record("the accessor was called")
                }
                return error.map { "\($0.domain) \($0.code)" } ?? "none"
            }
            let file = directory.appendingPathComponent("a")
            #expect(code(file, [.forDeleting, .forMoving]) == "NSPOSIXErrorDomain \(EINVAL)")
            #expect(URL(string: "https://example.org/a").map { code($0, []) } == "NSPOSIXErrorDomain \(EINVAL)")
            var error: NSError?
            NSFileCoordinator().prepare(
                forReadingItemsAt: [], options: [], writingItemsAt: [file], options: .forReplacing, error: &error
            ) { _ in Issue.record("the batch was begun") }
            #expect(error?.code == Int(EINVAL))
        }
    }

    @Test("64 threads that write one file take turns")
    func contention() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("count")
            try Data("0".utf8).write(to: file)
            onThreads(64) { _ in
                NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
                    let count = (try? String(contentsOf: url, encoding: .utf8)).flatMap { Int($0) } ?? -1
                    try? Data("\(count + 1)".utf8).write(to: url)
                }
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == "64")
        }
    }

    @Test("accesses of one item are granted in the order in which they were asked for")
    func order() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let order = Collected<Int>()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let group = DispatchGroup()
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in
                for number in 0..<64 {
                    group.enter()
                    NSFileCoordinator().coordinate(with: [.writingIntent(with: file)], queue: queue) { error in
                        if error == nil { order.add(number) }
                        group.leave()
                    }
                }
                #expect(order.all.isEmpty)
            }
            group.wait()
            #expect(order.all == Array(0..<64))
        }
    }

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

    @Test("cancelled from another thread, what waits fails, and so does what comes later")
    func cancelling() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let coordinator = NSFileCoordinator()
            let codes = Collected<Int>()
            let presenter = RecordingPresenter(file)
            let (asked, finished) = (Gate(), Gate())
            presenter.behavior.relinquish = { _ in
                asked.open()
                finished.pass()
            }
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            Thread.detachNewThread {
                asked.pass()
                coordinator.cancel()
            }
            for _ in 0..<2 {
                var error: NSError?
                coordinator.coordinate(readingItemAt: file, error: &error) { _ in
                    Issue.record("the accessor was called")
                }
                codes.add(error?.code ?? 0)
            }
            finished.open()
            #expect(codes.all == [CocoaError.userCancelled.rawValue, CocoaError.userCancelled.rawValue])
            presenter.await("reacquire from reader")
        }
    }

    @Test(
        "nested accesses: those of one coordinator go on; another one's of the same item would wait for ever, and fails"
    )
    func nesting() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            let coordinator = NSFileCoordinator()
            var (own, other): (NSError?, NSError?)
            var wasCalled = false
            coordinator.coordinate(writingItemAt: file, error: nil) { url in
                coordinator.coordinate(writingItemAt: url, error: &own) { _ in wasCalled = true }
                NSFileCoordinator().coordinate(readingItemAt: url, error: &other) { _ in
                    Issue.record("the accessor was called")
                }
            }
            #expect(wasCalled && own == nil)
            #expect(other?.domain == NSPOSIXErrorDomain && other?.code == Int(EDEADLK))
            #expect(other?.localizedDescription.contains(file.path) == true)
        }
    }

    @Test("two that take two items crosswise: one of them fails and the other goes on")
    func crosswise() throws {
        try inDirectory { directory in
            let files = ["a", "b"].map { directory.appendingPathComponent($0) }
            let gates = [Gate(), Gate()]
            let codes = Collected<Int>()
            onThreads(2) { index in
                NSFileCoordinator().coordinate(writingItemAt: files[index], error: nil) { _ in
                    gates[index].open()
                    gates[1 - index].pass()
                    var error: NSError?
                    NSFileCoordinator().coordinate(writingItemAt: files[1 - index], error: &error) { _ in codes.add(0) }
                    if let error { codes.add(error.code) }
                }
            }
            #expect(codes.all.sorted() == [0, Int(EDEADLK)])
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

    @Test("purposes: the same name never excludes, another does, and what looks like a token is one")
    func purposes() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a")
            // Where the key of purposes is kept; nothing else in this process asks for it.
            setenv("XDG_STATE_HOME", directory.path, 1)
            func code(_ name: String, inside outer: String) -> Int {
                let (one, other) = (NSFileCoordinator(), NSFileCoordinator())
                one.purposeIdentifier = outer
                other.purposeIdentifier = name
                #expect(other.purposeIdentifier == name)
                var error: NSError?
                one.coordinate(writingItemAt: file, error: nil) { url in
                    other.coordinate(writingItemAt: url, error: &error) { _ in }
                }
                return error?.code ?? 0
            }
            #expect(code("com.example.a", inside: "com.example.a") == 0)
            #expect(code("com.example.a", inside: "com.example.b") == Int(EDEADLK))
            let token = NSFileCoordinator().purposeIdentifier
            #expect(token.count == 32 && token != NSFileCoordinator().purposeIdentifier)
            #expect(code(token, inside: token) == 0)
            let presenter = RecordingPresenter(file)
            let (one, other) = (
                NSFileCoordinator(filePresenter: presenter), NSFileCoordinator(filePresenter: presenter)
            )
            one.purposeIdentifier = "mine"
            #expect(one.purposeIdentifier == other.purposeIdentifier && one.purposeIdentifier != "mine")
        }
    }

    @Test("a reader for uploading has a copy, and nobody waits for it")
    func uploading() throws {
        try inDirectory { directory in
            let file = directory.appendingPathComponent("a.txt")
            try Data("old".utf8).write(to: file)
            var copy: URL?
            NSFileCoordinator().coordinate(readingItemAt: file, options: .forUploading, error: nil) { url in
                var wasCalled = false
                NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { url in
                    wasCalled = true
                    try? Data("new".utf8).write(to: url)
                }
                #expect(wasCalled && url != file && url.lastPathComponent == "a.txt")
                #expect((try? String(contentsOf: url, encoding: .utf8)) == "old")
                copy = url
            }
            #expect(copy.map { FileManager.default.fileExists(atPath: $0.path) } == false)
        }
    }

    @Test("a symbolic link is accessed itself, or what it leads to")
    func links() throws {
        try inDirectory { directory in
            let (file, link) = (directory.appendingPathComponent("a"), directory.appendingPathComponent("link"))
            try Data().write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            NSFileCoordinator().coordinate(readingItemAt: link, options: .withoutChanges, error: nil) {
                #expect($0 == link)
            }
            #expect(presenter.words.isEmpty)
            NSFileCoordinator().coordinate(readingItemAt: link, options: .resolvesSymbolicLink, error: nil) {
                #expect($0.path == file.path)
            }
            presenter.await("relinquish to reader")
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
