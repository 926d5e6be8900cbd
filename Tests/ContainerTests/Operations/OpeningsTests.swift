// Openings that overlap, and names that come and go, through the container's own interface.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct OpeningsTests: OperationTesting {
    // MARK: Openings that overlap

    @Test func aReleaseThatComesLateSavesNothingOfTheNextOpening() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "old")
        let node = try tree.node("a")
        func write(_ text: String, _ handle: UInt64, at offset: off_t = 0) throws {
            _ = try Array(text.utf8).withUnsafeBytes {
                try tree.container.write(tree.caller, node: node, handle: handle, $0, offset: offset)
            }
        }
        let first = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_TRUNC)).handle
        try write("first", first)
        tree.container.flush(tree.caller, handle: first)
        let second = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_TRUNC)).handle
        try write("sec", second)
        tree.container.release(node: node, handle: first)
        try write("ond", second, at: 3)
        tree.container.flush(tree.caller, handle: second)
        tree.container.release(node: node, handle: second)
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["second", "first", "old"])
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    // MARK: Names that come and go

    @Test func aFileMovedAwayAndBackKeepsItsContentWhenItIsOverwritten() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "precious")
        for (from, to) in [("a", "b"), ("b", "a")] { try tree.move(from, to: to) }
        try tree.save("a", "new")
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["new", "precious"])
    }

    @Test func theSameContentOnceMoreByRenameLeavesNothingThatNobodyNames() throws {
        let tree = try BrowsedContainer()
        // Nobody has touched it: there are no rows of it yet.
        try Data("content".utf8).write(to: URL(fileURLWithPath: "\(tree.path)/a"))
        try tree.save("a.new", "content")
        try tree.move("a.new", to: "a")
        tree.clock.advance(seconds: 10)
        #expect(try tree.container.store.check(repair: false, isAtRest: true).isEmpty)
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["content"])
    }

    /// A container that was closed after a copy of `a` had been made for a write that did not come.
    private func closedWithACopy() throws -> BrowsedContainer {
        let before = try BrowsedContainer()
        try before.save("a", "first")
        try before.save("a", "second")
        let node = try before.node("a")
        let handle = try #require(try before.container.open(before.caller, node: node, flags: O_RDWR)).handle
        before.container.release(node: node, handle: handle)
        before.close()
        return before
    }

    @Test(
        "a copy that was made for a write that did not come does not keep the file from being replaced after a remount")
    func aCopyFromBefore() throws {
        let before = try closedWithACopy()
        let tree = try BrowsedContainer(at: before.path)
        try tree.save("b", "third")
        try tree.move("b", to: "a")
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["third", "second", "first"])
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what is appended after a remount does not share a copy that was made for a write that did not come")
    func anAppendBesideACopyFromBefore() throws {
        let before = try closedWithACopy()
        let tree = try BrowsedContainer(at: before.path)
        try tree.save("a", " and more", flags: O_APPEND)
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["second and more", "second", "first"])
        #expect(try tree.findings() == [])
        tree.close()
    }
}
