// Names that changed while the engine's container was not mounted.

import CLinux
import Foundation
import Glibc
import Lineage
import Support
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("Names that changed while the engine's container was not mounted") struct UnmountedNamesTests {
    /// Two documents, `f` and `d/f`, and a directory `d/e`, closed while something happens to them.
    private func container(_ meanwhile: String) throws -> ServedContainer {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.makeDirectory("d")
        try container.makeDirectory("d/e")
        try container.save("d/f", "uno")
        try container.save("d/e/f", "eins")
        try container.remount { try mustRun("bash", ["-ec", meanwhile], in: container.path) }
        return container
    }

    @Test(
        "A document follows its file",
        arguments: [
            ("mv f g", ["g": ["one"], "f": []]),
            ("mv f d/e/g", ["d/e/g": ["one"]]),
            ("mkdir -p new/er; mv f new/er/g", ["new/er/g": ["one"], "f": []]),
            // Each name keeps its document.
            ("mv d/f f2; mv f d/f; mv f2 f", ["f": ["uno", "one"], "d/f": ["one", "uno"]]),
            ("mv d x", ["x/f": ["uno"], "x/e/f": ["eins"], "d/f": []]),
            ("mkdir -p new; mv d new/x; mv new/x/e .", ["new/x/f": ["uno"], "e/f": ["eins"]]),
            ("ln f g", ["f": ["one"], "g": ["one"]]),
        ])
    func moved(_ meanwhile: String, _ expected: [String: [String]]) throws {
        let container = try container(meanwhile)
        for (name, contents) in expected { #expect(try container.history(name) == contents, "\(name)") }
        #expect(try container.deleted() == [])
        #expect(try container.problems() == [])
        for (name, contents) in expected where !contents.isEmpty {
            try container.save(name, "next")
            let history = try container.history(name)
            #expect(history.first == "next" && history.contains(contents[0]), "\(name): \(history)")
        }
    }

    @Test(
        "A directory that was copied is the one that had its name",
        arguments: [
            "cp -a d x; rm -r d; mv x d", "cp -r d x; rm -r d; mv x d",
            "mkdir x; mv d/f x; cp -r d/e x; rm -r d; mv x d",
        ])
    func copied(_ meanwhile: String) throws {
        let container = try container(meanwhile)
        for _ in 0..<2 {
            #expect(try container.history("f") == ["one"])
            #expect(try container.history("d/f") == ["uno"])
            #expect(try container.history("d/e/f") == ["eins"])
            #expect(try container.deleted() == [])
            #expect(try container.problems() == [])
            try container.remount()
        }
        try container.save("d/e/f", "zwei")
        #expect(try container.history("d/e/f") == ["zwei", "eins"])
    }

    @Test("All of a copied container is what it was, big files too, and what was changed is a version")
    func copiedAll() throws {
        let container = try ServedContainer()
        let big = String(repeating: "big", count: 500_000)
        try container.makeDirectory("d")
        for name in ["f", "g", "d/f", "d/g"] { try container.save(name, "one") }
        for name in ["f", "d/f"] { try container.save(name, big) }
        try container.remount {
            let script = "mkdir x; cp -a f g d x; rm -r f g d; mv x/* .; rmdir x; printf two > d/g"
            try mustRun("bash", ["-ec", script], in: container.path)
        }
        for name in ["f", "d/f"] {
            #expect(try container.history(name).count == 2)
            #expect(try container.history(name).last == "one")
        }
        #expect(try container.history("g") == ["one"])
        try container.close(try container.open("d/g", O_RDONLY), "d/g")
        #expect(try container.history("d/g") == ["two", nil])
        #expect(try container.problems() == [])
        #expect(try container.deleted() == [])
    }

    @Test("What was removed is in the deleted list")
    func removed() throws {
        let container = try container("rm f; rm -r d; mkdir d")
        #expect(try container.deleted().map(\.count) == [1, 1, 1])
        #expect(try container.row("f") == nil)
        #expect(try container.row("d/f") == nil)
        #expect(try container.problems() == [])
        // The name's document comes back with it.
        try container.save("f", "two")
        #expect(try container.history("f").first == "two")
    }

    @Test(
        "A name with another file goes on with its document",
        arguments: [
            ("printf two > new; mv new f", ["two", nil]), ("cp -p f new; mv new f", ["one"]),
            ("cp -p f new; printf two > new; touch -r f new; mv new f", ["two", nil]),
            ("printf two > ref; touch -r f ref; cat ref > f; touch -r ref f; rm ref", ["two", nil]),
        ])
    func replaced(_ meanwhile: String, _ expected: [String?]) throws {
        let container = try container(meanwhile)
        let handle = try container.open("f", O_RDONLY)
        try container.close(handle, "f")
        #expect(try container.history("f") == expected)
        #expect(try container.problems() == [])
        try container.remount()
        #expect(try container.history("f") == expected)
        try container.save("f", "next")
        #expect(try container.history("f").dropFirst() == expected[...])
    }

    @Test("A version whose bytes are gone is marked as lost, and only that")
    func lost() throws {
        let container = try container("printf two > new; mv new f; printf due > d/f; touch d/f")
        try container.close(try container.open("d/f", O_RDONLY), "d/f")
        for (name, lost) in [("f", [false, true]), ("d/f", [false, true]), ("d/e/f", [false])] {
            let facts = try container.told()
            let document = try #require(try container.row(name)?.document)
            let marks = try facts.history(of: document).map {
                try container.container.facts.detail(of: $0)?.marks.contains(.lost)
            }
            #expect(marks == lost, "\(name)")
        }
    }
}
