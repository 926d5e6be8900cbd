// Restoring versions, and directories as of a time, through the container's own interface.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct RestoringTests: OperationTesting {
    // MARK: Contents

    @Test func everyVersionCanBeReadWhereverItsBytesAre() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "second", "the third"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["the third", "second", "one"])
        #expect(document.versions.map(\.kind) == [.current, .history, .history])

        try tree.unlink("a.txt")
        let deleted = try tree.container.document(at: path("a.txt"), as: my)
        #expect(deleted.deletion != nil)
        #expect(try deleted.versions.map { try text($0, deleted, tree) } == ["the third", "second", "one"])
    }

    @Test func appendedVersionsEndWhereTheyEnded() throws {
        let tree = try BrowsedContainer()
        try tree.save("log", "one\n")
        tree.clock.advance(seconds: 100)
        try tree.save("log", "two\n", flags: O_APPEND)
        let document = try tree.container.document(at: path("log"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["one\ntwo\n", "one\n"])
    }

    // MARK: Restoring

    @Test func aRestoredVersionIsASaveWithBothParents() throws {
        let tree = try BrowsedContainer()
        for words in ["old", "new"] { try tree.save("a.txt", words) }
        let before = try tree.container.document(at: path("a.txt"), as: my)
        let old = try #require(before.versions.last)
        _ = try tree.container.restore(old, of: before, as: my)
        #expect(try tree.live("a.txt") == "old")
        let after = try tree.container.document(at: path("a.txt"), as: my)
        #expect(after.item == before.item)
        #expect(after.current?.parents == [before.current?.id, old.id].compactMap { $0 })
        #expect(try after.versions.map { try text($0, after, tree) } == ["old", "new", "old"])
        #expect(try tree.container.store.check(repair: false).isEmpty)
        // And the next save keeps what was restored.
        try tree.save("a.txt", "next")
        let next = try tree.container.document(at: path("a.txt"), as: my)
        #expect(try next.versions.map { try text($0, next, tree) } == ["next", "old", "new", "old"])
    }

    @Test func aVersionIsRestoredToAFreePathOnly() throws {
        let tree = try BrowsedContainer()
        for words in ["old", "new"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let old = try #require(document.versions.last)
        #expect(try tree.container.restore(old, of: document, to: path("b.txt"), as: my).entries == 1)
        #expect(try tree.live("b.txt") == "old")
        #expect(try tree.live("a.txt") == "new")
        #expect(kind { _ = try tree.container.restore(old, of: document, to: path("b.txt"), as: my) } == .exists)
        let copy = try tree.container.document(at: path("b.txt"), as: my)
        #expect(copy.current?.parents == [old.id])
    }

    @Test func oneFileOfSeveralNamesStaysOne() throws {
        let tree = try BrowsedContainer()
        for words in ["old", "new"] { try tree.save("a", words) }
        _ = try tree.container.link(tree.caller, node: tree.node("a"), parent: Node.rootID, name: Array("b".utf8))
        let document = try tree.container.document(at: path("a"), as: my)
        _ = try tree.container.restore(try #require(document.versions.last), of: document, as: my)
        #expect(try tree.live("a") == "old")
        #expect(try tree.live("b") == "old")
        #expect(try tree.container.document(at: path("b"), as: my).item == document.item)
    }

    // MARK: A directory at a time

    @Test func aDirectoryGoesBackToATime() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        for name in ["kept", "changed", "removed", "renamed"] { try tree.save("d/\(name)", "\(name) then") }
        tree.clock.advance(seconds: 60)
        let then = tree.clock.now()
        tree.clock.advance(seconds: 60)
        try tree.save("d/changed", "changed since")
        try tree.unlink("d/removed")
        try tree.container.rename(
            tree.caller, parent: tree.node("d"), name: Array("renamed".utf8), newParent: tree.node("d"),
            newName: Array("other".utf8), flags: 0)
        try tree.makeDirectory("d/made")
        try tree.save("d/made/x", "x")
        let outcome = try tree.container.restoreDirectory(path("d"), at: then, as: my)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/d").sorted()
        #expect(names == ["changed", "kept", "removed", "renamed"])
        for name in names { #expect(try tree.live("d/\(name)") == "\(name) then") }
        #expect(outcome.displaced == 2)
        #expect(try tree.container.deletion(at: path("d/made/x"), as: my).type == .file)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aDirectoryIsCopiedAsItWas() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/gone", "d/sub"] { try tree.makeDirectory(name) }
        for name in ["kept", "changed", "removed", "renamed", "gone/in", "sub/deep", "back"] {
            try tree.save("d/\(name)", "\(name) then", mode: 0o640)
        }
        _ = try tree.container.makeSymlink(
            tree.caller, parent: tree.node("d"), name: Array("link".utf8), target: Array("kept".utf8))
        let before = try photograph("\(tree.path)/d").mapValues { $0.split(separator: " ").last.map(String.init) }
        tree.clock.advance(seconds: 60)
        let then = tree.clock.now()
        tree.clock.advance(seconds: 60)
        try tree.save("d/changed", "changed since")
        for name in ["d/removed", "d/gone/in", "d/link", "d/back"] { try tree.unlink(name) }
        try tree.removeDirectory("d/gone")
        _ = try tree.container.undelete(tree.container.deletion(at: path("d/back"), as: my), as: my)
        try tree.container.rename(
            tree.caller, parent: tree.node("d"), name: Array("renamed".utf8), newParent: Node.rootID,
            newName: Array("outside".utf8), flags: 0)
        try tree.container.rename(
            tree.caller, parent: tree.node("d"), name: Array("sub".utf8), newParent: tree.node("d"),
            newName: Array("other".utf8), flags: 0)
        try tree.save("d/other/deep", "deep since")
        try tree.makeDirectory("d/made")
        try tree.save("d/made/x", "x")
        let now = try photograph("\(tree.path)/d")
        let outcome = try tree.container.restoreDirectory(path("d"), at: then, to: path("copy"), as: my)
        let copy = try photograph("\(tree.path)/copy")
        #expect(copy.mapValues { $0.split(separator: " ").last.map(String.init) } == before)
        #expect(copy["kept"] == now["kept"] && copy["kept"]?.hasPrefix("\(S_IFREG | 0o640) ") == true)
        #expect(outcome.entries == before.count)
        #expect(try photograph("\(tree.path)/d") == now)
        #expect(
            kind { _ = try tree.container.restoreDirectory(path("d"), at: then, to: path("copy"), as: my) } == .exists)
        // In place too.
        _ = try tree.container.restoreDirectory(path("d"), at: then, as: my)
        #expect(
            try photograph("\(tree.path)/d").mapValues { $0.split(separator: " ").last.map(String.init) } == before)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func whatIsThatAlreadyGetsNoVersion() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two", "one"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        for version in [document.versions.last, document.current] {
            let outcome = try tree.container.restore(try #require(version), of: document, as: my)
            #expect(outcome.entries == 0)
        }
        #expect(
            try tree.container.document(at: path("a.txt"), as: my).versions.map(\.id) == document.versions.map(\.id))
    }

    @Test func aDirectoryIsNotBroughtBackToATimeWithoutIt() throws {
        let tree = try BrowsedContainer()
        let container = tree.container
        try tree.save("x", "before all")
        let before = container.options.clock.now()
        tree.clock.advance(seconds: 10)
        for name in ["d", "d/sub"] { try tree.makeDirectory(name) }
        try tree.save("d/sub/a", "a")
        let later = container.options.clock.now()
        for (name, time) in [("d", before), ("d/sub", before), ("d", later.advanced(byNanoseconds: 3_600_000_000_000))]
        {
            #expect(kind { _ = try container.restoreDirectory(path(name), at: time, as: my) } == .invalid)
            #expect(
                kind { _ = try container.restoreDirectory(path(name), at: time, to: path("copy"), as: my) } == .invalid)
        }
        #expect(try tree.live("d/sub/a") == "a")
        // Under another name it was there.
        try tree.move("d", to: "e")
        try tree.save("e/sub/a", "newer")
        #expect(kind { _ = try container.restoreDirectory(path("e"), at: before, as: my) } == .invalid)
        _ = try container.restoreDirectory(path("e"), at: later, as: my)
        #expect(try tree.live("e/sub/a") == "a")
        _ = try container.restoreDirectory(.root, at: before, as: my)
        #expect(access("\(tree.path)/e", F_OK) != 0 && access("\(tree.path)/x", F_OK) == 0)
    }

    @Test func fromBeforeItWasAContainerNothingIsBroughtBack() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text")
        let before = tree.container.options.clock.now().advanced(byNanoseconds: -3_600_000_000_000)
        #expect(kind { _ = try tree.container.restoreDirectory(.root, at: before, as: my) } == .invalid)
        #expect(kind { _ = try tree.container.restoreDirectory(path("a"), at: before, as: my) } == .notFound)
        #expect(try tree.live("a") == "text")
    }

    @Test("what a document was before it was renamed over another is found by its id")
    func renamedOver() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "other")
        for words in ["one", "two"] { try tree.save("y", words) }
        let item = try tree.item("y").id
        try tree.move("y", to: "x")
        let document = try tree.container.document(item, as: my)
        #expect(document.path == (try path("y")))
        #expect(try document.versions.map { try text($0, document, tree) } == ["two", "one"])
        let old = try #require(document.versions.last)
        _ = try tree.container.restore(old, of: document, to: path("again"), as: my)
        #expect(try tree.live("again") == "one")
    }

    @Test("a restored document that changes places with another keeps all its versions", arguments: [false, true])
    func restoredAndExchanged(twice: Bool) throws {
        let tree = try BrowsedContainer()
        for text in ["one", "two"] { try tree.save("x", text) }
        for text in ["three", "four"] { try tree.save("y", text) }
        for name in ["x", "y"] {
            let document = try tree.container.document(at: path(name), as: my)
            let old = try #require(document.versions.first { $0.kind != .current })
            _ = try tree.container.restore(old, of: document, as: my)
        }
        for _ in 0..<(twice ? 2 : 1) {
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array("x".utf8), newParent: Node.rootID,
                newName: Array("y".utf8),
                flags: linux_RENAME_EXCHANGE)
        }
        for name in ["x", "y"] { try tree.save(name, "last") }
        #expect(try tree.findings() == [])
        #expect(try !tree.texts().contains("(nothing)"))
        tree.container.store.flush()
        let lost = try tree.container.store.allItems().flatMap { try tree.container.store.versions(of: $0.id) }
            .filter { $0.flags.contains(.contentLost) }
        #expect(lost.isEmpty)
    }
}
