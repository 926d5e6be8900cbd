// What a power cut has left in parts gives way to what was whole before it, in the engine's container.

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

@Suite("Torn files of the engine's container") struct TornFileTests {
    /// The facts of this moment are what a later power cut leaves.
    private func durable(_ container: ServedContainer) throws -> [String: Data] {
        var state = try container.state()
        state[MarkFile.name] = nil
        return state
    }

    /// Gives a file other bytes. Its times are in the file system's log, and have arrived.
    private func tear(_ container: ServedContainer, _ name: String, _ text: String) throws {
        let path = "\(container.path)/\(name)"
        var before = stat()
        #expect(lstat(path, &before) == 0)
        let file = try FileDescriptor.open(path, .writeOnly)
        defer { try? file.close() }
        #expect(ftruncate(file.rawValue, 0) == 0)
        try file.writeAll(text.utf8)
        #expect(futimens(file.rawValue, [before.st_atim, before.st_mtim]) == 0)
    }

    @Test("A save that has come in part gives way to the version before it", arguments: ["", "t", "t\0o"])
    func savedInPart(_ arrived: String) throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        try container.kill(leaving: durable(container)) { try tear(container, "f", arrived) }
        #expect(container.text("f") == "one")
        #expect(try container.history("f") == ["one", arrived, "one"])
        #expect(try container.unfinished("f") == [arrived])
        #expect(try container.problems() == [])
        try container.kill()
        #expect(try container.history("f") == ["one", arrived, "one"])
        try container.save("f", "three")
        #expect(try container.history("f") == ["three", "one", arrived, "one"])
    }

    @Test("A file that was renamed over another one and has not come gives way to what that had")
    func renamedOver() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("new", "two")
        try container.rename("new", to: "f")
        try container.kill(leaving: durable(container)) { try tear(container, "f", "") }
        #expect(container.text("f") == "one")
        #expect(try container.unfinished("f") == [""])
        #expect(try container.problems() == [])
    }

    @Test("The same if no fact tells of the rename; one that has come stays", arguments: ["", "t\0o", "two"])
    func renamedUnknown(_ arrived: String) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        try container.save("new", "two")
        try container.rename("new", to: "f")
        try container.kill(leaving: state) { try tear(container, "f", arrived) }
        #expect(container.text("f") == (arrived == "two" ? "two" : "one"))
        #expect(try container.unfinished("f") == (arrived == "two" ? [] : [arrived]))
        #expect(try container.history("f").last == "one")
        #expect(try container.problems() == [])
    }

    @Test("What a renamed file had before it was written over is current again, though labels alone tell of it")
    func renamedAndWrittenOver() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        try container.save("f.new", "two")
        try container.rename("f.new", to: "f")
        try container.save("f", "three")
        try container.kill(leaving: state) { try tear(container, "f", "th") }
        #expect(container.text("f") == "two")
        #expect(try container.unfinished("f") == ["th"])
        #expect(try container.problems() == [])
    }

    @Test("A file of which nothing has come, nor of what was kept of it, gives way to what was before both")
    func nothingOfBoth() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        try container.save("f.new", "two")
        try container.rename("f.new", to: "f")
        let content = try #require(try container.told().versions.last?.content)
        _ = try container.open("f", O_RDWR | O_TRUNC)
        let object = ".versionsfs/objects/\(container.store.contents.name(of: ContentID(content)).name)"
        try container.kill(leaving: state) { try tear(container, object, "") }
        #expect(container.text("f") == "one")
        #expect(try container.problems() == [])
    }

    @Test("What was written over from its beginning, and is longer now, gives way")
    func longer() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        let handle = try container.open("f", O_RDWR)
        try container.put("three", handle, "f")
        try container.close(handle, "f")
        try container.kill(leaving: state) { try tear(container, "f", "one\0\0") }
        #expect(container.text("f") == "one")
        #expect(try container.unfinished("f") == ["one\0\0"])
    }

    @Test("What was being written, and no fact tells of, gives way", arguments: [true, false])
    func unknown(isClosed: Bool) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        let handle = try container.open("f", O_RDWR | O_TRUNC)
        try container.put("tw", handle, "f")
        if isClosed { try container.close(handle, "f") }
        try container.kill(leaving: state)
        #expect(container.text("f") == "one")
        #expect(try container.history("f") == ["one", "tw", "one"])
        #expect(try container.unfinished("f") == ["tw"])
        #expect(try container.problems() == [])
    }

    @Test("A file of several names gets its bytes back in place")
    func linked() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        try container.link("f", to: "g")
        try container.kill(leaving: durable(container)) { try tear(container, "f", "t") }
        #expect(container.text("f") == "one" && container.text("g") == "one")
        #expect(try container.unfinished("f") == ["t"])
        #expect(try container.problems() == [])
    }

    @Test("What was synchronized stays, though no fact tells of it", arguments: [true, false])
    func synchronized(isClosedFirst: Bool) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        let handle = try container.open("f", O_RDWR | O_TRUNC)
        try container.put("two", handle, "f")
        if isClosedFirst {
            try container.close(handle, "f")
            let other = try container.open("f", O_WRONLY)
            try container.synchronize(other, "f")
        } else {
            try container.synchronize(handle, "f")
        }
        try container.kill(leaving: state)
        #expect(container.text("f") == "two")
        #expect(try container.history("f") == ["two", "one"])
        #expect(try container.unfinished("f") == [])
        #expect(try container.problems() == [])
    }

    @Test("What was synchronized is current again, if what was appended since has not come", arguments: ["", "\0\0\0"])
    func appendedSince(_ arrived: String) throws {
        let container = try ServedContainer()
        try container.save("f", "old")
        let handle = try container.open("f", O_RDWR | O_TRUNC)
        try container.put("base", handle, "f")
        try container.synchronize(handle, "f")
        try container.put(" more", handle, "f", at: 4)
        try container.close(handle, "f")
        #expect(try container.history("f") == ["base more", "old"])
        try container.kill(leaving: durable(container)) { try tear(container, "f", "base\(arrived)") }
        #expect(container.text("f") == "base")
        #expect(try container.history("f") == (arrived.isEmpty ? [] : ["base", "base\(arrived)"]) + ["base", "old"])
        #expect(try container.unfinished("f") == (arrived.isEmpty ? [] : ["base\(arrived)"]))
        #expect(try container.problems() == [])
    }

    @Test("What another program has appended, and has come in part, leaves what was there")
    func appended() throws {
        let container = try ServedContainer()
        try container.save("f", "base")
        let handle = try container.open("f", O_WRONLY | O_APPEND)
        try container.put(" more", handle, "f", at: 4)
        try container.close(handle, "f")
        try container.kill(leaving: durable(container)) { try tear(container, "f", "base\0\0\0") }
        #expect(container.text("f") == "base")
        #expect(try container.unfinished("f") == ["base\0\0\0"])
        #expect(try container.problems() == [])
    }

    @Test("An edit that was made while nothing was mounted stays")
    func edited() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        try container.kill(leaving: durable(container)) { try container.write("f", "edited") }
        #expect(container.text("f") == "edited")
        #expect(try container.history("f").first == "edited")
        #expect(try container.unfinished("f") == [])
        #expect(try container.problems() == [])
    }

    @Test("The first version of a new file has none to give way to")
    func new() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.kill(leaving: durable(container)) { try tear(container, "f", "o") }
        #expect(container.text("f") == "o")
        #expect(try container.unfinished("f") == ["o"])
    }

    // MARK: Kept contents

    @Test("A kept content that has come in part is what there is of its version", arguments: ["o", "o\0\0"])
    func keptInPart(_ arrived: String) throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        let object = try container.object(of: "f", 1)
        try container.kill(leaving: durable(container)) { try tear(container, object, arrived) }
        #expect(container.text("f") == "two")
        #expect(try container.history("f") == ["two", arrived])
        #expect(try container.unfinished("f") == [arrived])
        #expect(try container.problems() == [])
    }

    @Test("A copy that has come in part is none, if its file has not been changed yet", arguments: ["", "\0\0\0"])
    func copyInPart(_ arrived: String) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let state = try durable(container)
        try container.save("f", "two")
        let object = try container.object(of: "f", 1)
        try container.kill(leaving: state) {
            try tear(container, object, arrived)
            try tear(container, "f", "one")
        }
        #expect(try container.history("f") == ["one"])
        try container.save("f", "three")
        #expect(try container.history("f") == ["three", "one"])
        #expect(try container.problems() == [])
    }

    @Test("What was deleted, and has come in part, is there as far as it has come, though no fact tells of it")
    func deletedInPart() throws {
        let container = try ServedContainer()
        try container.save("other", "one")
        let state = try durable(container)
        try container.save("f", "text")
        let content = try #require(try container.told().versions.last?.content)
        try container.unlink("f")
        let object = ".versionsfs/objects/\(container.store.contents.name(of: ContentID(content)).name)"
        try container.kill(leaving: state) { try tear(container, object, "te") }
        #expect(try container.deleted() == [["te"]])
        let version = try #require(try container.told().versions.last?.number)
        #expect(try container.facts.detail(of: version)?.marks == .unfinished)
        #expect(try container.problems() == [])
    }

    @Test("A file that was to give way when the daemon was killed once more does so at the next mount")
    func interrupted() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        let file = try Backing.open(path: "\(container.path)/f", in: AT_FDCWD, flags: O_RDWR)
        TornMark.set(on: file)
        Glibc.close(file)
        var state = try container.state()
        state[MarkFile.name] = try container.marks([], open: ["f"])[MarkFile.name]
        try container.kill(leaving: state)
        #expect(container.text("f") == "one")
        #expect(try container.history("f") == ["one", "two", "one"])
        #expect(try container.unfinished("f") == ["two"])
    }
}
