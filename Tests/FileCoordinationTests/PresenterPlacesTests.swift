// Where presenters are known: with the daemon whenever there is one, with this process for as long as there is none.

import FileCoordination
import Foundation
import Support
import Testing

@Suite("Presenters and their arbiters, in a container", .serialized, .timeLimit(.minutes(3)))
struct PresenterPlacesTests {
    @Test("a presenter of a container that is mounted later is known to its daemon once its program coordinates there")
    func mountedLater() throws {
        try withContainer(files: ["a": "1", "b": "1"]) { container in
            try container.unmount()
            let presenter = RecordingPresenter(URL(fileURLWithPath: container.file("a")))
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            try container.mount()
            let other = URL(fileURLWithPath: container.file("b"))
            NSFileCoordinator().coordinate(readingItemAt: other, error: nil) { _ in }
            let list = try container.must("presenters").text
            try mustRun("sh", ["-c", "echo 22 > a"], in: container.path)
            guard !list.hasPrefix(Told.noPresenters) else { return ["presenters: \(list)"] }
            presenter.await("changed")
            return []
        }
    }

    @Test("a presenter whose program writes while the container is not mounted hears what happened before it wrote")
    func writtenBetween() throws {
        try withContainer(files: ["a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("a"))
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            try container.remount()
            // Nobody in this program knows that it was mounted for a moment.
            try mustRun("sh", ["-c", "echo 22 > a"], in: container.path)
            try container.unmount()
            let own = NSFileCoordinator(filePresenter: presenter)
            own.coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
            try container.mount()
            own.coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
            let list = try container.must("presenters").text
            guard !list.hasPrefix(Told.noPresenters) else { return ["presenters: \(list)"] }
            presenter.await("changed")
            return []
        }
    }

    /// When the presenter's program begins to stand in for a daemon that is away: before its presenter goes to another
    /// file, behind that, or not at all.
    enum StandIn: CaseIterable { case never, before, behind }

    @Test("a presenter that has gone to another file while its daemon was away is asked about that one",
        arguments: StandIn.allCases)
    func goneElsewhere(_ standIn: StandIn) throws {
        try withContainer(files: ["a": "1", "b": "1", "c": "1"]) { container in
            func file(_ name: String) -> URL { URL(fileURLWithPath: container.file(name)) }
            func read(_ name: String, _ body: () -> Void = {}) {
                let url = file(name)
                NSFileCoordinator().coordinate(readingItemAt: url, options: .withoutChanges, error: nil) { _ in body() }
            }
            let presenter = RecordingPresenter(file("a"))
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let own = NSFileCoordinator(filePresenter: presenter)
            try container.unmount()
            if standIn == .before { own.coordinate(readingItemAt: file("c"), error: nil) { _ in } }
            presenter.presentedItemURL = file("b")
            if standIn == .behind { own.coordinate(readingItemAt: file("c"), error: nil) { _ in } }
            try container.mount()
            read("c")
            var told: [String] = []
            read("b") { told = presenter.words }
            guard told == ["relinquish to reader"] else { return ["\(told)"] }
            presenter.await("reacquire from reader")
            read("a")
            presenter.presentedItemOperationQueue.waitUntilAllOperationsAreFinished()
            let all = presenter.words
            return all.count == 2 ? [] : all
        }
    }

    @Test("a presenter that goes to a file outside has back what it had let go of in the container")
    func leaving() throws {
        try withContainer(files: ["a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("a"))
            let outside = URL(fileURLWithPath: container.path).deletingLastPathComponent().appendingPathComponent("b")
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            var told: [String] = []
            NSFileCoordinator().coordinate(writingItemAt: file, error: nil) { _ in
                let own = NSFileCoordinator(filePresenter: presenter)
                own.coordinate(writingItemAt: outside, options: .forReplacing, error: nil) { url in
                    try? Data("1".utf8).write(to: url)
                    presenter.presentedItemURL = url
                }
                presenter.presentedItemOperationQueue.waitUntilAllOperationsAreFinished()
                told = presenter.words
            }
            return told == ["relinquish to writer", "reacquire from writer"] ? [] : told
        }
    }

    @Test("changes that end before the daemon has said that it tells them leave no presenter behind")
    func endedChanges() throws {
        try withContainer(files: ["a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("a"))
            for _ in 0..<50 { _ = FileChanges(of: file).makeAsyncIterator() }
            // The first comes behind what was asked for before, and the second behind what came of that.
            for _ in 0..<2 {
                NSFileCoordinator().coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in }
            }
            let list = try container.must("presenters").text
            return list.hasPrefix(Told.noPresenters) ? [] : ["presenters: \(list)"]
        }
    }

    @Test("a presenter of a link to a directory of a container hears of what is in that, where it is")
    func throughLink() throws {
        try withContainer(files: ["d/a": "1"]) { container in
            let link = URL(fileURLWithPath: container.path).deletingLastPathComponent().appendingPathComponent("link")
            let directory = URL(fileURLWithPath: container.file("d"))
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory)
            let presenter = RecordingPresenter(link)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let list = try container.must("presenters").text
            guard !list.hasPrefix(Told.noPresenters) else { return ["presenters: \(list)"] }
            try mustRun("sh", ["-c", "echo 22 > d/a"], in: container.path)
            presenter.await("a changed")
            // After an access of its own it is where it was.
            let file = link.appendingPathComponent("a")
            NSFileCoordinator(filePresenter: presenter).coordinate(readingItemAt: file, error: nil) { _ in }
            let after = try container.must("presenters").text
            return !after.hasPrefix(Told.noPresenters) ? [] : ["presenters: \(after)"]
        }
    }
}
