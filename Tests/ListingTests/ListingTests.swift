// The listings at work: on a real mount, between this process and others.

import FileCoordination
import Dispatch
import Foundation
import Glibc
import Support
import Testing

@Suite("Listings", .serialized, .timeLimit(.minutes(3))) struct ListingTests {
    private func image(_ text: String) -> Data { Data("IMG \(text)".utf8) }

    /// Waits for something that is told on another thread.
    private func answer<Value>(_ begin: (@escaping (Value) -> Void) -> Void) throws -> Value {
        var value: Value?
        let hasCome = DispatchSemaphore(value: 0)
        begin {
            value = $0
            hasCome.signal()
        }
        _ = hasCome.wait(timeout: .now() + 60)
        return try #require(value)
    }

    @Test("a document is created, saved in place by adding and removing images, and read image by image")
    func document() throws {
        try withMountedDirectory { container, directory in
            let document = Document(fileURL: directory.appendingPathComponent("holiday.sicd"))
            document.change("one", to: image("1"))
            #expect(try answer { document.save(to: document.fileURL, for: .forCreating, completionHandler: $0) })
            document.open()
            defer { document.close() }
            document.change("two", to: image("2"))
            document.change("one", to: nil)
            #expect(try answer { document.save(to: document.fileURL, for: .forOverwriting, completionHandler: $0) })
            let two = try answer { done in document.retrieveImageAsynchronously(with: "two") { done($0?.data) } }
            #expect(two == image("2"))
            let one = try answer { done in document.retrieveImageAsynchronously(with: "one") { done($0?.data) } }
            #expect(one == nil)
            // Others wait for it, and it for others.
            try container.must(
                "coordinate", "write", "holiday.sicd/two", "--", "sh", "-c", "printf 'IMG 3' > holiday.sicd/two")
            let changed = try answer { done in document.retrieveImageAsynchronously(with: "two") { done($0?.data) } }
            #expect(changed == image("3"))
        }
    }

    @Test("a query finds the documents, in order, and hears of a new one") func query() throws {
        try withMountedDirectory { container, directory in
            try shell("mkdir b.sicd a.sicd; echo 1 > b.sicd/x; echo 1 > other.txt", in: container.path)
            // The container that programs mean by no identifier.
            setenv(FileManager.ubiquityContainerVariable, directory.path, 1)
            defer { unsetenv(FileManager.ubiquityContainerVariable) }
            let provider = try MetadataProvider()
            try provider.hear(.NSMetadataQueryDidFinishGathering) { provider.metadataQuery.start() }
            #expect(provider.metadataItemList().map(\.name) == ["a.sicd", "b.sicd"])
            try provider.hear(.NSMetadataQueryDidUpdate) { try shell("mkdir c.sicd", in: container.path) }
            #expect(provider.metadataItemList().map(\.name) == ["a.sicd", "b.sicd", "c.sicd"])
            provider.metadataQuery.stop()
        }
    }

    @Test("a conflict is resolved by taking the version that was modified last") func conflict() throws {
        try withMountedDirectory { container, directory in
            try shell("echo mine > a.sicd", in: container.path)
            try container.must("simulate", "conflict", "a.sicd")
            let document = Document(fileURL: directory.appendingPathComponent("a.sicd"))
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL)?.count == 1)
            let resolver = ConflictResolver()
            _ = try answer { resolver.resolveConflictsAsynchronously(document: document, completionHandler: $0) }
            #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL) == [])
            #expect(NSFileVersion.otherVersionsOfItem(at: document.fileURL) == [])
        }
    }

    @Test("the shoebox hears of a new picture, of a change of it, of a conflict and of its resolution")
    func shoebox() throws {
        try withMountedDirectory { container, directory in
            let shoebox = PictureShoebox(directory)
            NSFileCoordinator.addFilePresenter(shoebox)
            defer { NSFileCoordinator.removeFilePresenter(shoebox) }
            let url = directory.appendingPathComponent("sunset.pict", isDirectory: false)
            let picture = Picture(url: url, image: image("sunset"))
            var error: NSError?
            #expect(picture.save(error: &error))
            #expect(error == nil)
            #expect(shoebox.wait { pictures, _ in pictures[url]?.image == self.image("sunset") })
            try shell("printf 'IMG night' > sunset.pict/image", in: container.path)
            #expect(shoebox.wait { pictures, _ in pictures[url]?.image == self.image("night") })
            try container.must("simulate", "conflict", "sunset.pict/image")
            #expect(shoebox.wait { _, conflicts in conflicts[url]?.count == 1 })
            try container.must("resolve", "sunset.pict/image", "--keep", "current")
            #expect(shoebox.wait { _, conflicts in conflicts[url]?.isEmpty ?? false })
        }
    }
}

extension MetadataProvider {
    /// Does something and waits for a notification.
    func hear(_ name: NSNotification.Name, of body: () throws -> Void) throws {
        let hasCome = DispatchSemaphore(value: 0)
        let observer = NotificationCenter.default.addObserver(forName: name, object: metadataQuery, queue: nil) { _ in
            hasCome.signal()
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try body()
        guard hasCome.wait(timeout: .now() + 60) == .success else { throw Failure("\(name.rawValue) has not come") }
    }
}

/// A directory of a mounted container.
private func withMountedDirectory(_ body: (TestContainer, URL) throws -> Void) throws {
    try withContainer(named: "listings") { container in
        try body(container, URL(fileURLWithPath: container.path, isDirectory: true))
        return []
    }
}
