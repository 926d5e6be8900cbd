// What changes between a look and the lock under which it counts, and what a refusal leaves behind.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct RefusedChangesTests: OperationTesting {
    /// A name as it is now, of a file that the kernel knows.
    private func entry(
        _ name: String, _ tree: BrowsedContainer, unprotected: ItemID? = nil
    ) throws -> LiveContainer.Entry {
        _ = try tree.node(name)
        let parent = try #require(tree.container.nodes[Node.rootID])
        let directory = try tree.container.descriptor(of: parent)
        let stat = try Backing.stat(Array(name.utf8), in: directory.raw)
        return LiveContainer.Entry(
            parent: parent, name: try #require(FileName(bytes: name.utf8)), directory: directory, stat: stat,
            node: tree.container.nodes.node(stat.key), unprotected: unprotected)
    }

    private func move(_ source: LiveContainer.Entry, to target: LiveContainer.Entry) -> LiveContainer.Move {
        LiveContainer.Move(
            source: source, newParent: target.parent, newName: target.name, newDirectory: target.directory, flags: 0)
    }

    private func texts(_ name: String, _ tree: BrowsedContainer) throws -> [String] {
        let document = try tree.container.document(at: path(name), as: my)
        return try document.versions.map { version in
            version.flags.contains(.contentLost) ? "lost" : try text(version, document, tree)
        }
    }

    @Test("What was pinned since it was looked at does not go for good")
    func pinnedMeanwhile() throws {
        let tree = try BrowsedContainer()
        for text in ["one", "two"] { try tree.save("a", text) }
        let item = try #require(tree.container.unprotectedItem(at: tree.place("a")))
        let document = try tree.container.document(at: path("a"), as: my)
        let version = try #require(document.versions.last)
        _ = try tree.container.pin(version, of: document, true, as: my)
        let entry = try entry("a", tree, unprotected: item)
        let error = failure {
            try tree.container.names.writing { names throws in
                try tree.container.removeForGood(
                    names, entry, tree.container.documents.document(at: tree.place("a")),
                    tree.container.requester(tree.caller),
                    .noSpace)
            }
        }
        #expect(error == ENOSPC)
        #expect(try texts("a", tree) == ["two", "one"])
    }

    @Test("A rename that is refused holds on to nothing")
    func refusedRename() throws {
        let tree = try BrowsedContainer()
        for name in ["a", "b"] { try tree.save(name, name) }
        let node = try #require(tree.container.nodes[try tree.node("b")])
        let handle = try #require(try tree.container.open(tree.caller, node: node.id, flags: O_RDONLY)).handle
        let error = failure {
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: [97], newParent: Node.rootID, newName: [98], flags: 1 << 20)
        }
        tree.container.release(node: node.id, handle: handle)
        #expect(error == EINVAL)
        #expect(tree.container.nodes.held(node) == nil)
        #expect(try tree.live("b") == "b")
    }

    @Test(
        "What is saved after a rename or an exchange has looked at its two names is kept",
        arguments: [false, true], ["a", "b"])
    func savedMeanwhile(_ exchanges: Bool, _ name: String) throws {
        let tree = try BrowsedContainer()
        for name in ["a", "b"] { try tree.save(name, "old \(name)") }
        let (source, target) = (try entry("a", tree), try entry("b", tree))
        let saved = "what was saved in \(name) meanwhile"
        try tree.save(name, saved)
        var move = move(source, to: target)
        if exchanges { move.flags = linux_RENAME_EXCHANGE }
        let requester = tree.container.requester(tree.caller)
        try tree.container.names.writing { names throws in
            if exchanges {
                try tree.container.exchange(names, move, target, requester)
            } else {
                try tree.container.moveOver(names, move, target, requester)
            }
        }
        let (atA, atB) = (try tree.live("b"), exchanges ? try tree.live("a") : name == "b" ? saved : "old b")
        #expect(atA == (name == "a" ? saved : "old a"))
        let versions = try texts("b", tree)
        #expect(versions.prefix(2) == [atA, atB], "\(versions)")
        if exchanges { #expect(try texts("a", tree).prefix(2) == [atB, atA]) }
        tree.clock.advance(seconds: 10)
        #expect(try tree.container.store.check(repair: false).isEmpty)
        #expect(try tree.container.store.allVersions().allSatisfy { !$0.flags.contains(.contentLost) })
        let file = try FileDescriptor.open("\(tree.path)/b", .readOnly)
        defer { try? file.close() }
        guard case .saved(_, let size, _) = SaveMark(of: file.rawValue) else { return }
        // The mark of a rename says what has to reach the disk: all of it.
        #expect(size == UInt64(atA.utf8.count))
    }

    @Test("A database whose capture failed is captured when it is looked at again")
    func captureAgain() throws {
        let tree = try BrowsedContainer()
        try tree.save("data.db", "SQLite format 3\0 and one")
        let node = try #require(tree.container.nodes[try tree.node("data.db")])
        let handle = try #require(try tree.container.open(tree.caller, node: node.id, flags: O_RDWR)).handle
        _ = try Array("two".utf8).withUnsafeBytes {
            try tree.container.write(tree.caller, node: node.id, handle: handle, $0, offset: 21)
        }
        let (staging, aside) = ("\(tree.path)/.versionsfs/staging", "\(tree.path)/.versionsfs/aside")
        let requester = tree.container.requester(tree.caller)
        #expect(Glibc.rename(staging, aside) == 0)
        #expect(tree.container.databases.capture(node, requester, mayWait: false) != nil)
        #expect(Glibc.rename(aside, staging) == 0)
        #expect(tree.container.databases.capture(node, requester, mayWait: false) == nil)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node.id, handle: handle)
        #expect(try texts("data.db", tree) == ["SQLite format 3\0 and two", "SQLite format 3\0 and one"])
    }
}
