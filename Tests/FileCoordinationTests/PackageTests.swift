// Packages, and batches of accesses, in a container.

import FileCoordination
import Foundation
import Support
import Testing

@Suite("Packages and batches, in a container", .serialized, .timeLimit(.minutes(2)))
struct PackageTests {
    /// Presents a package as one item: it follows nothing that is in it.
    private final class Viewer: NSObject, NSFilePresenter, Sendable {
        let presentedItemURL: URL?
        let presentedItemOperationQueue = OperationQueue()
        let heard = Gate()
        init(_ url: URL) { presentedItemURL = url }
        func presentedItemDidChange() { heard.open() }
    }

    private func withPackage(_ body: (TestContainer, URL) throws -> [String]) throws {
        try withContainer(files: ["p.pack/a": "1"], settings: ["packages.extensions": "[\"pack\"]"]) { container in
            try body(container, URL(fileURLWithPath: container.file("p.pack")))
        }
    }

    @Test(
        """
        of what is in it a package's presenter hears by name, and one that follows no contents that the package has \
        changed
        """)
    func contents() throws {
        try withPackage { container, url in
            let (follower, viewer) = (RecordingPresenter(url), Viewer(url))
            NSFileCoordinator.addFilePresenter(follower)
            NSFileCoordinator.addFilePresenter(viewer)
            defer {
                NSFileCoordinator.removeFilePresenter(follower)
                NSFileCoordinator.removeFilePresenter(viewer)
            }
            try shell("echo 22 > p.pack/a; mkdir p.pack/n; mv p.pack/a p.pack/b", in: container.path)
            for words in ["a changed", "n appeared", "a moved to b"] { follower.await(words) }
            viewer.heard.pass()
            return []
        }
    }

    @Test("who reads or deletes something in a package has the package's presenter save, or make room")
    func asking() throws {
        try withPackage { container, url in
            let presenter = RecordingPresenter(url)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            try container.must("coordinate", "read", "p.pack/a", "--", "cat", "p.pack/a")
            let read = presenter.await("reacquire from reader")
            try container.must("coordinate", "write", "--for-deleting", "p.pack/a", "--", "rm", "p.pack/a")
            presenter.await("accommodate a")
            return read == ["relinquish to reader", "save", "reacquire from reader"] ? [] : ["\(read)"]
        }
    }

    @Test("a batch has presenters asked once, also those of what is in the directory, until it ends")
    func preparing() throws {
        try withContainer(files: ["d/a": "1"]) { container in
            let file = URL(fileURLWithPath: container.file("d/a"))
            let presenter = RecordingPresenter(file)
            NSFileCoordinator.addFilePresenter(presenter)
            defer { NSFileCoordinator.removeFilePresenter(presenter) }
            let seen = Collected<[String]>()
            let coordinator = NSFileCoordinator()
            coordinator.prepare(
                forReadingItemsAt: [URL(fileURLWithPath: container.file("d"))], writingItemsAt: [], error: nil
            ) { end in
                for _ in 0..<3 {
                    coordinator.coordinate(readingItemAt: file, options: .withoutChanges, error: nil) { _ in
                        seen.add(presenter.words)
                    }
                }
                end()
            }
            presenter.await("reacquire from reader")
            return seen.all == Array(repeating: ["relinquish to reader", "save"], count: 3) ? [] : ["\(seen.all)"]
        }
    }
}
