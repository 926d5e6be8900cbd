// A container that the last release of format 1 has made, kept for ever: Tests/Samples/format-1.tar.gz.

import Foundation
import Testing
import VersionModel

@testable import VersionStore

@Suite("A recorded container of format 1")
struct RecordedFormatTests {
    /// The archive has the labels, which are extended attributes. Unpacked it is a copy, as a restored backup is.
    private func unpacked() throws -> Fixture {
        let archive = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Samples/format-1.tar.gz").standardized.path
        let fixture = try Fixture()
        let tar = Process()
        tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tar.arguments = [
            "tar", "--xattrs", "--xattrs-include=user.*", "--no-same-owner", "-xzf", archive, "-C", fixture.path,
        ]
        try tar.run()
        tar.waitUntilExit()
        try #require(tar.terminationStatus == 0)
        return fixture
    }

    @Test("It says the same after its upgrade")
    func same() throws {
        let fixture = try unpacked()
        let store = try fixture.store()
        #expect(store.identity.wasCopied)
        #expect(try Upgrade.isNeeded(store.base))
        let counts = try Upgrade(store).run()
        #expect(counts.lost == 0)
        #expect(try !Upgrade.isNeeded(store.base))
        let seen = try SeenAfterwards(store)
        defer { seen.facts.close() }
        try seen.expectSame("the recorded container")
        try seen.expectContents("the recorded container")
    }

    @Test("Its history, its conflict and its deleted list are the recorded ones")
    func recorded() throws {
        let fixture = try unpacked()
        let store = try fixture.store()
        try Upgrade(store).run()
        let seen = try SeenAfterwards(store)
        defer { seen.facts.close() }
        let docs = try fixture.fileID("docs", store)
        let diary = try #require(try seen.history.item(at: Place(directory: docs, name: try name("diary.txt"))))
        let versions = try seen.history.versions(of: diary.id)
        let texts = try versions.dropFirst().map { version in
            String(try fixture.read(store.contents.open(version.content)).prefix(Int(version.size)))
        }
        #expect(texts == ["three\nmore\n", "three\n", "two\n", "one\n"])
        #expect(versions.map(\.author.program) == ["dash", "dash", "python3.11", "dash", "dash"])
        #expect(versions.filter { $0.flags.contains(.pinned) }.map(\.size) == [6])
        #expect(try seen.history.path(of: diary)?.description == "docs/diary.txt")
        let plan = try #require(try seen.history.item(at: Place(directory: .root, name: try name("plan.txt"))))
        let conflicts = try seen.history.conflicts(of: plan.id)
        #expect(try conflicts.map { try fixture.read(store.contents.open($0.content)) } == ["base\nby b\n"])
        // Both names show what they had in common.
        for (name, sizes) in [("pair", [4, 7]), ("other", [6, 7])] {
            let place = Place(directory: .root, name: try VersionStoreTests.name(name))
            let item = try #require(try seen.history.item(at: place))
            #expect(try seen.history.versions(of: item.id).map { Int($0.size) } == sizes)
        }
        let deleted = try seen.history.deletions(within: nil)
        #expect(Set(deleted.map(\.path.description)) == [
            "before.txt", "old", "old/inside.txt", "link", "docs/second", "gone.txt",
        ])
        let former = try store.deletions(within: nil)
        #expect(Set(deleted.map { [$0.id, $0.group] }) == Set(former.map { [$0.id, $0.group] }))
        let link = try #require(deleted.first { $0.path.description == "link" })
        #expect(link.type == .symlink && link.author.program == "rm")
    }
}
