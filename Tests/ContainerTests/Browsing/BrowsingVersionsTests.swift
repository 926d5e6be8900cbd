// `D/.versions/NAME`: what is listed, with which attributes and bytes, and what may be done there.

import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("Versions as files")
struct BrowsingVersionsTests {
    private let tree: BrowsedContainer

    init() throws { tree = try BrowsedContainer() }

    @Test("a document is listed as soon as it has another version, and not before")
    func listed() throws {
        try tree.save("a.txt", "one")
        try tree.save("b.txt", "alone")
        #expect(try tree.list(".versions") == [])
        #expect(try tree.find(".versions/a.txt") == nil)
        try tree.save("a.txt", "two!")
        #expect(try tree.list(".versions") == ["a.txt"])
        #expect(try tree.list(".versions/a.txt") == ["conflicts", "history", "base"])
        #expect(try tree.list(".versions/a.txt/conflicts") == [])
        let path = try tree.only(".versions/a.txt/history")
        #expect(path.hasSuffix(".txt"))
        #expect(try tree.read(path) == "one")
        #expect(try tree.find(path)?.attributes.stat.st_size == 3)
        #expect(try tree.find(".versions/b.txt") == nil)
        #expect(try tree.list(".versions/.deleted") == [])
        #expect(try tree.find(".versions/.versions") == nil)
    }

    @Test("names of 255 bytes and names that are not UTF-8 are found as they are")
    func bytes() throws {
        for name in [[UInt8](repeating: 120, count: 251) + Array(".txt".utf8), [0xff, 0xfe, 46, 0xc3]] {
            try tree.save([name], "one")
            try tree.save([name], "two")
            let top = Array(".versions".utf8)
            #expect(try tree.list([top]).contains(name))
            let versions = try tree.list([top, name, Array("history".utf8)], withAttributes: true)
            let version = try #require(versions.first)
            #expect(version.count <= 255)
            #expect(try tree.find([top, name, Array("history".utf8), version])?.attributes.stat.st_size == 3)
        }
        #expect(
            failure { _ = try tree.find([Array(".versions".utf8), [UInt8](repeating: 97, count: 256)]) } == ENAMETOOLONG
        )
    }

    @Test("documents called like what is special there are found beside it, under names that no other document has")
    func special() throws {
        tree.container.socketPath = "/run/socket"
        let shown = [".deleted": ".deleted@document", ".deleted@document": ".deleted@document@document",
            ".socket": ".socket@document", ".deleted~": ".deleted~"]
        for name in shown.keys {
            try tree.save(name, "one \(name)")
            try tree.save(name, "two")
        }
        try tree.save("gone", "x")
        try tree.unlink("gone")
        #expect(try tree.list(".versions") == ([".deleted"] + shown.values).sorted())
        #expect(try tree.list(".versions/.deleted") == ["gone"])
        #expect(try tree.mode(".versions/.socket") == 0o777)
        for (name, directory) in shown {
            let path = try tree.only(".versions/\(directory)/history")
            #expect(try tree.read(path) == "one \(name)")
            let old = try #require(try tree.container.store.versions(of: try tree.item(name).id).last)
            let place = try tree.place(name)
            #expect(tree.browser.path(of: old, at: place)?.description == path)
        }
        #expect(try tree.find(".versions/gone@document") == nil)
    }

    @Test("losers and their base are files beside the history")
    func conflicts() throws {
        try tree.makeDirectory("d")
        try tree.save("d/a.txt", "base")
        let base = try tree.item("d/a.txt").current
        try tree.save("d/a.txt", "winner")
        let loser = try tree.addConflict("d/a.txt", "loser", base: base)
        let path = try tree.only("d/.versions/a.txt/conflicts")
        #expect(path.contains(loser.id.short))
        #expect(try tree.read(path) == "loser")
        #expect(try tree.read(try tree.only("d/.versions/a.txt/base")) == "base")
        #expect(
            try tree.browser.path(of: loser, at: try tree.place("d/a.txt"))?.description == String(path.dropFirst(2)))
        #expect(try tree.list(".versions") == [])
    }

    @Test("modes are those of their time without writing; losers belong to who may write the document")
    func modes() throws {
        try tree.makeDirectory("d")
        try tree.save("d/run", "one", mode: 0o751)
        try tree.save("d/run", "two")
        #expect(try tree.mode("d/.versions") == 0o555)
        #expect(try tree.mode("d/.versions/run") == 0o555)
        #expect(try tree.mode("d/.versions/run/history") == 0o555)
        #expect(try tree.mode(try tree.only("d/.versions/run/history")) == 0o551)
        var edit = AttributeEdit()
        edit.mode = 0o4620
        _ = try tree.container.setAttributes(tree.caller, node: try tree.node("d/run"), handle: nil, edit)
        #expect(try tree.mode("d/.versions/run/conflicts") == 0o730)
        #expect(try tree.mode(try tree.only("d/.versions/run/history")) == 0o551)
        try tree.save("d/run", "three")
        let newest = try #require(try tree.list("d/.versions/run/history").first)
        #expect(try tree.mode("d/.versions/run/history/\(newest)") & 0o7222 == 0)
        #expect(UInt32(try #require(try tree.find("d/.versions")).attributes.stat.st_uid) == getuid())
    }

    @Test("of a content that was appended to, a version is its own beginning, before and after it is kept")
    func clamped() throws {
        try tree.save("log", "first,")
        try tree.save("log", "second,", flags: O_APPEND)
        tree.clock.advance(seconds: 61)
        try tree.save("log", "third,", flags: O_APPEND)
        // Appends have made versions that name one content, which is in the live file.
        let versions = try tree.container.store.versions(of: try tree.item("log").id)
        #expect(Set(versions.map(\.content)).count == 1)
        let oldest = try #require(try tree.list(".versions/log/history").last)
        let path = ".versions/log/history/\(oldest)"
        let node = try tree.node(path)
        let handle = try tree.browser.open(tree.caller, node: node, flags: O_RDONLY).handle
        #expect(try tree.read(node, handle) == "first,")
        #expect(try tree.read(node, handle, from: 3) == "st,")
        #expect(try tree.read(node, handle, from: 6) == "")
        try tree.save("log", "OVERWRITTEN, and long enough to cover everything")
        #expect(try tree.read(node, handle) == "first,")
        tree.browser.release(node: node, handle: handle)
        #expect(try tree.read(path) == "first,")
    }

    @Test("nothing can be written")
    func readOnly() throws {
        try tree.save("a", "one")
        try tree.save("a", "two")
        try tree.save("b", "other")
        let path = try tree.only(".versions/a/history")
        let node = try tree.node(path)
        for flags in [O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC] {
            #expect(failure { _ = try tree.browser.open(tree.caller, node: node, flags: flags) } == EROFS)
        }
        #expect(failure { try tree.rename(path, to: "a") } == EROFS)
        #expect(failure { try tree.rename(".versions/a", to: "c") } == EROFS)
        let intoOurs = failure {
            try tree.browser.rename(
                tree.caller, parent: Node.rootID, name: Array("b".utf8),
                newParent: try tree.node(".versions/a/history"),
                newName: Array("b".utf8), flags: 0)
        }
        #expect(intoOurs == EROFS)
    }

    @Test("renaming a loser onto its document chooses it")
    func choosing() throws {
        try tree.save("a", "winner", mode: 0o640)
        try tree.save("b", "other")
        let item = try tree.item("a")
        let loser = try tree.addConflict("a", "loser")
        let path = try tree.only(".versions/a/conflicts")
        #expect(failure { try tree.rename(path, to: "b") } == EROFS)
        #expect(failure { try tree.rename(path, to: "new") } == EROFS)
        #expect(failure { try tree.rename(path, to: "a", flags: 1) } == EEXIST)
        try tree.rename(path, to: "a")
        let label = try tree.container.store.contents.label(of: loser.content)
        #expect(label.version.kind == .history)
        let events = try tree.container.store.changes(after: 0, limit: 100).map(\.1)
        #expect(events.contains { $0.event == .resolved && $0.version == loser.id && $0.path == TreePath(bytes: [97]) })
        #expect(try tree.live("a") == "loser")
        #expect(try tree.mode("a") == 0o640)
        #expect(try tree.list(".versions/a/conflicts") == [])
        let now = try tree.item("a")
        #expect(now.id == item.id)
        let current = try #require(try tree.container.store.version(now.current))
        #expect(Set(current.parents) == [item.current, loser.id])
        #expect(
            Set(try tree.list(".versions/a/history").map { try tree.read(".versions/a/history/\($0)") }) == [
                "winner", "loser",
            ])
        // An ordinary save goes on from there.
        try tree.save("a", "next")
        #expect(try tree.list(".versions/a/conflicts") == [])
        #expect(try tree.list(".versions/a/history").count == 3)
    }

    @Test("attributes tell which item and version a file is")
    func told() throws {
        try tree.save("a", "one")
        let first = try tree.item("a").current
        try tree.save("a", "two")
        let node = try tree.node(try tree.only(".versions/a/history"))
        func told(_ key: String) throws -> String {
            String(
                decoding: try tree.browser.extendedAttribute(
                    tree.caller, node: node, name: Array("user.versions.\(key)".utf8)), as: UTF8.self)
        }
        #expect(try told("item") == (try tree.item("a").id.hex))
        #expect(try told("version") == first.hex)
        #expect(try told("state") == "current")
        #expect(try told("conflicts") == "0")
        #expect(failure { _ = try told("socket") } == ENODATA)
        tree.container.socketPath = "/run/x.sock"
        #expect(try told("socket") == "/run/x.sock")
        #expect(try tree.browser.extendedAttributes(tree.caller, node: node) == [])
        #expect(
            try tree.browser.readLink(tree.caller, node: try tree.node(".versions/.socket"))
                == Array("/run/x.sock".utf8))
    }

    @Test("an access list loses the right to write, and only that")
    func accessLists() {
        let list: [UInt8] = [
            2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 7, 0, 232, 3, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255, 16, 0,
            7,
            0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
        ]
        let accesses = { (list: [UInt8]) in stride(from: 6, to: list.count, by: 8).map { list[$0] } }
        #expect(AccessListEditing.withoutWriting(list).map(accesses) == [4, 5, 4, 5, 0])
        #expect(AccessListEditing.changed(list, Browser.directoryAccess).map(accesses) == [7, 7, 5, 7, 0])
        #expect(AccessListEditing.withoutWriting(Array(list.dropLast())) == nil)
        #expect(AccessListEditing.withoutWriting([]) == nil)
    }

    @Test("nodes are virtual, stay as long as they are held, and keep their inode numbers")
    func nodes() throws {
        try tree.save("a", "one")
        try tree.save("a", "two")
        let path = try tree.only(".versions/a/history")
        let caller = tree.caller
        let other = Browser(tree.container)
        var parent = Node.rootID
        var held: [UInt64] = []
        for name in BrowsedContainer.bytes(path) {
            let found = try #require(try other.lookup(caller, parent: parent, name: name))
            #expect(Browser.owns(found.node))
            #expect(found.attributes.valid <= 1)
            #expect(found.nameValid <= 1)
            held.append(found.node)
            parent = found.node
        }
        #expect(
            try tree.find(path)?.attributes.stat.st_ino
                == (try other.attributes(caller, node: parent, handle: nil).stat.st_ino))
        #expect(other.nodeCount == held.count)
        for node in held.reversed() { other.forget(node, lookups: 1) }
        #expect(other.nodeCount == 0)
        #expect(!Browser.owns(Node.rootID))
    }
}
