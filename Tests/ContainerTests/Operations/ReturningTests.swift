// `restore DIR --at T` in place: it does what is left to do and no more, or nothing where it may not do it all.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct ReturningTests: OperationTesting {
    private func mode(_ name: String, _ tree: BrowsedContainer) -> mode_t {
        var status = stat()
        return lstat("\(tree.path)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func names(_ tree: BrowsedContainer, _ directory: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/\(directory)").sorted()
            .filter { $0 != ".versionsfs" }
    }

    private func move(_ name: String, _ newName: String, _ tree: BrowsedContainer) throws {
        var (from, to) = (BrowsedContainer.bytes(name), BrowsedContainer.bytes(newName))
        let (last, newLast) = (from.removeLast(), to.removeLast())
        try tree.container.rename(
            tree.caller, parent: try tree.find(from)?.node ?? Node.rootID, name: last,
            newParent: try tree.find(to)?.node ?? Node.rootID, newName: newLast, flags: 0)
    }

    private func change(_ name: String, _ mode: mode_t, _ tree: BrowsedContainer) throws {
        var edit = AttributeEdit()
        edit.mode = mode
        _ = try tree.container.setAttributes(tree.caller, node: try tree.node(name), handle: nil, edit)
    }

    @Test("names that have changed places go back once, and their documents with them", arguments: [20, 0])
    func swapped(seconds: Int64) throws {
        let tree = try BrowsedContainer()
        for name in ["a", "b"] { for text in ["\(name) 1", "\(name) 2"] { try tree.save(name, text) } }
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        for (from, to) in [("a", "t"), ("b", "a"), ("t", "b")] {
            try move(from, to, tree)
            tree.clock.advance(seconds: seconds)
        }
        for isFirst in [true, false, false] {
            let outcome = try tree.container.restoreDirectory(.root, at: then, as: my)
            #expect((outcome.entries > 0) == isFirst && outcome.problems.isEmpty)
            for name in ["a", "b"] { #expect(try tree.live(name) == "\(name) 2") }
            #expect(try names(tree) == ["a", "b"])
            // In quick succession it is what programs do to save: the document is at home where its name is.
            guard seconds > 0 else { continue }
            for name in ["a", "b"] {
                #expect(try tree.container.document(at: path(name), as: my).versions.count == 2)
            }
            #expect(try outcome.displaced == 0 && tree.container.deleted(within: nil, as: my).isEmpty)
            tree.clock.advance(seconds: 20)
        }
    }

    @Test("directories that were put into one another come out again")
    func nested() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("a")
        try tree.makeDirectory("a/b")
        try tree.save("a/outer", "outer")
        try tree.save("a/b/inner", "inner")
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        // What was inside is outside, under the name of what it was in.
        try move("a/b", "b", tree)
        try move("a", "b/b", tree)
        try move("b", "a", tree)
        try tree.save("a/new", "new")
        let outcome = try tree.container.restoreDirectory(.root, at: then, as: my)
        #expect(outcome.displaced == 1 && outcome.problems.isEmpty)
        #expect(try tree.live("a/outer") == "outer" && tree.live("a/b/inner") == "inner")
        #expect(try names(tree) == ["a"] && names(tree, "a") == ["b", "outer"] && names(tree, "a/b") == ["inner"])
    }

    @Test("what was given another name since the last return alone is undone")
    func difference() throws {
        let tree = try BrowsedContainer()
        for name in ["a", "b", "c"] { try tree.save(name, name) }
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        try move("a", "x", tree)
        try tree.unlink("b")
        _ = try tree.container.restoreDirectory(.root, at: then, as: my)
        tree.clock.advance(seconds: 20)
        try move("c", "y", tree)
        let last = try tree.container.store.changes(after: 0, limit: 1000).count
        let outcome = try tree.container.restoreDirectory(.root, at: then, as: my)
        #expect(outcome.entries == 1 && outcome.displaced == 0)
        #expect(try names(tree) == ["a", "b", "c"])
        #expect(try tree.container.store.changes(after: 0, limit: 1000).count == last + 1)
    }

    @Test("who may not do it all does nothing", arguments: ["unlink", "rename", "save", "make", "closed"])
    func allOrNothing(what: String) throws {
        let tree = try BrowsedContainer()
        #expect(chmod(tree.path, 0o777) == 0)
        for name in ["d", "e"] { try tree.makeDirectory(name) }
        for name in ["d/a", "e/a"] { try tree.save(name, "one", mode: 0o644) }
        #expect(chmod("\(tree.path)/d", 0o777) == 0 && chmod("\(tree.path)/e", 0o755) == 0)
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        try tree.save("d/new", "new")
        try move("d/a", "d/b", tree)
        switch what {
        case "unlink": try tree.unlink("e/a")
        case "rename": try move("e/a", "d/c", tree)
        case "save": try tree.save("e/a", "two")
        case "make": try tree.save("e/new", "new")
        default:
            try tree.makeDirectory("d/closed")
            try tree.save("d/closed/x", "x")
        }
        let before = try tree.container.store.changes(after: 0, limit: 1000).count
        #expect(kind { _ = try tree.container.restoreDirectory(.root, at: then, as: stranger) } == .denied)
        #expect(try tree.container.store.changes(after: 0, limit: 1000).count == before)
        _ = try tree.container.restoreDirectory(.root, at: then, as: my)
        #expect(try names(tree, "d") == ["a"] && names(tree, "e") == ["a"] && tree.live("e/a") == "one")
    }

    @Test("what ends it in the middle is told with what was done; asked again it goes on")
    func middle() throws {
        let tree = try BrowsedContainer()
        for name in ["a", "b", "c"] { try tree.save(name, "one") }
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        for name in ["a", "b", "c"] { try tree.save(name, "two") }
        do {
            _ = try tree.container.restoreDirectory(.root, at: then, as: my) { done in
                if done == 2 { throw OperationError(.cancelled, "enough") }
            }
            Issue.record("it went on")
        } catch {
            #expect(error.kind == .cancelled && error.message.contains("2 came back"))
            #expect(error.advice?.contains("goes on") == true)
        }
        #expect(try tree.container.restoreDirectory(.root, at: then, as: my).entries == 1)
        do {
            _ = try tree.container.restoreDirectory(.root, at: then, to: path("copy"), as: my) { done in
                if done == 2 { throw OperationError(.cancelled, "enough") }
            }
            Issue.record("it went on")
        } catch { #expect((error as? OperationError)?.message.contains("in copy") == true) }
    }

    @Test("the mode of then comes back with the content")
    func mode() throws {
        let tree = try BrowsedContainer()
        for name in ["secret", "same"] { try tree.save(name, "one", mode: 0o600) }
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        for name in ["secret", "same"] {
            try tree.save(name, "two")
            try change(name, 0o644, tree)
        }
        try tree.save("same", "one")
        for entries in [2, 0] {
            let outcome = try tree.container.restoreDirectory(.root, at: then, as: my)
            #expect(outcome.entries == entries && outcome.problems.isEmpty)
            for name in ["secret", "same"] {
                #expect(mode(name, tree) == 0o600)
                #expect(try tree.live(name) == "one")
            }
        }
    }

    @Test("who may not change the mode is told of it")
    func foreignMode() throws {
        let tree = try BrowsedContainer()
        #expect(chmod(tree.path, 0o777) == 0)
        try tree.save("a", "one", mode: 0o644)
        let then = tree.clock.now()
        tree.clock.advance(seconds: 20)
        try tree.save("a", "two")
        try change("a", 0o666, tree)
        let outcome = try tree.container.restoreDirectory(.root, at: then, as: stranger)
        #expect(try tree.live("a") == "one")
        #expect(mode("a", tree) == 0o666)
        #expect(outcome.problems.map(\.path) == [try path("a")])
    }
}
