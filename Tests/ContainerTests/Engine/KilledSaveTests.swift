// Files that a killed daemon has left in the middle of a save, in the engine's container.

import Foundation
import Glibc
import Support
import Testing

@testable import Container

@Suite("Saves that a kill has interrupted") struct KilledSaveTests {
    @Test("A kill tears nothing but a save that it has interrupted", arguments: ["", "thr", "two"])
    func killed(_ written: String) throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        let handle = try container.open("f", O_RDWR | O_TRUNC)
        if !written.isEmpty { try container.put(written, handle, "f") }
        try container.kill()
        #expect(container.text("f") == "two")
        #expect(try container.unfinished("f") == (written == "two" ? [] : [written]))
        #expect(try container.problems() == [])
        try container.save("f", "four")
        #expect(try container.history("f").first == "four")
    }

    @Test("Of an interrupted save that was synchronized what was written is current")
    func killedSynchronized() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let handle = try container.open("f", O_RDWR | O_TRUNC)
        try container.put("two", handle, "f")
        try container.synchronize(handle, "f")
        try container.put(" mo", handle, "f", at: 3)
        try container.kill()
        #expect(container.text("f") == "two mo")
        #expect(try container.history("f").last == "one")
        #expect(try container.unfinished("f") == [])
        #expect(try container.problems() == [])
    }

    private func resize(_ container: ServedContainer, _ name: String, _ handle: UInt64, to size: off_t) throws {
        var edit = AttributeEdit()
        edit.size = size
        let node = try container.node(name)
        _ = try container.container.setAttributes(container.caller, node: node, handle: handle, edit)
    }

    @Test("A part that was kept for a truncation that was not made is nothing to go back to")
    func killedTruncating() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let handles = [try container.open("f", O_RDWR), try container.open("f", O_RDWR)]
        try container.put("tw", handles[0], "f")
        let state = try container.state()
        try resize(container, "f", handles[1], to: 1)
        try container.kill(leaving: state) { try container.write("f", "twe") }
        #expect(container.text("f") == "one")
        #expect(Set(try container.unfinished("f")) == ["twe"])
        #expect(try container.problems() == [])
    }

    @Test("A file that was only made longer, for what was to be written, gives way")
    func killedLengthening() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try resize(container, "f", try container.open("f", O_RDWR), to: 6)
        try container.kill()
        #expect(container.text("f") == "one")
        #expect(try container.unfinished("f") == ["one\0\0\0"])
    }

    @Test("What was being appended stays", arguments: [O_WRONLY | O_APPEND, O_RDWR])
    func killedAppending(flags: Int32) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let handle = try container.open("f", flags)
        try container.put(" mo", handle, "f", at: 3)
        try container.kill()
        #expect(container.text("f") == "one mo")
        #expect(try container.history("f") == ["one mo", "one"])
        #expect(try container.unfinished("f") == [])
    }

    @Test("A save that a close has told of stays, though another program has the file open, or a copy lacks its end")
    func killedBehindClose() throws {
        let container = try ServedContainer()
        for name in ["f", "g"] { try container.save(name, "one") }
        _ = try container.open("f", O_RDWR)
        for name in ["f", "g"] {
            let handle = try container.open(name, O_WRONLY | O_APPEND)
            try container.put(" more", handle, name, at: 3)
            try container.close(handle, name)
        }
        // It was to be emptied after the first save.
        let object = try container.object(of: "g", 1)
        var state = try container.state()
        state[MarkFile.name] = try container.marks([], open: ["f", "g"])[MarkFile.name]
        try container.kill(leaving: state) {
            let directory = "\(container.path)/\(object)".split(separator: "/").dropLast().joined(separator: "/")
            try FileManager.default.createDirectory(atPath: "/" + directory, withIntermediateDirectories: true)
            try container.write(object, "one")
        }
        for name in ["f", "g"] {
            #expect(container.text(name) == "one more")
            #expect(try container.history(name) == ["one more", "one"])
            #expect(try container.unfinished(name) == [])
        }
        #expect(try container.problems() == [])
    }

    @Test("A database that a kill has interrupted is left alone")
    func killedDatabase() throws {
        let container = try ServedContainer()
        let database = "SQLite format 3\0" + String(repeating: "0", count: 200)
        try container.save("f.db", database)
        let handle = try container.open("f.db", O_RDWR)
        try container.put("1", handle, "f.db", at: 100)
        try container.kill()
        #expect(container.text("f.db")?.dropFirst(100).first == "1")
        #expect(try container.unfinished("f.db") == [])
    }

    @Test("What a program overwrites that outlives a kill is kept")
    func survivor() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        let program = try ActorProcess("program", in: container.path)
        try program.must("open", "f", "f", "rw")
        try program.must("map", "m", "f", "3")
        try program.must("close", "f")
        try program.must("store", "m", "0", "thr")
        var state = try container.state()
        state[MarkFile.name] = try container.marks([], open: ["f"])[MarkFile.name]
        try container.kill(leaving: state)
        #expect(container.text("f") == "thr")
        #expect(try container.history("f") == ["thr", "one"])
        try program.must("store", "m", "0", "fou")
        // Nothing tells when the program is done with it.
        _ = try container.open("f", O_RDONLY)
        #expect(try container.history("f") == ["thr", "one"])
        try program.must("unmap", "m")
        _ = try container.open("f", O_RDONLY)
        #expect(try container.history("f") == ["fou", "thr", "one"])
        #expect(try container.problems() == [])
    }
}
