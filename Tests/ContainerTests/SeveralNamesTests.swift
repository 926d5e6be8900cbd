// A file that had several names before anybody looked: one document, whichever of them is seen first.

import Foundation
import Glibc
import Testing
import VersionModel

@testable import Container

@Suite struct SeveralNamesTests {
    /// Two names of one file, the second one made beneath the mount.
    private func linked() throws -> BrowsedContainer {
        let tree = try BrowsedContainer()
        try tree.save("x", "one")
        try #require(link("\(tree.path)/x", "\(tree.path)/t") == 0)
        return tree
    }

    @Test("a name that is seen later belongs to the document of the first")
    func seenLater() throws {
        let tree = try linked()
        _ = try tree.node("t")
        try tree.save("x", "two")
        #expect(try tree.live("t") == "two")
        let item = try tree.item("x")
        #expect(Set(item.places.map { String(decoding: $0.name.bytes, as: UTF8.self) }) == ["x", "t"])
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what is left of a file under its second name is renamed over the first")
    func comesBackByItsOtherName() throws {
        let tree = try linked()
        _ = try tree.node("t")
        // The kernel looks at the file once more, and knows both names now.
        let node = try tree.node("x")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_RDWR)).handle
        tree.container.release(node: node, handle: handle)
        try tree.save("y", "new")
        try tree.move("y", to: "x")
        try tree.move("t", to: "x")
        #expect(try tree.live("x") == "one")
        #expect(try Set(tree.texts()).isSuperset(of: ["one", "new"]))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("a name that nobody has seen is renamed over the other")
    func unseen() throws {
        let tree = try linked()
        try tree.save("y", "new")
        try tree.move("y", to: "x")
        try tree.move("t", to: "x")
        #expect(try tree.live("x") == "one")
        #expect(try Set(tree.texts()).isSuperset(of: ["one", "new"]))
        #expect(try tree.findings() == [])
        tree.close()
    }
}
