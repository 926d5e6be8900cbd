// What a power cut leaves, made by hand: the catalog as it was earlier, no
// redo log, and files that have not arrived whole.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct PowerCutTests {
    private let catalog = ["catalog.sqlite", "catalog.sqlite-wal"]

    private func state(_ tree: BrowsedContainer, _ name: String) -> URL {
        URL(fileURLWithPath: "\(tree.path)/.versionsfs/\(name)")
    }

    /// The catalog as it is now.
    func snapshot(_ tree: BrowsedContainer) throws -> [Data] {
        tree.container.store.flush()
        return try catalog.map { try Data(contentsOf: state(tree, $0)) }
    }

    /// Ends a container; the next one finds that catalog, and in some files what is given.
    func cut(
        _ tree: BrowsedContainer, _ snapshot: [Data], _ files: [String: String] = [:], later seconds: Int64 = 0
    ) throws -> BrowsedContainer {
        tree.close()
        for (name, bytes) in zip(catalog, snapshot) { try bytes.write(to: state(tree, name)) }
        try? FileManager.default.removeItem(at: state(tree, "catalog.sqlite-shm"))
        try Data().write(to: state(tree, RedoLog.name))
        for (file, text) in files {
            let path = "\(tree.path)/\(file)"
            var before = stat()
            #expect(lstat(path, &before) == 0)
            let descriptor = try FileDescriptor.open(path, .writeOnly)
            defer { try? descriptor.close() }
            #expect(ftruncate(descriptor.rawValue, 0) == 0)
            try descriptor.writeAll(text.utf8)
            // Times are in the file system's log.
            #expect(futimens(descriptor.rawValue, [before.st_atim, before.st_mtim]) == 0)
        }
        return try BrowsedContainer(at: tree.path, later: seconds)
    }

    func move(_ tree: BrowsedContainer, _ name: String, to target: String) throws {
        try tree.container.rename(
            tree.caller, parent: Node.rootID, name: Array(name.utf8), newParent: Node.rootID,
            newName: Array(target.utf8),
            flags: 0)
    }

    @Test("what had come back under another name when the daemon was killed has its history there")
    func returning() throws {
        let before = try BrowsedContainer()
        for words in ["one", "two"] { try before.save("f", words) }
        let item = try before.item("f").id
        try before.unlink("f")
        let path = try #require(TreePath(bytes: "f".utf8)), target = try #require(TreePath(bytes: "g".utf8))
        let deletion = try #require(try before.container.deletions(at: path).first)
        // All but the rows of the return.
        before.container.names.writing { names in before.container.noteReturn(names, of: deletion, to: target) }
        let root = FileDescriptor(rawValue: before.container.root.raw)
        try before.container.store.deletedArea.moveOut(deletion.id, to: try #require(target.name), of: root)
        let tree = try cut(before, snapshot(before))
        #expect(try tree.item("g").id == item)
        #expect(try tree.container.store.versions(of: item).count == 2)
        #expect(try tree.texts().contains("two") && tree.live("g") == "two")
        #expect(try tree.findings() == [])
    }

    @Test("a document that had lost its name when the catalog ended, and had it back, has its last whole version")
    func backAfterTheEnd() throws {
        let before = try BrowsedContainer()
        for (name, text) in [("x", "one"), ("x", "two"), ("y", "y")] { try before.save(name, text) }
        try move(before, "x", to: "y")
        let catalog = try snapshot(before)
        try before.save("x", "three")
        try before.save("x.new", "four")
        try move(before, "x.new", to: "x")
        let tree = try cut(before, catalog, ["x": ""])
        #expect(try tree.live("x") == "three" && tree.live("y") == "two")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "a rename over the same content is one transaction: a cut leaves no version whose content went with the name",
        arguments: [true, false])
    func oneTransaction(_ hasHistory: Bool) throws {
        let tree = try BrowsedContainer()
        for text in hasHistory ? ["one", "same"] : ["same"] { try tree.save("x", text) }
        // Another item has its content in the file of x, too.
        try move(tree, "x", to: "z")
        try tree.save("x", "other")
        try tree.save("y", "same")
        let state = FileDescriptor(rawValue: tree.container.store.state.rawValue)
        let before = RedoLog.calls(in: state, after: 0).calls.count
        try move(tree, "z", to: "y")
        #expect(RedoLog.calls(in: state, after: 0).calls.count == before + 1)
        #expect(try tree.texts().contains("same"))
        #expect(try tree.findings() == [])
    }

    @Test("a file renamed over one that was kept by copying, because its handle was not released, is a whole save")
    func renamedBeforeTheRelease() throws {
        let before = try BrowsedContainer()
        try before.save("x", "one")
        let catalog = try snapshot(before)
        try before.save("x.new", "three")
        let node = try before.node("x")
        let handle = try #require(try before.container.open(before.caller, node: node, flags: O_WRONLY | O_TRUNC))
            .handle
        try before.write("two", node, handle, at: 0)
        before.container.flush(before.caller, handle: handle)
        try move(before, "x.new", to: "x")
        before.container.release(node: node, handle: handle)
        let tree = try cut(before, catalog)
        #expect(try tree.live("x") == "three")
        #expect(try tree.findings() == [])
        tree.close()
    }

    func synchronize(_ tree: BrowsedContainer, _ name: String) throws {
        let node = try tree.node(name)
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY)).handle
        try tree.container.synchronize(node: node, handle: handle, dataOnly: false)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
    }

    @Test("what was moved away and back, and has lost what was appended to it, has one current version")
    func appendedMovedAndBack() throws {
        let before = try BrowsedContainer()
        try before.save("b", "base")
        try synchronize(before, "b")
        try before.save("b", " more", flags: O_APPEND)
        try before.save("a", "another")
        try move(before, "b", to: "a")
        try before.save("b", "new")
        try move(before, "a", to: "b")
        let tree = try cut(before, snapshot(before), ["b": "base\0\0\0\0\0"])
        #expect(try tree.live("b").hasPrefix("base"))
        let versions = try tree.container.store.versions(of: try tree.item("b").id)
        #expect(versions.filter { $0.kind == .current }.count == 1)
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        """
        what was appended to, was moved over another file and has lost its end is what its item says, and what was \
        synchronized is there
        """)
    func appendedAndMovedOver() throws {
        let before = try BrowsedContainer()
        try before.save("a", "another")
        try before.save("b", "base")
        try synchronize(before, "b")
        try before.save("b", " more", flags: O_APPEND)
        try move(before, "b", to: "a")
        _ = try before.container.create(
            before.caller, parent: Node.rootID, name: Array("b".utf8), mode: 0o644, flags: O_WRONLY)
        let tree = try cut(before, snapshot(before), ["a": "base"])
        let item = try tree.item("a")
        let current = try #require(try tree.container.store.version(item.current))
        let live = try tree.live("a")
        #expect(live == "base" || live == "another")
        #expect(Int(current.size) == live.utf8.count && Int(item.file.size) == live.utf8.count)
        #expect(try tree.texts().contains("base"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what changed places with another and has not arrived is not what was saved")
    func exchanged() throws {
        let before = try BrowsedContainer()
        try before.save("a", "first")
        try before.save("a", "second")
        try before.save("b", "another")
        let catalog = try snapshot(before)
        try before.container.rename(
            before.caller, parent: Node.rootID, name: Array("a".utf8), newParent: Node.rootID, newName: Array("b".utf8),
            flags: linux_RENAME_EXCHANGE)
        let tree = try cut(before, catalog, ["b": "", "a": "ano"])
        #expect(try tree.live("a") == "second" && tree.live("b") == "another")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what was renamed here once says nothing of what was written to it since")
    func overwrittenAfterTheRename() throws {
        let before = try BrowsedContainer()
        try before.save("x", "one")
        let catalog = try snapshot(before)
        try before.save("x.new", "base")
        try move(before, "x.new", to: "x")
        try before.save("x", " more", flags: O_APPEND)
        let node = try before.node("x")
        let handle = try #require(try before.container.open(before.caller, node: node, flags: O_WRONLY)).handle
        try before.write("MORE", node, handle, at: 5)
        let tree = try cut(before, catalog, ["x": "base \0\0RE"])
        #expect(try tree.live("x") == "base more")
        #expect(try tree.texts().contains("base \0\0RE"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        """
        what was synchronized of a file that was appended to and then replaced is there, though the rest has not arrived
        """,
        arguments: [
        true, false,
    ])
    func appendedAndReplaced(isKnown: Bool) throws {
        let before = try BrowsedContainer()
        try before.save("x", "base")
        var catalog = try snapshot(before)
        let node = try before.node("x")
        for (text, offset, syncs) in [(" more", 4, true), (" and more", 9, false)] {
            let handle = try #require(try before.container.open(before.caller, node: node, flags: O_WRONLY | O_APPEND))
                .handle
            try before.write(text, node, handle, at: off_t(offset))
            if syncs { try before.container.synchronize(node: node, handle: handle, dataOnly: false) }
            before.container.flush(before.caller, handle: handle)
            before.container.release(node: node, handle: handle)
        }
        let content = try #require(try before.container.store.versions(of: try before.item("x").id).first?.content)
        try before.save("x.new", "new")
        try move(before, "x.new", to: "x")
        if isKnown { catalog = try snapshot(before) }
        let object = ".versionsfs/objects/\(before.container.store.contents.name(of: content).name)"
        let tree = try cut(before, catalog, [object: "base more\0\0\0\0\0\0\0\0\0", "x": ""])
        #expect(try tree.live("x") == "base more")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "the catalog's end may be on the disk before the names that it tells of: what has the name is current again",
        arguments: [
        1, 2,
    ])
    func namesBehindTheCatalog(saves: Int) throws {
        let before = try BrowsedContainer()
        for (name, text) in [("x", "one"), ("x.new", "two!")] { try before.save(name, text) }
        try move(before, "x.new", to: "x")
        for number in 1...saves {
            try before.save("x.new", "later \(number)")
            try move(before, "x.new", to: "x")
        }
        let versions = try before.container.store.versions(of: try before.item("x").id)
        let two = try #require(versions.first { $0.size == 4 })
        let catalog = try snapshot(before)
        let object = "\(before.path)/.versionsfs/objects/\(before.container.store.contents.name(of: two.content).name)"
        // Neither the renames nor the objects that they left have arrived.
        let later = versions.filter { $0.size == 7 }.map { before.container.store.contents.name(of: $0.content).name }
        before.close()
        for name in later { unlink("\(before.path)/.versionsfs/objects/\(name)") }
        #expect(rename(object, "\(before.path)/x") == 0)
        let tree = try cut(before, catalog)
        #expect(try tree.live("x") == "two!")
        #expect(try tree.texts().contains("one"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        """
        what had not arrived is found, however long after the power cut the container is mounted, and what else \
        recovery finds
        """,
        arguments: [
        0, 1000,
    ])
    func longAfterwards(seconds: Int64) throws {
        let before = try BrowsedContainer()
        for (name, text) in [("x", "one"), ("x", "two"), ("a", "a"), ("b", "b")] { try before.save(name, text) }
        let catalog = try snapshot(before)
        let one = try #require(
            try before.container.store.versions(of: try before.item("x").id).first { $0.kind == .history })
        try move(before, "a", to: "b")
        let object = ".versionsfs/objects/\(before.container.store.contents.name(of: one.content).name)"
        let tree = try cut(before, catalog, [object: ""], later: seconds)
        #expect(try tree.live("x") == "two" && tree.live("b") == "a")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        """
        the catalog's end may be on the disk before what was done to a file in place: what the file holds is current \
        again
        """)
    func contentBehindTheCatalog() throws {
        let before = try BrowsedContainer()
        for text in ["one", "two!"] { try before.save("x", text) }
        let two = try #require(try before.container.store.version(try before.item("x").current))
        try before.save("x", "later")
        let catalog = try snapshot(before)
        let object = before.container.store.contents.name(of: two.content).name
        before.close()
        unlink("\(before.path)/.versionsfs/objects/\(object)")
        let file = try FileDescriptor.open("\(before.path)/x", .writeOnly, options: .truncate)
        try file.writeAll("two!".utf8)
        let time = timespec(
            tv_sec: Int(two.modified.nanoseconds / 1_000_000_000),
            tv_nsec: Int(two.modified.nanoseconds % 1_000_000_000))
        #expect(futimens(file.rawValue, [time, time]) == 0)
        try file.close()
        let tree = try cut(before, catalog)
        #expect(try tree.live("x") == "two!")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("a new file that came in part is what came of it, and is marked")
    func newInPart() throws {
        let before = try BrowsedContainer()
        try before.save("new", "content")
        let catalog = try snapshot(before)
        let tree = try cut(before, catalog, ["new": "con"])
        #expect(try tree.live("new") == "con")
        let version = try #require(try tree.container.store.version(try tree.item("new").current))
        #expect(version.flags.contains(.unfinished) && version.size == 3)
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("of what was appended and came in part, the beginning that was saved before is current again")
    func appendedInPart() throws {
        let before = try BrowsedContainer()
        try before.save("x", "whole")
        try before.save("x", " and more", flags: O_APPEND)
        let catalog = try snapshot(before)
        let tree = try cut(before, catalog, ["x": "whole and\0\0\0\0\0"])
        #expect(try tree.live("x") == "whole")
        let versions = try tree.container.store.versions(of: try tree.item("x").id)
        #expect(versions.contains { $0.kind == .history && $0.flags.contains(.unfinished) && $0.size == 14 })
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what was synchronized counts, though the power fails while what was appended to it is synchronized")
    func withinTheNextSync() throws {
        let before = try BrowsedContainer()
        try before.save("x", "zero")
        let catalog = try snapshot(before)
        let node = try before.node("x")
        for (flags, text, offset) in [(O_TRUNC, "base", 0), (O_APPEND, " more", 4)] {
            let handle = try #require(try before.container.open(before.caller, node: node, flags: O_WRONLY | flags))
                .handle
            try before.write(text, node, handle, at: off_t(offset))
            try before.container.synchronize(node: node, handle: handle, dataOnly: false)
            before.container.flush(before.caller, handle: handle)
            before.container.release(node: node, handle: handle)
        }
        let tree = try cut(before, catalog, ["x": "base\0\0\0\0\0"])
        #expect(try tree.live("x").hasPrefix("base"))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        """
        what came in part of a save that was displaced is in the history, though the file that came is an older version
        """,
        arguments: ["sec", ""])
    func displacedByAnOlderOne(arrived: String) throws {
        let before = try BrowsedContainer()
        try before.save("b", "one")
        let catalog = try snapshot(before)
        try move(before, "b", to: "m")
        try before.save("b", "second")
        let current = try #require(try before.container.store.version(try before.item("b").current))
        try move(before, "m", to: "b")
        let object = before.container.store.contents.name(of: current.content).name
        let tree = try cut(before, catalog, [".versionsfs/objects/\(object)": arrived])
        #expect(try tree.live("b") == "one")
        #expect(try arrived.isEmpty || tree.texts().contains(arrived))
        #expect(try tree.findings() == [])
        tree.close()
    }
}
