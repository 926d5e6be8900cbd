// What a power cut leaves of files whose labels tell of more than the catalog has heard of.

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
        "what was synchronised is not set aside if it was about to be displaced, and the rename has not arrived",
        arguments: ["two", "t"])
    func labelledToBeDisplaced(_ arrived: String) throws {
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
}
