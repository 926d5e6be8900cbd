// Undeleting, through the container's own interface.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct UndeletingTests: OperationTesting {
    @Test func aDirectoryComesBackAsItWas() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/sub", "d/sub/empty"] { try tree.makeDirectory(name) }
        try tree.save("d/a.txt", "a")
        try tree.save("d/sub/b.sh", "b", mode: 0o755)
        try tree.save("d/sub/b.sh", "bb")
        let parent = try tree.node("d")
        _ = try tree.container.makeSymlink(
            tree.caller, parent: parent, name: Array("link".utf8), target: Array("a.txt".utf8))
        try tree.save([[100], [255, 254]], "not UTF-8")
        let full = "\(tree.path)/d"
        #expect(linux_lsetxattr("\(full)/sub", "user.test", "x", 1, 0) == 0)
        #expect(linux_lsetxattr("\(full)/a.txt", "user.test", "y", 1, 0) == 0)
        for (name, time) in [("sub/empty", 1000), ("sub", 2000), ("a.txt", 3000), ("", 4000)] {
            let times = [timespec(tv_sec: time, tv_nsec: 7), timespec(tv_sec: time, tv_nsec: 9)]
            #expect(utimensat(AT_FDCWD, "\(full)/\(name)", times, 0) == 0)
        }
        #expect(chmod("\(full)/sub", 0o2750) == 0)
        let before = try photograph(full)

        try tree.unlink("d/sub/b.sh")
        try tree.removeDirectory("d/sub/empty")
        try tree.removeDirectory("d/sub")
        for name in [Array("a.txt".utf8), Array("link".utf8), [255, 254]] {
            try tree.container.unlink(tree.caller, parent: parent, name: name)
        }
        try tree.removeDirectory("d")
        #expect(access(full, F_OK) != 0)

        let deletion = try tree.container.deletion(at: path("d"), as: my)
        let outcome = try tree.container.undelete(deletion, as: my)
        #expect(outcome.entries == 7)
        #expect(try photograph(full) == before)
        #expect(try tree.find([[100], [255, 254]]) != nil)
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
        let document = try tree.container.document(at: path("d/sub/b.sh"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["bb", "b"])
        #expect(try tree.container.store.check(repair: false).isEmpty)
        try tree.save("d/sub/b.sh", "bbb")
        #expect(try tree.container.document(at: path("d/sub/b.sh"), as: my).versions.count == 3)
    }

    @Test func aTakenNameNeedsAnother() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "old")
        try tree.unlink("a.txt")
        tree.clock.advance(seconds: 60)
        try tree.save("a.txt", "new")
        let deletion = try tree.container.deletion(at: path("a.txt"), as: my)
        #expect(kind { _ = try tree.container.undelete(deletion, as: my) } == .exists)
        _ = try tree.container.undelete(deletion, to: path("b.txt"), as: my)
        #expect(try tree.live("b.txt") == "old")
        #expect(try tree.live("a.txt") == "new")
    }

    @Test func aFileBringsItsDeletedDirectoryBack() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        try tree.save("d/a.txt", "a")
        try tree.save("d/b.txt", "b")
        for name in ["d/a.txt", "d/b.txt"] { try tree.unlink(name) }
        try tree.removeDirectory("d")
        let deletion = try tree.container.deletion(at: path("d/a.txt"), as: my)
        #expect(try tree.container.undelete(deletion, as: my).entries == 2)
        #expect(try tree.live("d/a.txt") == "a")
        #expect(access("\(tree.path)/d/b.txt", F_OK) != 0)
    }
}
