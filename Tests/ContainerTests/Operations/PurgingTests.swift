// What is given up on request, and what is not, through the container's own interface.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct PurgingTests: OperationTesting {
    @Test func purgedHistoryIsGoneFromTheDisk() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two", "three"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let old = document.versions.filter { $0.kind == .history }
        #expect(kind { _ = try tree.container.purge(document, document.current, as: my) } == .invalid)
        let outcome = try tree.container.purge(document, nil, as: my)
        #expect(outcome.versions.count == 2 && outcome.bytes == 6)
        for version in old { #expect(!tree.container.store.contents.contains(version.content)) }
        #expect(try tree.container.document(at: path("a.txt"), as: my).versions.count == 1)
        #expect(try tree.live("a.txt") == "three")
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func purgingTheDeletedAreaTakesHistoryAlong() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two"] { try tree.save("a.txt", words) }
        try tree.unlink("a.txt")
        let deletion = try tree.container.deletion(at: path("a.txt"), as: my)
        #expect(try tree.container.purgeDeleted(before: deletion.deleted, as: my).deleted == 0)
        let outcome = try tree.container.purgeDeleted(before: nil, as: my)
        #expect(outcome.deleted == 1 && outcome.versions.count == 2)
        #expect(try tree.container.store.allVersions().isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func pinnedVersionsStayPinned() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two"] { try tree.save("a.txt", words) }
        var document = try tree.container.document(at: path("a.txt"), as: my)
        for version in document.versions { _ = try tree.container.pin(version, of: document, true, as: my) }
        document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(document.versions.allSatisfy { $0.flags.contains(.pinned) })
        try tree.save("a.txt", "three")
        document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(document.versions.map { $0.flags.contains(.pinned) } == [false, true, true])
        #expect(try tree.container.thin(dryRun: true, as: my).versions.isEmpty)
    }
}
