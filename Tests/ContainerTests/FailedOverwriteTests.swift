// An overwriting in place that fails before it has changed anything: nothing of another program goes with it.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Synchronization
import Testing
import VersionModel

@testable import Container

@Suite struct FailedOverwriteTests {
    private func fail(_ tree: BrowsedContainer, _ name: String, meanwhile: () throws -> Void) throws {
        let path = tree.path + "/" + name
        let live = SharedDescriptor(try Backing.open(path: path, in: AT_FDCWD, flags: O_RDWR))
        let node = try #require(tree.container.nodes[try tree.node(name)])
        let document = try #require(tree.container.knownDocument(of: node))
        let before = try Backing.stat(live.raw)
        OverwriteMark(content: .random(), change: nil).set(on: live.raw)
        // Room is set aside.
        #expect(linux_fallocate(live.raw, 1, 0, 100_000) == 0)
        try meanwhile()
        document.state.withLock { tree.container.endUnchanged(&$0, node, live, as: before) }
        #expect(OverwriteMark(of: live.raw) == nil)
    }

    @Test func itsRoomGoesAndItsTimesStay() throws {
        let tree = try BrowsedContainer()
        try tree.save("f", "content")
        let before = try Backing.stat(path: tree.path + "/f", in: AT_FDCWD)
        try fail(tree, "f") {}
        let after = try Backing.stat(path: tree.path + "/f", in: AT_FDCWD)
        #expect(after.modified == before.modified && after.size == before.size)
        #expect(after.raw.blocks <= 8 + before.raw.blocks, "\(after.raw.blocks)")
    }

    @Test func whatAnotherProgramHasAppendedStays() throws {
        let tree = try BrowsedContainer()
        try tree.save("f", "content")
        try fail(tree, "f") {
            let file = open(tree.path + "/f", O_WRONLY | O_APPEND | O_CLOEXEC)
            #expect(write(file, " and more", 9) == 9)
            close(file)
        }
        #expect(try tree.live("f") == "content and more")
    }
}
