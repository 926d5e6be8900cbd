// A name that comes back is the same item, unless the file that had it has settled under its other name (DESIGN 5.1).

import CLinux
import Foundation
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct ReturningNameTests: OperationTesting {
    /// How a document is saved under the name that it was moved to.
    enum Settling: CaseIterable { case exchange, renamedOver, inPlace }

    @Test(
        """
        a file that was moved and saved there by another's rename keeps its history there when its old name comes back
        """, arguments: Settling.allCases)
    func settled(_ way: Settling) throws {
        let tree = try BrowsedContainer()
        try tree.save("report", "first")
        try tree.save("report", "second")
        try tree.save("other", "from elsewhere")
        let item = try tree.item("report").id
        try tree.move("report", to: "moved")
        switch way {
        case .exchange:
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array("other".utf8), newParent: Node.rootID,
                newName: Array("moved".utf8), flags: linux_RENAME_EXCHANGE)
        case .renamedOver: try tree.move("other", to: "moved")
        case .inPlace:
            try tree.save("moved", "from elsewhere")
            try tree.unlink("other")
        }
        try tree.save("report", "something new")
        #expect(try tree.item("moved").id == item)
        let fresh = try tree.item("report").id
        #expect(fresh != item)
        #expect(try tree.container.store.versions(of: fresh).count == 1)
        #expect(try tree.container.store.versions(of: item).count == 3)
        #expect(Set(try tree.texts()) == ["first", "second", "from elsewhere", "something new"])
        #expect(try tree.findings() == [])
    }

    @Test("a name for what is to be renamed may be used again and again, and the document keeps its history")
    func usedAgain() throws {
        let tree = try BrowsedContainer()
        try tree.save("cfg.new", "one")
        try tree.move("cfg.new", to: "cfg")
        try tree.save("cfg", "two")
        try tree.save("cfg", "three")
        try tree.save("cfg.new", "four")
        try tree.move("cfg.new", to: "cfg")
        let item = try tree.item("cfg").id
        #expect(try tree.container.store.versions(of: item).count == 4)
        #expect(Set(try tree.texts()) == ["one", "two", "three", "four"])
        #expect(try tree.findings() == [])
    }

    @Test("what a document is saved through by renames leaves nothing behind, also where it began as that")
    func savedThroughItsFirstName() throws {
        let tree = try BrowsedContainer()
        let texts = ["one", "two", "three", "four"]
        for text in texts {
            try tree.save("cfg.new", text)
            try tree.move("cfg.new", to: "cfg")
        }
        let item = try tree.item("cfg").id
        #expect(try tree.container.store.versions(of: item).map(\.parents.count).sorted() == [0, 1, 1, 1])
        #expect(try tree.texts().sorted() == texts.sorted())
        #expect(try tree.findings() == [])
    }

    /// Why a document that was renamed, called back, saved and renamed to the same name again is not given up.
    enum Keeping: CaseIterable { case isBackup, isOlder, isSavedTwice, isPinned, hasLasted, goesElsewhere }

    @Test(
        "a document of its own keeps its history, however often it is renamed and begun anew",
        arguments: Keeping.allCases)
    func renamedAgain(_ reason: Keeping) throws {
        let tree = try BrowsedContainer()
        let new = reason == .isBackup ? "log.bak" : "other"
        try tree.save("log", "first")
        if reason == .isOlder { try tree.save("log", "first again") }
        let item = try tree.item("log").id
        if reason == .isPinned {
            let document = try tree.container.document(at: path("log"), as: my)
            _ = try tree.container.pin(try #require(document.versions.first), of: document, true, as: my)
        }
        if reason == .hasLasted { tree.clock.advance(seconds: 4000) }
        try tree.move("log", to: new)
        try tree.save("log", "second")
        if reason == .isSavedTwice { try tree.save("log", "second again") }
        if reason == .goesElsewhere { try tree.save("another", "a document") }
        try tree.move("log", to: reason == .goesElsewhere ? "another" : new)
        try tree.save("log", "third")
        #expect(try tree.item("log").id == item)
        #expect(try tree.findings() == [])
    }

    @Test("who goes on writing to what was moved while it was open settles nothing")
    func rotated() throws {
        let tree = try BrowsedContainer()
        try tree.save("log", "one")
        let item = try tree.item("log").id
        let node = try tree.node("log")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY)).handle
        try tree.move("log", to: "log.1")
        try tree.write("two", node, handle, at: 3)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        try tree.save("log", "three")
        #expect(try tree.item("log").id == item)
    }

    /// How often `x` and `y` were saved before they change names.
    static let saves = [1, 2].flatMap { x in [0, 1, 2].map { y in (x: x, y: y) } }

    @Test(
        "two documents that three renames exchange keep their items, unless the second one looks made to be renamed",
        arguments: saves)
    func exchanged(_ saves: (x: Int, y: Int)) throws {
        let tree = try BrowsedContainer()
        for number in 0..<saves.x { try tree.save("x", "x\(number)") }
        // One that was there before the mount has no history, and nobody has made it.
        if saves.y == 0 { try "y".write(toFile: tree.path + "/y", atomically: false, encoding: .utf8) }
        for number in 0..<saves.y { try tree.save("y", "y\(number)") }
        let x = try tree.item("x").id
        let y = saves.y == 0 ? nil : try tree.item("y").id
        for (name, newName) in [("x", "t"), ("y", "x"), ("t", "y")] { try tree.move(name, to: newName) }
        #expect(try tree.item("x").id == x)
        #expect(try tree.container.store.versions(of: x).count == saves.x + 1)
        // One version by those who move it: at the second rename it is what programs save by.
        let looksMade = saves.y == 1
        let fresh = try tree.item("y").id
        if let y { #expect((fresh == y) == !looksMade) }
        #expect(try tree.container.store.versions(of: fresh).count == (looksMade ? 1 : max(1, saves.y) + 1))
        let texts = try [tree.live("x"), tree.live("y")]
        #expect(texts == [saves.y == 0 ? "y" : "y\(saves.y - 1)", "x\(saves.x - 1)"])
        #expect(try tree.findings() == [])
    }

    @Test("a file that was only moved leaves its history to its old name when that comes back")
    func onlyMoved() throws {
        let tree = try BrowsedContainer()
        try tree.save("report", "first")
        let item = try tree.item("report").id
        try tree.move("report", to: "report.bak")
        try tree.save("report", "second")
        #expect(try tree.item("report").id == item)
        #expect(try tree.item("report.bak").id != item)
        #expect(try tree.findings() == [])
    }
}
