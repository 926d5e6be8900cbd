// A rename that fails: the names, the documents and the catalog are as they were.

import CLinux
import Foundation
import Glibc
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct FailedRenameTests {
    /// Why the document of a name does not come back.
    enum Obstacle: CaseIterable { case deletedFileIsMissing, deletedFileIsMissingElsewhere }

    @Test(
        "a rename to a name that has just gone fails whole when its document cannot come back",
        arguments: Obstacle.allCases)
    func comingBack(_ obstacle: Obstacle) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "one")
        let item = try tree.item("x").id
        if obstacle == .deletedFileIsMissingElsewhere {
            // Its tombstone here says that it was moved, and the one of its new name that it was deleted.
            try tree.move("x", to: "z")
            try tree.unlink("z")
        } else {
            try tree.unlink("x")
        }
        try tree.save("y", "two")
        let coming = try tree.item("y")
        let entry = "\(tree.path)/.versionsfs/deleted"
        let file = try #require(
            FileManager.default.enumerator(atPath: entry)?.compactMap { $0 as? String }.first {
                (try? String(contentsOfFile: "\(entry)/\($0)", encoding: .utf8)) == "one"
            })
        let aside = "\(tree.path)-aside"
        try #require(Glibc.rename("\(entry)/\(file)", aside) == 0)
        defer { Glibc.unlink(aside) }

        #expect(failure { try tree.move("y", to: "x") } == ENOENT)
        #expect(try tree.live("y") == "two")
        #expect(access("\(tree.path)/x", F_OK) != 0)
        #expect(try tree.find("x") == nil)
        #expect(try tree.item("y").id == coming.id && tree.item("y").current == coming.current)

        // Nothing is over: the name comes back as soon as it can.
        try #require(Glibc.rename(aside, "\(entry)/\(file)") == 0)
        try tree.move("y", to: "x")
        #expect(try tree.item("x").id == item)
        #expect(try Set(tree.texts()) == ["one", "two"])
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("a rename to a name that has just gone does not spend its document when the call itself fails")
    func comingBackInVain() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "one")
        let item = try tree.item("x").id
        try tree.unlink("x")
        try tree.save("y", "two")
        #expect(rename(tree, "y", to: "x", flags: Self.unknown) == EINVAL)
        try tree.move("y", to: "x")
        #expect(try tree.item("x").id == item)
        #expect(try Set(tree.texts()) == ["one", "two"])
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "a rename over one of several names that fails leaves them one document",
        arguments: [0, linux_RENAME_EXCHANGE])
    func partingNames(flags: UInt32) throws {
        let tree = try BrowsedContainer()
        for (name, further) in [("x", "t"), ("y", "u")] {
            try tree.save(name, name)
            _ = try tree.container.link(
                tree.caller, node: try tree.node(name), parent: Node.rootID, name: Array(further.utf8))
        }
        let (x, y) = (try tree.item("x"), try tree.item("y"))
        #expect(rename(tree, "y", to: "x", flags: flags | Self.unknown) == EINVAL)
        #expect(try tree.item("x").id == x.id && tree.item("t").id == x.id)
        #expect(try tree.item("y").id == y.id && tree.item("u").id == y.id)
        try tree.save("t", "three")
        #expect(try tree.live("x") == "three")
        #expect(try tree.item("x").current == tree.item("t").current)
        #expect(try tree.container.store.versions(of: x.id).count == 2)
        #expect(try tree.findings() == [])

        #expect(rename(tree, "y", to: "x", flags: flags) == 0)
        #expect(try tree.item("x").id == x.id && tree.item("t").id != x.id)
        #expect(try tree.live("x") == "y" && tree.live("t") == "three")
        #expect(try Set(tree.texts()) == ["x", "y", "three"])
        #expect(try tree.findings() == [])
        tree.close()
    }

    /// A flag that no file system knows.
    private static let unknown: UInt32 = 1 << 20

    private func rename(_ tree: BrowsedContainer, _ name: String, to newName: String, flags: UInt32) -> Int32 {
        failure {
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array(name.utf8), newParent: Node.rootID,
                newName: Array(newName.utf8), flags: flags)
        }
    }
}
