// What is given up on request, and what is not, through the container's own interface.

import CLinux
import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct PurgingTests: OperationTesting {
    @Test func purgedHistoryIsGoneFromTheDisk() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two", "three"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let old = document.versions.filter { $0.kind == .history }
        #expect(kind { _ = try tree.container.purge(document, document.current, as: my) } == .invalid)
        let outcome = try tree.container.purge(document, nil, as: my)
        #expect(outcome.versions.count == 2 && outcome.bytes == 6)
        for version in old { #expect(!tree.container.store.contents.contains(version.content)) }
        #expect(try tree.container.document(at: path("a.txt"), as: my).versions.count == 1)
        #expect(try tree.live("a.txt") == "three")
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func purgingTheDeletedAreaTakesHistoryAlong() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two"] { try tree.save("a.txt", words) }
        try tree.unlink("a.txt")
        let deletion = try tree.container.deletion(at: path("a.txt"), as: my)
        #expect(try tree.container.purgeDeleted(before: deletion.deleted, as: my).deleted == 0)
        let outcome = try tree.container.purgeDeleted(before: nil, as: my)
        #expect(outcome.deleted == 1 && outcome.versions.count == 2)
        #expect(try tree.container.store.allVersions().isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func pinnedVersionsStayPinned() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two"] { try tree.save("a.txt", words) }
        var document = try tree.container.document(at: path("a.txt"), as: my)
        for version in document.versions { _ = try tree.container.pin(version, of: document, true, as: my) }
        document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(document.versions.allSatisfy { $0.flags.contains(.pinned) })
        try tree.save("a.txt", "three")
        document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(document.versions.map { $0.flags.contains(.pinned) } == [false, true, true])
        #expect(try tree.container.thin(dryRun: true, as: my).versions.isEmpty)
    }

    // MARK: Contents that several versions share

    /// All that lies in the state besides the catalog and its log.
    private func kept(_ tree: BrowsedContainer) throws -> [String] {
        try ["objects", "deleted", "staging"].flatMap { area in
            let directory = "\(tree.path)/.versionsfs/\(area)"
            return try FileManager.default.subpathsOfDirectory(atPath: directory).compactMap { name in
                try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
            }
        }.sorted()
    }

    /// Saves something, and appends to it so much later that each is a version.
    private func append(_ tree: BrowsedContainer, _ name: String, _ texts: String...) throws {
        for text in texts {
            tree.clock.advance(seconds: 100)
            try tree.save(name, text, flags: (try tree.find(name)) == nil ? O_TRUNC : O_APPEND)
        }
    }

    private func purge(_ tree: BrowsedContainer, _ name: String, _ content: String) throws -> RemovalOutcome {
        let document = try tree.container.document(at: path(name), as: my)
        let version = try #require(try document.versions.first { try text($0, document, tree) == content })
        return try tree.container.purge(document, version, as: my)
    }

    private func texts(_ tree: BrowsedContainer, _ name: String) throws -> [String] {
        let document = try tree.container.document(at: path(name), as: my)
        return try document.versions.map { try text($0, document, tree) }
    }

    @Test("What was appended is gone with its version, though the one before is its beginning")
    func appended() throws {
        let tree = try BrowsedContainer()
        try append(tree, "a.txt", "public\n", "SECRET\n")
        try tree.save("a.txt", "clean\n")
        #expect(try texts(tree, "a.txt") == ["clean\n", "public\nSECRET\n", "public\n"])
        let before = tree.container.store.space.history
        let outcome = try purge(tree, "a.txt", "public\nSECRET\n")
        #expect(outcome.bytes == 7)
        #expect(try kept(tree) == ["public\n"])
        #expect(try texts(tree, "a.txt") == ["clean\n", "public\n"])
        #expect(tree.container.store.space.history <= before)
        let rest = try #require(try tree.container.document(at: path("a.txt"), as: my).versions.last)
        #expect(try tree.container.store.contents.labels(of: rest.content).map(\.version.id) == [rest.id])
        #expect(try tree.findings() == [])
        #expect(try purge(tree, "a.txt", "public\n").bytes == 7)
        #expect(try kept(tree) == [])
    }

    @Test("What a longer version has, too, stays until that goes; and the count says what went")
    func middle() throws {
        let tree = try BrowsedContainer()
        try append(tree, "a.txt", "one\n", "two\n", "three\n")
        // In the file itself, which has it all.
        #expect(try purge(tree, "a.txt", "one\ntwo\n").bytes == 0)
        try append(tree, "a.txt", "four\n")
        try tree.save("a.txt", "clean\n")
        #expect(try purge(tree, "a.txt", "one\ntwo\nthree\n").bytes == 0)
        #expect(try kept(tree) == ["one\ntwo\nthree\nfour\n"])
        #expect(try purge(tree, "a.txt", "one\ntwo\nthree\nfour\n").bytes == 15)
        #expect(try kept(tree) == ["one\n"] && texts(tree, "a.txt") == ["clean\n", "one\n"])
        #expect(try tree.findings() == [])
    }

    @Test("All at once: an object counts once")
    func all() throws {
        let tree = try BrowsedContainer()
        try append(tree, "a.txt", "one\n", "two\n")
        try tree.save("a.txt", "clean\n")
        let document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(try tree.container.purge(document, nil, as: my).bytes == 8)
        #expect(try kept(tree) == [])
    }

    @Test("What another document's file holds stays there, and only there")
    func ofAnother() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "one\n")
        try tree.move("a.txt", to: "b.txt")
        try tree.save("a.txt", "two\n")
        #expect(try texts(tree, "a.txt") == ["two\n", "one\n"])
        // It is in b.txt and nowhere else: nothing becomes free.
        #expect(try purge(tree, "a.txt", "one\n").bytes == 0)
        #expect(try tree.live("b.txt") == "one\n" && texts(tree, "a.txt") == ["two\n"])
        #expect(try tree.findings() == [])
    }

    @Test("Of a content that another document's version begins, the rest goes")
    func beginningOfAnother() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "public\n")
        try tree.move("a.txt", to: "b.txt")
        try tree.save("a.txt", "two\n")
        try append(tree, "b.txt", "SECRET\n")
        try tree.save("b.txt", "clean\n")
        #expect(try purge(tree, "b.txt", "public\nSECRET\n").bytes == 7)
        #expect(try kept(tree) == ["public\n"])
        #expect(try texts(tree, "a.txt") == ["two\n", "public\n"])
        #expect(try texts(tree, "b.txt") == ["clean\n", "public\n"])
        #expect(try tree.findings() == [])
    }

    @Test("A deleted file that begins with another document's version is cut to that")
    func deletedBeginning() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "public\n")
        try tree.move("a.txt", to: "b.txt")
        try tree.save("a.txt", "two\n")
        try append(tree, "b.txt", "SECRET\n")
        try tree.unlink("b.txt")
        #expect(try tree.container.purgeDeleted(before: nil, as: my).bytes == 7)
        #expect(try kept(tree) == ["public\n"])
        #expect(try texts(tree, "a.txt") == ["two\n", "public\n"])
        #expect(try tree.findings() == [])
    }

    @Test("Whoever reads a version that stays reads on; and a lost catalog does not know what went")
    func cutWhileRead() throws {
        let tree = try BrowsedContainer()
        try append(tree, "a.txt", "public\n", "SECRET\n")
        try tree.save("a.txt", "clean\n")
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let first = try #require(document.versions.last)
        let reading = try tree.container.content(of: first, in: document)
        _ = try purge(tree, "a.txt", "public\nSECRET\n")
        var bytes = [UInt8](repeating: 0, count: 7)
        #expect(pread(reading.raw, &bytes, 7, 0) == 7 && bytes == Array("public\n".utf8))
        tree.close()
        for name in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm", "redo"] {
            unlink("\(tree.path)/.versionsfs/\(name)")
        }
        let after = try BrowsedContainer(at: tree.path, later: 1000)
        #expect(try texts(after, "a.txt").contains("public\n"))
        #expect(try texts(after, "a.txt").allSatisfy { !$0.contains("SECRET") })
        #expect(try kept(after).allSatisfy { !$0.contains("SECRET") })
        after.close()
    }

    @Test("Those who purge at the same time leave what remains, and nothing more")
    func together() throws {
        for _ in 0..<8 {
            let tree = try BrowsedContainer()
            try append(tree, "a.txt", "1\n", "2\n", "3\n", "4\n", "5\n")
            try tree.save("a.txt", "clean\n")
            let document = try tree.container.document(at: path("a.txt"), as: my)
            let going = document.versions.filter { $0.kind == .history && $0.size > 2 }
            let bytes = Mutex<UInt64>(0)
            DispatchQueue.concurrentPerform(iterations: going.count) { [container = tree.container, my] index in
                guard let outcome = try? container.purge(document, going[index], as: my) else { return }
                bytes.withLock { $0 += outcome.bytes }
            }
            #expect(bytes.withLock { $0 } == 8)
            #expect(try kept(tree) == ["1\n"] && texts(tree, "a.txt") == ["clean\n", "1\n"])
            #expect(try tree.findings() == [])
        }
    }
}
