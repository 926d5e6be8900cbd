// Pinned versions stay at a purge and at thinning; and the versions that a purge would remove are told before.

import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("Pinned versions and purges") struct PinnedPurgeTests: OperationTesting {
    private let tree: BrowsedContainer

    init() throws { tree = try BrowsedContainer() }

    private func document(_ name: String) throws -> DocumentRecord {
        try tree.container.document(at: path(name), as: my)
    }

    /// Saves a document and pins its version of that content.
    private func save(_ name: String, _ texts: String..., pinning pinned: String) throws {
        for text in texts { try tree.save(name, text) }
        let document = try document(name)
        let version = try #require(try document.versions.first { try text($0, document, tree) == pinned })
        _ = try tree.container.pin(version, of: document, true, as: my)
    }

    private func texts(_ name: String) throws -> [String] {
        let document = try document(name)
        return try document.versions.map { try text($0, document, tree) }
    }

    @Test("a document's other versions go, but for pinned ones, which go by force")
    func others() throws {
        try save("a", "one", "two", "three", "four", pinning: "two")
        let would = try tree.container.purge(document("a"), nil, dryRun: true, as: my)
        #expect(would.versions.count == 2 && would.pinned == 1 && would.bytes == 8)
        #expect(try texts("a") == ["four", "three", "two", "one"])
        #expect(try tree.container.purge(document("a"), nil, as: my) == would)
        #expect(try texts("a") == ["four", "two"])
        #expect(kind { _ = try tree.container.purge(document("a"), nil, as: my) } == .nothingToDo)
        #expect(try tree.container.purge(document("a"), nil, force: true, as: my).versions.count == 1)
        #expect(try texts("a") == ["four"])
        #expect(try tree.findings() == [])
    }

    @Test("a pinned version that is named is refused, and goes by force")
    func named() throws {
        try save("a", "one", "two", pinning: "one")
        let version = try #require(try document("a").versions.last)
        #expect(kind { _ = try tree.container.purge(document("a"), version, as: my) } == .invalid)
        #expect(kind { _ = try tree.container.purge(document("a"), version, dryRun: true, as: my) } == .invalid)
        #expect(try tree.container.purge(document("a"), version, force: true, as: my).bytes == 3)
        #expect(try texts("a") == ["two"])
    }

    @Test("emptying the deleted area leaves what has pinned versions, with the directories that it was in")
    func deleted() throws {
        for name in ["d", "d/sub", "e"] { try tree.makeDirectory(name) }
        try save("d/sub/a", "one", "two", pinning: "one")
        try save("c", "current", pinning: "current")
        for text in ["x", "y"] { try tree.save("e/b", text) }
        try tree.save("d/z", "z")
        for name in ["d/sub/a", "e/b", "d/z", "c"] { try tree.unlink(name) }
        for name in ["d/sub", "d", "e"] { try tree.removeDirectory(name) }
        let would = try tree.container.purgeDeleted(before: nil, dryRun: true, as: my)
        #expect(would.entries.map(\.path.description).sorted() == ["d/z", "e", "e/b"])
        #expect(would.deleted == 3 && would.versions.count == 3 && would.pinned == 2 && would.bytes == 3)
        #expect(try tree.container.deleted(within: .root, as: my).count == 7)
        var done = try tree.container.purgeDeleted(before: nil, as: my)
        #expect(done.entries.isEmpty)
        done.entries = would.entries
        #expect(done.deleted == 3 && Set(done.versions.map(\.version.id)) == Set(would.versions.map(\.version.id)))
        #expect(done.bytes == 3 && done.pinned == 2)
        let left = try tree.container.deleted(within: .root, as: my).map(\.path.description).sorted()
        #expect(left == ["c", "d", "d/sub", "d/sub/a"])
        #expect(try texts("d/sub/a") == ["two", "one"])
        // By age neither.
        tree.clock.advance(seconds: 40 * 86_400)
        _ = tree.container.noteTime()
        #expect(try tree.container.thin(dryRun: true, as: my).deleted == 0)
        #expect(try tree.container.purgeDeleted(before: nil, force: true, as: my).deleted == 4)
        #expect(try tree.container.store.allVersions().isEmpty)
        #expect(try tree.findings() == [])
    }

    @Test("what was deleted at one path goes, or one entry alone")
    func within() throws {
        try tree.makeDirectory("d")
        for name in ["a", "d/a", "d/b"] { try tree.save(name, name) }
        for name in ["a", "d/a", "d/b"] { try tree.unlink(name) }
        let entry = try #require(try tree.container.deleted(within: path("d/b"), as: my).first?.id)
        #expect(try tree.container.purgeDeleted(before: nil, within: path("d"), entry: entry, as: my).deleted == 1)
        #expect(try tree.container.deleted(within: .root, as: my).map(\.path.description).sorted() == ["a", "d/a"])
        #expect(try tree.container.purgeDeleted(before: nil, within: path("d"), as: my).deleted == 1)
        #expect(try tree.container.deleted(within: .root, as: my).map(\.path.description) == ["a"])
    }

    @Test("what is counted for a purge that would be is what goes: shared contents, files that go on")
    func sharedContents() throws {
        for text in ["one\n", "two\n"] {
            tree.clock.advance(seconds: 100)
            try tree.save("a", text, flags: (try tree.find("a")) == nil ? 0x200 : 0x400)
        }
        try tree.save("a", "new\n")
        for name in ["a"] {
            let would = try tree.container.purge(document(name), nil, dryRun: true, as: my)
            #expect(would.bytes == 8)
            #expect(try tree.container.purge(document(name), nil, as: my) == would)
        }
    }
}
