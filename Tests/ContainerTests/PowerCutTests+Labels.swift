// What a power cut leaves of files whose labels tell of more than the catalog has heard of.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

extension PowerCutTests {
    @Test(
        "what was moved away stays what it was, though its document had its name back, and a later version",
        arguments: ["", "three"])
    func leftBehind(_ arrived: String) throws {
        let before = try BrowsedContainer()
        let catalog = try snapshot(before)
        for (name, text) in [("c", "one"), ("c", "two"), ("a", "a"), ("b", "b")] { try before.save(name, text) }
        try move(before, "c", to: "a")
        try before.save("c", "three")
        try move(before, "c", to: "moved")
        try before.save("t", "four")
        // What `a` and `c` share is kept while `c` is away.
        try move(before, "t", to: "a")
        try before.save("c", "five")
        before.clock.set(aheadBy: 86_400 * 36_500)
        try before.save("c", "six")
        try move(before, "c", to: "b")
        try before.save("t", "seven")
        try move(before, "t", to: "b")
        let tree = try cut(before, catalog, ["moved": arrived], later: 86_400 * 36_501)
        #expect(try tree.live("moved") == arrived && tree.live("b") == "seven" && tree.findings() == [])
        tree.close()
    }

    @Test("what was moved away stays what it was, though the version that the catalog knows of it was amended")
    func leftBehindByAnAmendedVersion() throws {
        let before = try BrowsedContainer()
        try before.save("c", "zero")
        let writer = try Writer(before, "c", O_WRONLY | O_TRUNC)
        try writer.write("on", at: 0)
        before.container.flush(before.caller, handle: writer.handle)
        let catalog = try snapshot(before)
        try writer.write("e", at: 2)
        writer.close()
        try before.save("c", "two")
        try move(before, "c", to: "moved")
        // The name comes back, and is empty when the power fails.
        for text in ["three", "four"] { try before.save("c", text) }
        try move(before, "c", to: "gone")
        let tree = try cut(before, catalog)
        #expect(try tree.live("moved") == "two" && tree.live("gone") == "four")
        #expect(try ["zero", "one", "three"].allSatisfy(tree.texts().contains))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "what was appended to is current again if neither what was appended nor the copy of both has arrived",
        arguments: ["base", "base mo"])
    func copyOfWhatWasAppendedTo(_ arrived: String) throws {
        let before = try BrowsedContainer()
        for (name, text) in [("x", "old"), ("x.new", "base")] { try before.save(name, text) }
        try move(before, "x.new", to: "x")
        try before.save("x", " more", flags: O_APPEND)
        let catalog = try snapshot(before)
        let current = try #require(try before.container.store.version(try before.item("x").current))
        // Before this reaches the file its content is copied, and the power fails while the copy is synchronized.
        try Writer(before, "x", O_WRONLY).write("BASE", at: 0)
        let object = ".versionsfs/objects/\(before.container.store.contents.name(of: current.content).name)"
        let tree = try cut(before, catalog, [object: "\0\0\0\0\0\0\0\0\0", "x": arrived])
        #expect(try tree.live("x") == "base")
        #expect(try tree.texts().contains("old") && (arrived == "base" || tree.texts().contains(arrived)))
        #expect(try tree.findings() == [])
        tree.close()
    }

    /// How much of what came after a synchronized content has reached the file.
    private enum Arrived: String, CaseIterable {
        case nothing = "two"
        case someOfWhatWasAppended = "two mo"
    }

    @Test(
        "a synchronized content is current again if no append, save or copy after it has arrived",
        arguments: Arrived.allCases)
    private func synchronizedBeforeTwoSaves(_ arrived: Arrived) throws {
        let before = try BrowsedContainer()
        try before.save("x", "one")
        let writer = try Writer(before, "x", O_WRONLY | O_TRUNC)
        try writer.write("two", at: 0)
        try before.container.synchronize(node: writer.node, handle: writer.handle, dataOnly: false)
        writer.close()
        try before.save("x", " more", flags: O_APPEND)
        let appended = try #require(try before.container.store.version(try before.item("x").current))
        let last = try Writer(before, "x", O_WRONLY | O_TRUNC)
        try last.write("three", at: 0)
        // What has not arrived is later than all times that the disk has.
        var edit = AttributeEdit()
        edit.modified = timespec(tv_sec: time(nil) + 3_600, tv_nsec: 0)
        _ = try before.container.setAttributes(before.caller, node: last.node, handle: last.handle, edit)
        before.clock.set(aheadBy: 86_400 * 36_500)
        last.close()
        let catalog = try snapshot(before)
        try before.container.store.contents.remove(appended.content)
        try arrived.rawValue.write(toFile: "\(before.path)/x", atomically: false, encoding: .utf8)
        let tree = try cut(before, catalog, later: 86_400 * 36_501)
        #expect(try tree.live("x") == "two")
        #expect(try tree.texts().contains("one"))
        #expect(try arrived == .nothing || tree.texts().contains(arrived.rawValue))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "what was synchronized is not set aside if it was about to be displaced, and the rename has not arrived",
        arguments: ["two", "t"])
    func labeledToBeDisplaced(_ arrived: String) throws {
        let before = try BrowsedContainer()
        try before.save("x", "one")
        let catalog = try snapshot(before)
        try before.save("x", "two", flags: 0)
        if arrived == "two" { try synchronize(before, "x") }
        let (container, place) = (before.container, try before.place("x"))
        var version = try #require(try container.store.version(try before.item("x").current))
        version.kind = .history
        // All that a rename over it does before: the label is on the file, its name among the objects is not.
        try container.store.contents.keep(
            linking: place.name, in: FileDescriptor(rawValue: container.root.raw), as: version.content,
            .init(version: version, path: try #require(TreePath(bytes: "x".utf8)), place: place))
        try container.store.contents.remove(version.content)
        let tree = try cut(before, catalog, ["x": arrived])
        #expect(try tree.live("x") == (arrived == "two" ? "two" : "one"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "what was saved to a file that had lost its name does not take the name from whoever has it",
        arguments: [false, true])
    func besideTheName(isKnown: Bool) throws {
        let before = try BrowsedContainer()
        try before.save("a", "a")
        let (node, handle) = try create(before, "b")
        try before.write("part", node, handle, at: 0)
        try before.save("t", "six")
        try move(before, "t", to: "b")
        // Its document goes with the name, and leaves no trace.
        try move(before, "b", to: "a")
        var catalog = try snapshot(before)
        try before.save("t", "nine")
        try move(before, "t", to: "b")
        let item = try before.item("b").id
        if isKnown { catalog = try snapshot(before) }
        try before.write(" and rest", node, handle, at: 4)
        before.container.flush(before.caller, handle: handle)
        before.container.release(node: node, handle: handle)
        try before.save("b", "ten")
        let tree = try cut(before, catalog, ["b": ""])
        #expect(try tree.live("b") == "nine" && tree.item("b").id == item)
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "what recovery has cut short is what its label tells from then on, and takes no name after the next power cut")
    func cutShort() throws {
        let before = try BrowsedContainer()
        try before.save("x", "base")
        try synchronize(before, "x")
        try before.save("x", " and more", flags: O_APPEND)
        let appended = try #require(try before.container.store.version(try before.item("x").current))
        for (name, text) in [("x.new", "new"), ("y", "y")] { try before.save(name, text) }
        try move(before, "x.new", to: "x")
        let object = ".versionsfs/objects/\(before.container.store.contents.name(of: appended.content).name)"
        let once = try cut(before, snapshot(before), [object: "base and\0\0\0\0\0"])
        let store = once.container.store
        let rest = try #require(try store.version(appended.id))
        let label = try #require(try store.contents.labels(of: rest.content).first { $0.version.id == rest.id })
        #expect(label.version.size == rest.size && label.version.flags == rest.flags && label.version.time == rest.time)
        try move(once, "x", to: "y")
        let (tree, item) = try cutWithAnother(once)
        #expect(try tree.live("x") == "other" && tree.item("x").id == item)
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("a label takes no name from whoever has it, if the catalog knows a later version")
    func olderThanTheCatalog() throws {
        let before = try BrowsedContainer()
        for (name, text) in [("x", "one"), ("x", "two"), ("y", "y")] { try before.save(name, text) }
        let store = before.container.store
        var one = try #require(try store.versions(of: try before.item("x").id).first { $0.kind == .history })
        try move(before, "x", to: "y")
        // As if it had been amended, and that was lost.
        let label = try #require(try store.contents.labels(of: one.content).first)
        one.time = one.time.next(now: one.saved)
        try store.contents.relabel(one.content, .init(version: one, path: label.path, place: label.place))
        let (tree, item) = try cutWithAnother(before)
        #expect(try tree.live("x") == "other" && tree.item("x").id == item)
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "what was left behind by a document that had its name back is an item of its own, also after it changed places")
    func leftBehindAndExchanged() throws {
        let before = try BrowsedContainer()
        try before.save("a", "one")
        for text in ["b", "second"] { try before.save("b", text) }
        try move(before, "a", to: "moved")
        let catalog = try snapshot(before)
        for text in ["three", "four"] { try before.save("a", text) }
        try before.save("b", "other!", flags: 0)
        try before.container.rename(
            before.caller, parent: Node.rootID, name: Array("b".utf8), newParent: Node.rootID,
            newName: Array("moved".utf8), flags: linux_RENAME_EXCHANGE)
        let tree = try cut(before, catalog, ["moved": "\0\0\0\0\0\0"])
        #expect(try tree.live("moved") == "one" && tree.live("b") == "one")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "an object tells of each version where its own item is, though another item's equal content was renamed over it"
    )
    func sharedByARename() throws {
        let before = try BrowsedContainer()
        try before.save("x", "first")
        try before.save("a", "same")
        let (item, catalog) = (try before.item("x").id, try snapshot(before))
        let shared = try #require(try before.container.store.version(try before.item("a").current))
        try move(before, "a", to: "moved")
        try before.save("x", "same")
        for text in ["two", "three"] { try before.save("a", text) }
        try move(before, "moved", to: "x")
        // It is overwritten in place.
        try before.save("x", "torn!", flags: 0)
        let store = before.container.store
        let content = try #require(try store.version(shared.id)).content
        for label in try store.contents.labels(of: content) where label.version.item != item {
            let place = try store.item(label.version.item)?.places.first
            #expect(try label.path == place.map { _ in try #require(TreePath(bytes: "a".utf8)) } ?? .root)
        }
        try move(before, "a", to: "gone")
        let tree = try cut(before, catalog, ["x": "\0\0\0\0\0"])
        #expect(try tree.live("x") == "same" && tree.item("x").id == item)
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what came in part is not taken for the older version that it was to be")
    func inPartAsAnOlderVersion() throws {
        let before = try BrowsedContainer()
        for (name, text) in [("a", "one"), ("s", "s"), ("t", "unsynchronized")] { try before.save(name, text) }
        try move(before, "t", to: "a")
        try move(before, "a", to: "s")
        try before.save("a", "synchronized")
        try synchronize(before, "a")
        try move(before, "s", to: "a")
        let tree = try cut(before, snapshot(before), ["a": "unsync"])
        #expect(try tree.live("a") == "synchronized")
        #expect(try tree.texts().contains("unsync"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "what was appended to, exchanged and appended to again is set aside if less than a block has not arrived",
        arguments: [1, 1000])
    func exchangedAndAppended(_ words: Int) throws {
        let more = String(repeating: " more", count: words)
        let before = try BrowsedContainer()
        // What is changed within a minute of the save counts: as the file system tells it.
        let seconds = Int64(time(nil)) - before.clock.now().nanoseconds / 1_000_000_000
        before.clock.advance(seconds: seconds)
        for (name, text) in [("a", "base"), ("b", "another")] { try before.save(name, text) }
        try synchronize(before, "a")
        try before.save("a", more, flags: O_APPEND)
        try before.container.rename(
            before.caller, parent: Node.rootID, name: Array("a".utf8), newParent: Node.rootID, newName: Array("b".utf8),
            flags: linux_RENAME_EXCHANGE)
        let catalog = try snapshot(before)
        try before.save("b", "on", flags: O_APPEND)
        // However coarse the clock of the file system is.
        let later = timespec(tv_sec: time(nil) + 1, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, "\(before.path)/b", [later, later], 0) == 0)
        // The block in which the file had ended when it was synchronized is the one that is missing.
        let whole = Array("base\(more)on".utf8)
        let torn = whole.indices.map { $0 < 4 || $0 >= LostBlocks.size ? whole[$0] : 0 }
        let tree = try cut(before, catalog, ["b": String(decoding: torn, as: UTF8.self)], later: seconds)
        #expect(try tree.live("b") == "another" && tree.live("a") == "another")
        let versions = try tree.container.store.versions(of: try tree.item("b").id)
        #expect(versions.contains { $0.flags.contains(.unfinished) && $0.size == whole.count })
        #expect(try tree.texts().contains("base\(more)"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        """
        what was appended and synchronized stays, though recovery keeps its beginning, which is another item's content
        """,
        arguments: ["", " and on"])
    func beginningKeptForAnother(_ unheard: String) throws {
        let before = try BrowsedContainer()
        for (name, text) in [("a", "older"), ("a", "base"), ("b", "another")] { try before.save(name, text) }
        try move(before, "a", to: "b")
        // The name comes back, and what is saved there does not arrive: what it had is in the file that left it.
        try before.save("a", "later")
        try before.save("b", " more", flags: O_APPEND)
        let catalog = try snapshot(before)
        // This amends the version that the catalog has.
        let writer = try Writer(before, "b", O_WRONLY | O_APPEND)
        try writer.write(" for good", at: 9)
        try before.container.synchronize(node: writer.node, handle: writer.handle, dataOnly: false)
        writer.close()
        if !unheard.isEmpty { try before.save("b", unheard, flags: O_APPEND) }
        let tree = try cut(before, catalog, ["a": ""])
        #expect(try tree.live("a") == "base")
        #expect(try tree.live("b") == "base more for good\(unheard)")
        let versions = try tree.container.store.versions(of: try tree.item("b").id)
        #expect(versions.filter { $0.kind == .current }.map(\.size) == [UInt64(18 + unheard.utf8.count)])
        #expect(versions.allSatisfy { !$0.flags.contains(.unfinished) })
        // The change feed says that what it has told of has become longer.
        #expect(try lastSave(tree, "b")?.amended == 9)
        #expect(try tree.texts().contains("another"))
        // Writing goes on as if nothing had been.
        try tree.save("b", "new")
        #expect(try tree.live("b") == "new" && tree.texts().contains("base more for good\(unheard)"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("zeros that were synchronized have not been lost, though the catalog knows that version as it was before")
    func synchronizedZeros() throws {
        let before = try BrowsedContainer()
        // What is changed within a minute of the save counts: as the file system tells it.
        let seconds = Int64(time(nil)) - before.clock.now().nanoseconds / 1_000_000_000
        before.clock.advance(seconds: seconds)
        try before.save("x", "older")
        let writer = try Writer(before, "x", O_WRONLY | O_TRUNC)
        try writer.write("header", at: 0)
        before.container.flush(before.caller, handle: writer.handle)
        let catalog = try snapshot(before)
        // Whoever has saved it goes on writing, and amends it.
        let zeros = String(repeating: "\0", count: LostBlocks.size)
        try writer.write(zeros + "rest", at: 0)
        try before.container.synchronize(node: writer.node, handle: writer.handle, dataOnly: false)
        writer.close()
        let tree = try cut(before, catalog, later: seconds)
        #expect(try tree.live("x") == zeros + "rest")
        #expect(try lastSave(tree, "x")?.amended == .max)
        #expect(try tree.texts().contains("older"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    /// What the change feed told last of a file's content.
    private func lastSave(_ tree: BrowsedContainer, _ name: String) throws -> Change.Detail? {
        let path = try #require(TreePath(bytes: name.utf8))
        return try tree.container.store.changes(after: 0, limit: 1000).map(\.1)
            .last { $0.event == .saved && $0.path == path }?.detail
    }

    /// What a power cut leaves of another document that has the name `x`, when that is overwritten.
    private func cutWithAnother(_ before: BrowsedContainer) throws -> (BrowsedContainer, ItemID) {
        // Nobody remembers who had it.
        before.close()
        let tree = try BrowsedContainer(at: before.path)
        for text in ["other", "another"] { try tree.save("x", text) }
        let item = try tree.item("x").id
        return (try cut(tree, snapshot(tree), ["x": ""]), item)
    }

    /// A new file, open for writing.
    private func create(_ tree: BrowsedContainer, _ name: String) throws -> (node: UInt64, handle: UInt64) {
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY)
        return (made.found.node, made.reply.handle)
    }
}
