// Thinning and purging leave the way to a merge's base: in the catalog, in labels, and in what is saved afterwards.

import Foundation
import Glibc
import Support
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct SplicingTests: OperationTesting {
    /// Removes all versions of a document that are history but the oldest.
    private func purgeBetween(_ name: String, _ tree: BrowsedContainer) throws {
        let history = try tree.container.document(at: path(name), as: my).versions.filter { $0.kind == .history }
        for version in history.sorted(by: { $0.time < $1.time }).dropFirst() {
            let document = try tree.container.document(at: path(name), as: my)
            _ = try tree.container.purge(document, version, as: my)
        }
    }

    @Test("two are merged though what led to their base is gone")
    func merged() throws {
        var settings = Settings()
        settings.staleWrites = .merge
        let tree = try BrowsedContainer(settings)
        let people = try (0..<2).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let callers = people.map { Caller(user: getuid(), group: getgid(), thread: $0.pid, umask: 0o022) }
        func save(_ text: String, _ caller: Caller) throws {
            let node = try tree.node("a.txt")
            let handle = try #require(try tree.container.open(caller, node: node, flags: O_WRONLY | O_TRUNC)).handle
            try Array(text.utf8).withUnsafeBytes {
                _ = try tree.container.write(caller, node: node, handle: handle, $0, offset: 0)
            }
            tree.container.flush(caller, handle: handle)
            tree.container.release(node: node, handle: handle)
        }
        try tree.save("a.txt", "1\n2\n3\n4\n5\n6\n7\n")
        for caller in callers {
            let node = try tree.node("a.txt")
            if let reply = try tree.container.open(caller, node: node, flags: O_RDONLY) {
                tree.container.release(node: node, handle: reply.handle)
            }
        }
        for text in ["a", "b", "c"] { try save("1\n2\n3\n4\n5\n6\n7\(text)\n", callers[0]) }
        try purgeBetween("a.txt", tree)
        try save("0\n1\n2\n3\n4\n5\n6\n7\n", callers[1])
        #expect(try tree.live("a.txt") == "0\n1\n2\n3\n4\n5\n6\n7c\n")
        #expect(try tree.findings() == [])
    }

    @Test(
        "what is saved after a removal names what is there, and so do the labels: a lost catalog is made anew from them"
    )
    func rebuilt() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two", "three", "four", "five"] { try tree.save("a.txt", words) }
        try purgeBetween("a.txt", tree)
        try tree.save("a.txt", "six")
        try tree.save("a.txt", "seven")
        let before = try tree.container.document(at: path("a.txt"), as: my).versions
        #expect(before.map(\.size) == [5, 3, 4, 3])
        for (version, parent) in zip(before, before.dropFirst()) { #expect(version.parents == [parent.id]) }
        #expect(try tree.findings() == [])
        tree.close()
        try FileManager.default.removeItem(atPath: "\(tree.path)/.versionsfs/catalog.sqlite")
        let again = try BrowsedContainer(at: tree.path, later: 60)
        let after = try again.container.document(at: path("a.txt"), as: my).versions
        #expect(after.dropFirst().map(\.id) == before.dropFirst().map(\.id))
        for (version, parent) in zip(after, after.dropFirst()) { #expect(version.parents == [parent.id]) }
        #expect(try again.findings() == [])
        again.close()
    }
}
