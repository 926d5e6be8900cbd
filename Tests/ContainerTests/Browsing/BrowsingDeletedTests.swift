// `D/.versions/.deleted`: what was deleted, as a tree, and how it comes back.

import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("Deleted things as files")
struct BrowsingDeletedTests {
    private let tree: BrowsedContainer

    init() throws { tree = try BrowsedContainer() }

    @Test("what was deleted keeps its name; older ones of the name have their time behind it")
    func names() throws {
        try tree.save("a.txt", "first")
        try tree.unlink("a.txt")
        #expect(try tree.list(".versions") == [".deleted"])
        tree.clock.advance(seconds: 20)
        try tree.save("a.txt", "second")
        try tree.unlink("a.txt")
        let names = try tree.list(".versions/.deleted")
        #expect(names.count == 2)
        #expect(names.first == "a.txt")
        #expect(try tree.read(".versions/.deleted/a.txt") == "second")
        let older = try #require(names.last)
        #expect(older.hasPrefix("a.txt@2026-"))
        #expect(try tree.read(".versions/.deleted/\(older)") == "first")
        #expect(try tree.find(".versions/.deleted/b") == nil)
        #expect(try tree.mode(".versions/.deleted/a.txt") == 0o444)
    }

    @Test("a deleted directory contains what was deleted from it, and comes back with it")
    func directories() throws {
        try tree.makeDirectory("d")
        try tree.makeDirectory("d/sub")
        try tree.save("d/early", "early")
        try tree.unlink("d/early")
        tree.clock.advance(seconds: 3600)
        try tree.save("d/one", "1")
        try tree.save("d/sub/two", "2")
        let times = try #require(try tree.find("d")).attributes.stat
        try tree.unlink("d/sub/two")
        try tree.removeDirectory("d/sub")
        try tree.unlink("d/one")
        try tree.removeDirectory("d")
        #expect(try tree.list(".versions/.deleted") == ["d"])
        #expect(Set(try tree.list(".versions/.deleted/d")) == ["early", "one", "sub"])
        #expect(try tree.read(".versions/.deleted/d/sub/two") == "2")
        #expect(try tree.mode(".versions/.deleted/d") == 0o755)

        try tree.rename(".versions/.deleted/d", to: "back")
        #expect(try tree.live("back/one") == "1")
        #expect(try tree.live("back/sub/two") == "2")
        #expect(try tree.find("back/early") == nil)
        #expect(try tree.list(".versions/.deleted") == [])
        #expect(try tree.list("back/.versions/.deleted") == ["early"])
        let now = try #require(try tree.find("back")).attributes.stat
        #expect(now.st_ino == times.st_ino)
        #expect(Timestamp(now.st_mtim) == Timestamp(times.st_mtim))
        // The documents in it are known under their new path.
        try tree.save("back/sub/two", "two")
        #expect(try tree.read(try tree.only("back/sub/.versions/two/history")) == "2")
        let path = try tree.container.store.path(of: try tree.item("back/sub/two"))
        #expect(path?.description == "back/sub/two")
    }

    @Test("a name of several that was removed shows what it held, also once its file is under no other name")
    func notes() throws {
        try tree.save("a", "one", mode: 0o640)
        _ = try tree.container.link(tree.caller, node: try tree.node("a"), parent: Node.rootID, name: Array("b".utf8))
        tree.clock.advance(seconds: 20)
        try tree.unlink("b")
        #expect(try tree.read(".versions/.deleted/b") == "one")
        // Another file takes the name that is left.
        try tree.save("new", "something else")
        try tree.move("new", to: "a")
        #expect(try tree.read(".versions/.deleted/b") == "one")
        #expect(try #require(try tree.find(".versions/.deleted/b")).attributes.stat.st_size == 3)
        #expect(try tree.mode(".versions/.deleted/b") == 0o440)
        try tree.rename(".versions/.deleted/b", to: "c")
        #expect(try tree.live("c") == "one")
    }

    @Test("an undeleted document goes on with its history")
    func documents() throws {
        try tree.save("a", "one")
        try tree.save("a", "two")
        let item = try tree.item("a")
        try tree.unlink("a")
        try tree.save("b", "in the way")
        #expect(failure { try tree.rename(".versions/.deleted/a", to: "b") } == EEXIST)
        #expect(try tree.live("b") == "in the way")
        try tree.makeDirectory("d")
        #expect(failure { try tree.rename(".versions/.deleted/a", to: "d/.versions") } == EACCES)
        try tree.rename(".versions/.deleted/a", to: "d/c")
        #expect(try tree.live("d/c") == "two")
        #expect(try tree.find(".versions/a") == nil)
        #expect(try tree.item("d/c").id == item.id)
        #expect(try tree.read(try tree.only("d/.versions/c/history")) == "one")
        try tree.save("d/c", "three")
        #expect(try tree.item("d/c").id == item.id)
        #expect(try tree.list("d/.versions/c/history").count == 2)
        // The old name is free of it: what comes there is another document.
        try tree.save("a", "new")
        #expect(try tree.item("a").id != item.id)
        let events = try tree.container.store.changes(after: 0, limit: 100).map(\.1)
        #expect(
            events.contains { $0.event == .undeleted && $0.path.description == "d/c" && $0.from?.description == "a" })
    }

    @Test("symlinks are shown and come back; attributes of the user's stay with what they are on")
    func others() throws {
        _ = try tree.container.makeSymlink(
            tree.caller, parent: Node.rootID, name: Array("link".utf8), target: Array("to/x".utf8))
        try tree.unlink("link")
        #expect(
            try tree.browser.readLink(tree.caller, node: try tree.node(".versions/.deleted/link")) == Array("to/x".utf8)
        )
        try tree.rename(".versions/.deleted/link", to: "link")
        #expect(try tree.container.readLink(tree.caller, node: try tree.node("link")) == Array("to/x".utf8))

        try tree.save("a", "text")
        let name = Array("user.colour".utf8)
        try Array("red".utf8).withUnsafeBytes {
            try tree.container.setExtendedAttribute(
                tree.caller, node: try tree.node("a"), name: name, value: $0, flags: 0)
        }
        try tree.unlink("a")
        let deleted = try tree.node(".versions/.deleted/a")
        #expect(try tree.browser.extendedAttributes(tree.caller, node: deleted) == name + [0])
        #expect(try tree.browser.extendedAttribute(tree.caller, node: deleted, name: name) == Array("red".utf8))
        let label = failure {
            _ = try tree.browser.extendedAttribute(
                tree.caller, node: deleted, name: Array("user.versionsfs.label".utf8))
        }
        #expect(label == ENODATA)
        // An open file outlives its entry.
        let handle = try tree.browser.open(tree.caller, node: deleted, flags: O_RDONLY).handle
        try tree.rename(".versions/.deleted/a", to: "a")
        #expect(try tree.read(deleted, handle) == "text")
        #expect(try tree.browser.attributes(tree.caller, node: deleted, handle: handle).stat.st_size == 4)
        tree.browser.release(node: deleted, handle: handle)
        #expect(failure { _ = try tree.browser.attributes(tree.caller, node: deleted, handle: nil) } == ENOENT)
    }
}
