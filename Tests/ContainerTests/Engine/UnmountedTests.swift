// What changed while the engine's container was not mounted, or was killed, is found.

import CLinux
import Foundation
import Glibc
import Lineage
import Support
import Testing
import VersionModel

@testable import Container

@Suite("The engine's container at the next mount") struct UnmountedTests {
    // MARK: In order

    /// Everything that may be the first request for a file that was edited.
    private static let firstRequests: [String: @Sendable (ServedContainer) throws -> Void] = [
        "overwritten in place": { container in
            let handle = try container.open("f")
            try container.put("X", handle, "f")
            try container.close(handle, "f")
        },
        "emptied": { try $0.save("f", "new") },
        "appended to": { container in
            let handle = try container.open("f", O_RDWR | O_APPEND)
            try container.put("more", handle, "f", at: 0)
            try container.close(handle, "f")
        },
    ]

    @Test(
        "An edit is a version before the file is changed",
        arguments: ["overwritten in place", "emptied", "appended to"])
    func editedThenChanged(_ request: String) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.remount { try container.write("f", "edited, and longer") }
        try Self.firstRequests[request]?(container)
        let history = try container.history("f")
        #expect(Array(history.dropFirst()) == ["edited, and longer", nil], "\(history)")
    }

    @Test("An edit is a version also where a request for another name is the first to look at the file")
    func editedAside() throws {
        let container = try ServedContainer()
        try container.save("f", "before")
        try container.rename("f", to: "g")
        try container.remount { try container.write("g", "aside") }
        // What f showed may come back with the name.
        try container.save("f", "other")
        try container.save("g", "new")
        #expect(try container.history("g") == ["new", "aside", nil])
        #expect(try container.problems() == [])
    }

    @Test("What was only appended goes on in the same content")
    func appended() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.remount { try container.write("f", "one and two") }
        try container.save("f", "new")
        #expect(try container.history("f") == ["new", "one and two", "one"])
    }

    @Test("What was renamed, replaced or removed keeps its history")
    func otherNames() throws {
        let container = try ServedContainer()
        for name in ["moved", "replaced", "removed"] {
            try container.save(name, "one")
            try container.save(name, "two")
        }
        try container.remount {
            try container.write("other", "three")
            for (name, new) in [("moved", "new"), ("other", "replaced")] {
                #expect(Glibc.rename("\(container.path)/\(name)", "\(container.path)/\(new)") == 0)
            }
            #expect(Glibc.unlink("\(container.path)/removed") == 0)
        }
        #expect(try container.history("new") == ["two", "one"])
        #expect(try container.history("replaced") == ["three", nil, "one"])
        #expect(try container.deleted() == [[nil, "one"]])
        #expect(try container.problems() == [])
    }

    @Test("An edit is a version before the name goes")
    func editedThenRemoved() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.remount { try container.write("f", "edited, and longer") }
        try container.unlink("f")
        #expect(try container.deleted() == [["edited, and longer", nil]])
    }

    @Test("An edit is a version before another file takes the name")
    func editedThenReplaced() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("g", "other")
        try container.remount { try container.write("f", "edited, and longer") }
        try container.rename("g", to: "f")
        #expect(try container.history("f") == ["other", "edited, and longer", nil])
    }

    @Test("An edit is a version before the file takes another name")
    func editedThenMoved() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("g", "other")
        try container.remount { try container.write("f", "edited, and longer") }
        try container.rename("f", to: "g")
        #expect(try container.history("g").first == "edited, and longer")
        #expect(try container.history("g").contains("other"))
    }

    @Test("A reader has seen the edit")
    func editedThenRead() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.remount { try container.write("f", "edited, and longer") }
        _ = try container.open("f", O_RDONLY)
        #expect(try container.history("f") == ["edited, and longer", nil])
    }

    @Test("A file that was only touched has no new version")
    func touched() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.remount { utimensat(AT_FDCWD, "\(container.path)/f", nil, 0) }
        try container.save("f", "two")
        #expect(try container.history("f") == ["two", "one"])
    }

    @Test("Nothing is settled after an orderly end")
    func orderly() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.remount()
        #expect(try container.told().rows.count == 1)
    }

    @Test("A name that its program made up is known after an orderly end")
    func madeUp() throws {
        let container = try ServedContainer()
        try container.save("f.vsctmp", "draft")
        #expect(try container.told().rows.isEmpty)
        try container.remount()
        #expect(try container.history("f.vsctmp") == ["draft"])
        try container.rename("f.vsctmp", to: "f")
        #expect(try container.history("f") == ["draft"])
    }

    @Test("A content that was kept before an append counts as none")
    func keptTooEarly() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let handle = try container.open("f", O_RDWR | O_APPEND)
        try container.put(" and two", handle, "f", at: 3)
        try container.close(handle, "f")
        let file = try #require(try container.row("f")?.file)
        try container.remount {
            let object = ContentID(high: file.number, low: 0).hex
            try FileManager.default.createDirectory(
                atPath: "\(container.path)/.versionsfs/objects/\(object.prefix(2))", withIntermediateDirectories: true)
            try container.write(".versionsfs/objects/\(object.prefix(2))/\(object)", "one")
        }
        try container.save("f", "new")
        #expect(try container.history("f") == ["new", "one and two", "one"])
    }

    // MARK: Killed

    @Test("A name that its program made up is known after a kill, and one that it threw away is not")
    func madeUpAndKilled() throws {
        let container = try ServedContainer()
        try container.save("f.vsctmp", "draft")
        try container.save("g.vsctmp", "scrap")
        try container.unlink("g.vsctmp")
        try container.kill()
        #expect(try container.history("f.vsctmp") == ["draft"])
        #expect(try container.told().rows.count == 1)
    }

    @Test("After a power cut, names of the last minute are looked at")
    func powerCut() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.rename("f", to: "g")
        var state = try container.state()
        state[MarkFile.name] = nil
        // The rename has not reached the disk.
        try container.kill(leaving: state) { rename("\(container.path)/g", "\(container.path)/f") }
        #expect(try container.history("f") == ["one"])
        #expect(try container.row("g") == nil)
        #expect(try container.problems() == [])
    }

    @Test("A power cut that takes the last facts along: files are found again under their names")
    func lostFacts() throws {
        let container = try ServedContainer()
        try container.makeDirectory("d")
        try container.save("d/f", "one")
        try container.save("gone", "old")
        var state = try container.state()
        state[MarkFile.name] = nil
        try container.rename("d/f", to: "g")
        try container.save("new", "first")
        try container.unlink("gone")
        try container.kill(leaving: state)
        #expect(try container.history("g") == ["one"])
        #expect(try container.row("d/f") == nil)
        #expect(try container.row("gone") == nil)
        #expect(try container.problems() == [])
        try container.save("new", "second")
        #expect(try container.history("new") == ["second", "first"])
    }

    @Test("What a program was writing at the kill is a version, and what was there is current again")
    func writing() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let handle = try container.open("f")
        try container.put("half", handle, "f")
        try container.kill()
        #expect(try container.history("f") == ["one", "half", "one"])
        #expect(try container.problems() == [])
    }

    @Test("A content that was kept for an amended version counts, though the facts know that as a longer one")
    func keptAmended() throws {
        let container = try ServedContainer()
        let handle = try container.create("f")
        try container.put("long text", handle, "f")
        container.container.flush(container.caller, handle: handle)
        var edit = AttributeEdit()
        edit.size = 4
        let node = try container.node("f")
        _ = try container.container.setAttributes(container.caller, node: node, handle: handle, edit)
        try killed(container, marking: ["f"], open: ["f"]) { try container.unlink("f") }
        #expect(try container.deleted() == [["long"]])
    }

    @Test("A new file that a program was writing at the kill has a version")
    func writingNew() throws {
        let container = try ServedContainer()
        let handle = try container.create("f")
        try container.put("half", handle, "f")
        try container.kill()
        #expect(try container.history("f") == ["half"])
    }

    /// The state before a request with what it marked: the kill comes between its system call and its facts.
    private func killed(
        _ container: ServedContainer, marking names: [String], _ request: () throws -> Void
    ) throws {
        try killed(container, marking: names, open: [], request)
    }

    @Test("A rename that the facts do not know is one")
    func renamed() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try killed(container, marking: ["f", "g"]) { try container.rename("f", to: "g") }
        #expect(try container.history("g") == ["one"])
        #expect(try container.row("f") == nil)
        #expect(try container.problems() == [])
    }

    @Test("A rename over another file that the facts do not know is a save of that name")
    func renamedOver() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("g", "other")
        try killed(container, marking: ["f", "g"]) { try container.rename("f", to: "g") }
        #expect(try container.history("g") == ["one", "other"])
        #expect(try container.row("f") == nil)
        #expect(try container.problems() == [])
    }

    @Test("A removal that the facts do not know is one, and its content is there")
    func removed() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try killed(container, marking: ["f"]) { try container.unlink("f") }
        #expect(try container.deleted() == [["one"]])
        #expect(try container.problems() == [])
    }

    @Test("An exchange that the facts do not know is one")
    func exchanged() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("g", "other")
        try killed(container, marking: ["f", "g"]) {
            try container.rename("f", to: "g", flags: linux_RENAME_EXCHANGE)
        }
        #expect(try container.history("f") == ["other", "one"])
        #expect(try container.history("g") == ["one", "other"])
        #expect(try container.problems() == [])
    }

    @Test("A directory that the facts do not know where it is has its documents")
    func movedDirectory() throws {
        let container = try ServedContainer()
        try container.makeDirectory("d")
        try container.save("d/f", "one")
        let handle = try container.open("d/f")
        try container.put("two", handle, "d/f")
        try killed(container, marking: ["d", "e"], open: ["d/f"]) { try container.rename("d", to: "e") }
        #expect(try container.history("e/f") == ["two", "one"])
        #expect(try container.problems() == [])
    }

    private func killed(
        _ container: ServedContainer, marking names: [String], open: [String], _ request: () throws -> Void
    ) throws {
        let before = try container.state()
        let marks = try container.marks(names, open: open)
        try request()
        try container.kill(leaving: before.merging(marks) { $1 })
    }

    @Test("A link that the facts do not know is a further name")
    func linked() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try killed(container, marking: ["g"]) { try container.link("f", to: "g") }
        #expect(try container.row("g")?.document == container.row("f")?.document)
        #expect(try container.problems() == [])
    }

    @Test("Each step of a long life may be the last one")
    func everyStep() throws {
        let steps = 12
        for last in 0..<steps {
            let container = try ServedContainer()
            for step in 0..<last { try Self.act(container, step) }
            try container.kill()
            #expect(try container.problems() == [], "killed after \(last) steps")
            for name in ["a", "b", "d/a"] {
                guard let text = container.text(name) else {
                    #expect(try container.row(name) == nil, "\(name), killed after \(last) steps")
                    continue
                }
                let history = try container.history(name)
                #expect(history.first == text, "\(name), killed after \(last) steps: \(history)")
                #expect(!history.contains(nil), "\(name), killed after \(last) steps: \(history)")
            }
            for step in last..<steps where step != 9 { try Self.act(container, step) }
            #expect(try container.problems() == [], "killed after \(last) steps, and gone on")
        }
    }

    private static func act(_ container: ServedContainer, _ step: Int) throws {
        switch step {
        case 0: try container.save("a", "first")
        case 1: try container.save("a", "second")
        case 2: try container.makeDirectory("d")
        case 3: try container.save("b", "beside")
        case 4: try container.rename("b", to: "d/a")
        case 5: try container.link("a", to: "b")
        case 6: try container.save("a", "third")
        case 7: try container.unlink("b")
        case 8: _ = try container.open("a")
        case 9:
            let handle = try container.open("a")
            try container.put("fourth", handle, "a")
        case 10: try container.rename("d/a", to: "a")
        default: try container.save("d/a", "fifth")
        }
    }
}
