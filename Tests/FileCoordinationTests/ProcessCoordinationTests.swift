// Coordinators of one process, outside of any container.

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
}
