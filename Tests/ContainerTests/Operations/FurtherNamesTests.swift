// Files of several names, deleted and brought back through the container's own interface.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct FurtherNamesTests: OperationTesting {
    private func link(_ name: String, _ further: String, _ tree: BrowsedContainer) throws {
        let names = BrowsedContainer.bytes(further)
        _ = try tree.container.link(
            tree.caller, node: tree.node(name), parent: tree.find(Array(names.dropLast()))?.node ?? Node.rootID,
            name: try #require(names.last))
        // Who links and unlinks at once renames.
        tree.clock.advance(seconds: 60)
    }

    private func inode(_ name: String, _ tree: BrowsedContainer) throws -> ino_t {
        var status = stat()
        try #require(lstat("\(tree.path)/\(name)", &status) == 0, "\(name)")
        return status.st_ino
    }

    @Test(arguments: [["a", "b"], ["b", "a"]]) func allNamesOfAFileComeBackWithItsDirectory(_ order: [String]) throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        try tree.save("d/a", "old")
        try tree.save("d/a", "text")
        try link("d/a", "d/b", tree)
        let item = try tree.item("d/a").id
        for name in order { try tree.unlink("d/\(name)") }
        try tree.removeDirectory("d")
        let listed = try tree.container.deleted(within: nil, as: my)
        #expect(Set(listed.map(\.type)) == [.link, .file, .directory])
        #expect(try tree.container.undelete(tree.container.deletion(at: path("d"), as: my), as: my).entries == 3)
        #expect(try tree.live("d/a") == "text" && tree.live("d/b") == "text")
        #expect(try inode("d/a", tree) == inode("d/b", tree))
        #expect(try tree.item("d/a").id == item && tree.item("d/b").id == item)
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
        try tree.save("d/b", "next")
        let document = try tree.container.document(at: path("d/a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["next", "text", "old"])
    }

    @Test func aNameOfAFileThatStayedIsGivenBack() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text")
        try link("a", "b", tree)
        try tree.unlink("a")
        #expect(try tree.read(".versions/.deleted/a") == "text")
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try inode("a", tree) == inode("b", tree))
        // And out of `.versions`.
        try tree.unlink("b")
        try tree.rename(".versions/.deleted/b", to: "c")
        #expect(try inode("a", tree) == inode("c", tree))
        #expect(try tree.container.document(at: path("c"), as: my).item == tree.item("a").id)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aNameWhoseFileWasReplacedComesBackWithItsContent() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text", mode: 0o640)
        try link("a", "b", tree)
        try tree.unlink("a")
        try tree.save("new", "another")
        try tree.container.rename(
            tree.caller, parent: Node.rootID, name: Array("new".utf8), newParent: Node.rootID,
            newName: Array("b".utf8), flags: 0)
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try tree.live("a") == "text" && tree.mode("a") == 0o640)
        #expect(try tree.live("b") == "another")
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func purgingOneNameLeavesTheFileToTheOther() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text")
        try link("a", "b", tree)
        for name in ["a", "b"] { try tree.unlink(name) }
        _ = try tree.container.purgeDeleted(before: nil, within: path("b"), as: my)
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try tree.live("a") == "text")
        try tree.unlink("a")
        _ = try tree.container.purgeDeleted(before: nil, as: my)
        #expect(try tree.container.store.allVersions().isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aNameThatOnlyPassedLeavesNoTrace() throws {
        let tree = try BrowsedContainer()
        try tree.save("tmp_obj", "text")
        _ = try tree.container.link(
            tree.caller, node: tree.node("tmp_obj"), parent: Node.rootID, name: Array("obj".utf8))
        try tree.unlink("tmp_obj")
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
    }
}
