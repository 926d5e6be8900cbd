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

    // MARK: Files of two documents

    /// `a` and `y` are names of one file, and two documents.
    private func shared() throws -> (tree: BrowsedContainer, item: ItemID) {
        let tree = try BrowsedContainer()
        try tree.save("a", "text")
        try tree.save("y", "old")
        try link("a", "x", tree)
        try tree.move("x", to: "y")
        #expect(try inode("a", tree) == inode("y", tree))
        let item = try tree.item("y").id
        #expect(try tree.item("a").id != item)
        return (tree, item)
    }

    private func history(of name: String, _ tree: BrowsedContainer) throws -> [String] {
        let document = try tree.container.document(at: path(name), as: my)
        return try document.versions.map { try text($0, document, tree) }
    }

    @Test func aDocumentComesBackToItsNameThoughItsFileIsAnothers() throws {
        let (tree, item) = try shared()
        try tree.unlink("y")
        try tree.save("y", "new")
        #expect(try tree.item("y").id == item)
        #expect(try history(of: "y", tree) == ["new", "text", "old"])
        #expect(try tree.live("a") == "text")
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
        #expect(try tree.findings() == [])
    }

    @Test(arguments: [0, 60]) func aDocumentIsUndeletedThoughItsFileIsAnothers(_ seconds: Int64) throws {
        let (tree, item) = try shared()
        try tree.unlink("y")
        tree.clock.advance(seconds: seconds)
        try tree.save("a", "another")
        _ = try tree.container.undelete(tree.container.deletion(at: path("y"), as: my), as: my)
        #expect(try tree.live("y") == "text" && tree.live("a") == "another")
        #expect(try tree.item("y").id == item)
        try tree.save("y", "new")
        #expect(try tree.item("y").id == item)
        #expect(try history(of: "y", tree) == ["new", "text", "old"])
        #expect(try history(of: "a", tree) == ["another", "text"])
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
        #expect(try tree.findings() == [])
    }

    @Test func theNameThatWentFirstIsGivenBackFirst() throws {
        let (tree, item) = try shared()
        let first = try tree.item("a").id
        try link("a", "b", tree)
        for name in ["a", "b"] { try tree.unlink(name) }
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try tree.item("a").id == first)
        // The document is at home under that name.
        try tree.save("b", "another")
        try tree.save("a", "new")
        #expect(try history(of: "a", tree) == ["new", "text"] && history(of: "b", tree) == ["another"])
        #expect(try tree.item("a").id == first && tree.item("y").id == item)
        #expect(try history(of: "y", tree) == ["text", "old"])
        #expect(try tree.findings() == [])
    }

    @Test(arguments: [false, true]) func aNameIsGivenBackToItsOwnDocument(_ isMountedAgain: Bool) throws {
        var (tree, item) = try shared()
        // By which name the kernel does not tell: the file's first document has it.
        try link("a", "b", tree)
        let first = try tree.item("a").id
        #expect(try tree.item("b").id == first)
        try tree.unlink("b")
        let former = tree
        if isMountedAgain {
            tree.close()
            tree = try BrowsedContainer(at: tree.path, later: 1_000)
        }
        // Of the file's names, the kernel knows this one.
        _ = try tree.node("y")
        _ = try tree.container.undelete(tree.container.deletion(at: path("b"), as: my), as: my)
        #expect(try inode("b", tree) == inode("a", tree))
        #expect(try tree.item("b").id == first && tree.item("y").id == item)
        #expect(try tree.findings() == [])
        withExtendedLifetime(former) {}
    }

    @Test func aNameIsGivenBackToWhatPartedWithItsFile() throws {
        var tree = try BrowsedContainer()
        try tree.save("a", "text")
        try link("a", "b", tree)
        try link("a", "c", tree)
        try tree.unlink("c")
        try tree.save("new", "another")
        try tree.move("new", to: "a")
        let former = tree
        tree.close()
        tree = try BrowsedContainer(at: tree.path, later: 1_000)
        _ = try tree.container.undelete(tree.container.deletion(at: path("c"), as: my), as: my)
        #expect(try inode("c", tree) == inode("b", tree))
        #expect(try tree.item("c").id == tree.item("b").id && tree.item("a").id != tree.item("b").id)
        #expect(try tree.findings() == [])
        withExtendedLifetime(former) {}
    }
}
