// The other versions of documents that were deleted: found by their names, live directory or not.

import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("Versions of deleted documents")
struct BrowsingGoneTests: OperationTesting {
    private let tree: BrowsedContainer

    init() throws { tree = try BrowsedContainer() }

    @Test("a deleted document's older versions are under its name, and nobody lists it")
    func deleted() throws {
        for text in ["one", "two", "three"] { try tree.save("a.txt", text) }
        try tree.unlink("a.txt")
        #expect(try tree.list(".versions") == [".deleted"])
        let names = try tree.list(".versions/a.txt/history")
        #expect(try names.map { try tree.read(".versions/a.txt/history/\($0)") } == ["two", "one"])
        #expect(try tree.list(".versions/a.txt/conflicts") == [])
        #expect(try tree.find(".versions/b.txt") == nil)
    }

    @Test("they are found by their names though another document has the name now, and belong to no other name")
    func replaced() throws {
        for text in ["one", "two"] { try tree.save("a.txt", text) }
        try tree.unlink("a.txt")
        let old = try tree.only(".versions/a.txt/history")
        tree.clock.advance(seconds: 60)
        try tree.save("a.txt", "another")
        try tree.save("b.txt", "x")
        try tree.save("b.txt", "y")
        #expect(try tree.list(".versions/a.txt/history") == [])
        #expect(try tree.read(old) == "one")
        let name = try #require(old.split(separator: "/").last)
        #expect(try tree.find(".versions/b.txt/history/\(name)") == nil)
        #expect(try tree.find(".versions/a.txt/conflicts/\(name)") == nil)
    }

    @Test("below a deleted directory they are beside its entry")
    func withTheirDirectory() throws {
        for name in ["d", "d/sub"] { try tree.makeDirectory(name) }
        for text in ["one", "two"] { try tree.save("d/sub/a.txt", text) }
        try tree.unlink("d/sub/a.txt")
        for name in ["d/sub", "d"] { try tree.removeDirectory(name) }
        let path = ".versions/.deleted/d/sub/.versions"
        #expect(try tree.list(".versions/.deleted/d/sub") == ["a.txt"])
        #expect(try tree.list(path) == ["a.txt"])
        #expect(try tree.read(try tree.only("\(path)/a.txt/history")) == "one")
        // Who may pass but not list finds what he knows; the owner lists.
        #expect(try tree.mode("\(path)/a.txt") == 0o511 && tree.mode("\(path)/a.txt/history") == 0o511)
        #expect(try tree.mode(path) == 0o555)
        #expect(try tree.find(".versions/.deleted/d/sub/a.txt/.versions") == nil)
    }

    @Test("a deleted document's loser is there to be read, and not to be resolved")
    func losers() throws {
        for text in ["one", "two"] { try tree.save("a.txt", text) }
        try tree.addConflict("a.txt", "loser")
        try tree.unlink("a.txt")
        let loser = try tree.only(".versions/a.txt/conflicts")
        #expect(try tree.read(loser) == "loser")
        #expect(failure { try tree.rename(loser, to: "a.txt") } == ENOENT)
        #expect(try tree.mode(".versions/a.txt/conflicts") == 0o511)
    }

    @Test("a version whose content was given up is not listed; opening it says that the data are not there")
    func lost() throws {
        for text in ["one", "two", "three"] { try tree.save("a.txt", text) }
        let name = try #require(try tree.list(".versions/a.txt/history").first)
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let version = try #require(document.versions.first { name.contains($0.id.short) })
        try tree.container.store.contents.remove(version.content)
        tree.container.store.commit([.flags(version.id, version.flags.union(.contentLost))])
        #expect(try tree.list(".versions/a.txt/history").count == 1)
        #expect(failure { _ = try tree.read(".versions/a.txt/history/\(name)") } == ENODATA)
    }
}
