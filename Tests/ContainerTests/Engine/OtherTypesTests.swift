// Directories, symlinks and special files in a container over the engine: facts, deleted area and disk agree.

import CLinux
import Foundation
import Glibc
import Lineage
import Support
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("What has no versions, by the engine") struct OtherTypesTests {
    static let others: [EntryType] = [.directory, .symlink, .fifo, .socket, .device]
    static let all = others + [.file]
    /// A name that programs use only for temporary files.
    static let madeUp = ".goutputstream-AbC123"

    @Test("It has a row when it is made, moved and removed, and an entry of the deleted area", arguments: others)
    func life(_ type: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(.directory, "d")
        try tree.make(type, "d/one")
        #expect(try tree.problems() == [])
        try tree.move("d/one", to: "two")
        #expect(try tree.problems() == [])
        let last = tree.facts.facts().lastNumber
        try tree.remove("two")
        #expect(try tree.problems() == [])
        #expect(try tree.names(at: last) == ["d": .directory, "two": type])
        #expect(try tree.deleted() == ["two": type])
        #expect(try Self.told(tree) == ["created d", "created one", "renamed two", "deleted two"])
    }

    /// What listeners hear.
    private static func told(_ tree: EngineTree) throws -> [String] {
        try tree.facts.feed(after: 0, limit: .max).transactions.flatMap { try tree.facts.changes(of: $0) }
            .map { "\($0.event) \(EngineTree.text($0.place.name))" }
    }

    @Test("What was there before the container is recorded once it is moved or removed", arguments: others)
    func before(_ type: EntryType) throws {
        let tree = try EngineTree { path in
            let made = try EngineTree()
            for name in ["one", "two"] {
                try made.make(type, name)
                try #require(rename("\(made.path)/\(name)", "\(path)/\(name)") == 0)
            }
        }
        try tree.remove("one")
        try tree.move("two", to: "three")
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == ["one": type])
        #expect(try tree.names(at: 1).keys.sorted() == ["one", "two"])
    }

    @Test("A deleted symlink keeps its target, a directory its mode and its other attributes")
    func kept() throws {
        let tree = try EngineTree()
        try tree.make(.symlink, "link")
        try tree.make(.directory, "d")
        try #require(chmod("\(tree.path)/d", 0o711) == 0)
        let value = Array("blue".utf8)
        try #require(setxattr("\(tree.path)/d", "user.color", value, value.count, 0) == 0)
        try tree.remove("link")
        let above = try Backing.stat(Array(tree.path.utf8), in: AT_FDCWD)
        try tree.remove("d")
        #expect(try tree.problems() == [])
        for entry in try tree.facts.lists.deleted(limit: 10).elements {
            let id = try #require(try tree.facts.lists.id(ofDeletion: entry.number))
            let place = tree.store.deletedArea.name(of: id)
            let path = "\(tree.path)/.versionsfs/deleted/\(place.name)"
            if entry.detail.type == .symlink {
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "link")
            } else {
                var bytes = [UInt8](repeating: 0, count: 16)
                #expect(getxattr(path, "user.color", &bytes, bytes.count) == 4)
                #expect(try Backing.stat(Array(path.utf8), in: AT_FDCWD).permissions == 0o711)
                let label = try tree.store.deletedArea.label(of: id)
                #expect(label.parentModified == above.modified && label.parentAccessed == above.accessed)
            }
        }
    }

    @Test("What a rename takes the name of is in the deleted list", arguments: all, all)
    func replaced(_ source: EntryType, _ target: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(source, "source")
        try tree.make(target, "target")
        let error = failure { try tree.move("source", to: "target") }
        let refusal = source == .directory ? ENOTDIR : EISDIR
        #expect(error == ((source == .directory) == (target == .directory) ? 0 : refusal))
        #expect(try tree.problems() == [])
        if error != 0 {
            #expect(try tree.disk() == ["source": source, "target": target])
            #expect(try tree.deleted() == [:])
        } else {
            #expect(try tree.disk() == ["target": source])
            // A file that is saved over is an earlier version of the document.
            let isSave = source == .file && target == .file
            #expect(try tree.deleted() == (isSave ? [:] : ["target": target]))
        }
    }

    @Test("Two that change places keep what they are", arguments: all, all)
    func exchanged(_ one: EntryType, _ other: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(.directory, "d")
        try tree.make(one, "d/one")
        try tree.make(other, "other")
        try tree.move("d/one", to: "other", flags: linux_RENAME_EXCHANGE)
        #expect(try tree.problems() == [])
        #expect(try tree.disk() == ["d": .directory, "d/one": other, "other": one])
        #expect(try tree.deleted() == [:])
        for name in ["d/one", "other", "d"] { try tree.remove(name) }
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == ["one": other, "other": one, "d": .directory])
    }

    @Test("A document comes back to no name that something else has had since", arguments: others)
    func between(_ type: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(.file, "f")
        try tree.move("f", to: "g")
        try tree.make(type, "f")
        try tree.remove("f")
        try tree.make(.file, "f")
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == ["f": type])
        let documents = try ["f", "g"].map { name in
            let place = Place(directory: .root, name: try #require(FileName(name)))
            return try tree.facts.lists.name(at: place)?.row.document
        }
        #expect(documents[0] != documents[1])
    }

    @Test("Each of several names has an entry of its own", arguments: [EntryType.symlink, .fifo, .socket, .device])
    func links(_ type: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(type, "one")
        try tree.link("one", to: "two")
        #expect(try tree.problems() == [])
        try tree.move("one", to: "two")
        #expect(try tree.disk() == ["one": type, "two": type])
        try tree.remove("one")
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == ["one": type])
        try tree.make(.file, "file")
        try tree.link("two", to: "three")
        try tree.move("file", to: "two")
        try tree.remove("three")
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == ["one": type, "two": type, "three": type])
    }

    @Test(
        "A name that such a file has again is no entry any more",
        arguments: [EntryType.symlink, .fifo, .socket, .device])
    func again(_ type: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(type, "one")
        try tree.link("one", to: "two")
        try tree.remove("two")
        try tree.link("one", to: "two")
        #expect(try tree.problems() == [])
        try tree.remove("two")
        try tree.move("one", to: "two")
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == [:])
    }

    @Test("What a program makes up for itself leaves nothing", arguments: others)
    func madeUp(_ type: EntryType) throws {
        let tree = try EngineTree()
        try tree.make(type, Self.madeUp)
        #expect(try tree.problems(unknown: [Self.madeUp]) == [])
        #expect(tree.facts.facts().lastNumber == 0)
        try tree.remove(Self.madeUp)
        try tree.make(type, Self.madeUp)
        try tree.move(Self.madeUp, to: "real")
        #expect(try tree.problems() == [])
        try tree.move("real", to: Self.madeUp)
        try tree.remove(Self.madeUp)
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == [:])
    }

    @Test("A directory that a program makes up to save in it leaves nothing, and nobody hears of it")
    func madeUpDirectory() throws {
        let tree = try EngineTree()
        try tree.make(.directory, Self.madeUp)
        try tree.make(.file, "\(Self.madeUp)/f")
        try tree.move("\(Self.madeUp)/f", to: "f")
        try tree.make(.file, "\(Self.madeUp)/other")
        try tree.remove("\(Self.madeUp)/other")
        try tree.remove(Self.madeUp)
        #expect(try tree.problems() == [])
        #expect(try tree.deleted() == [:])
        #expect(try Self.told(tree) == ["created f", "saved f"])
        // It was no directory from before the first fact.
        #expect(try tree.names(at: 0) == [:])
    }

    @Test("What a program has made in a directory that it made up is told of once that has a real name")
    func madeUpTree() throws {
        let tree = try EngineTree()
        try tree.make(.directory, Self.madeUp)
        try tree.make(.directory, "\(Self.madeUp)/d")
        for name in ["f", "d/f", "d/\(Self.madeUp)"] { try tree.make(.file, "\(Self.madeUp)/\(name)") }
        try tree.move(Self.madeUp, to: "real")
        #expect(try tree.problems(unknown: ["real/d/\(Self.madeUp)"]) == [])
        try tree.remove("real/f")
        #expect(try tree.problems(unknown: ["real/d/\(Self.madeUp)"]) == [])
        #expect(try tree.deleted() == ["f": .file])
    }

    @Test("A refused removal or rename changes nothing")
    func refused() throws {
        let tree = try EngineTree()
        for name in ["full", "empty", "full/in"] { try tree.make(.directory, name) }
        for type in [EntryType.symlink, .file] { try tree.make(type, "\(type)") }
        #expect(failure { try tree.remove("full") } == ENOTEMPTY)
        #expect(failure { try tree.move("empty", to: "full") } == ENOTEMPTY)
        // The directory that would be replaced is put away by then, and comes back.
        #expect(failure { try tree.move("full", to: "full/in") } == EINVAL)
        for name in ["file", "symlink"] {
            let flag = linux_RENAME_NOREPLACE
            #expect(failure { try tree.move("symlink", to: "file", flags: flag) } == EEXIST)
            #expect(failure { try tree.move(name, to: "empty") } == EISDIR)
            #expect(failure { try tree.move("empty", to: name) } == ENOTDIR)
        }
        #expect(try tree.problems() == [])
        #expect(try tree.disk().count == 5)
        #expect(try tree.deleted() == [:])
        // No group begins with a removal that was refused.
        try tree.remove("empty")
        #expect(try tree.problems() == [])
    }
}
