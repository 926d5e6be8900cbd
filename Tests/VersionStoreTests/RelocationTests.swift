// Renames that the catalog has not heard of, because the daemon was killed before it could record them.

import Foundation
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct RelocationTests {
    /// Opens a container as it is after a kill: the catalog is that of before `body`.
    private func afterKill(_ fixture: Fixture, _ body: (VersionStore) throws -> Void) throws -> VersionStore {
        let store = try fixture.store()
        store.flush()
        let names = ["catalog.sqlite", "catalog.sqlite-wal"].map { fixture.path + "/.versionsfs/" + $0 }
        let saved = try names.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try body(store)
        fixture.close()
        for (name, data) in zip(names, saved) { try data.write(to: URL(fileURLWithPath: name)) }
        return try fixture.store()
    }

    private func move(_ fixture: Fixture, _ from: String, _ to: String) throws {
        try System.rename(from, in: fixture.root, to: to, in: fixture.root)
    }

    @Test func aRenamedFileKeepsItsHistory() throws {
        let fixture = try Fixture()
        let (item, _) = try fixture.document("a/doc.txt", in: try fixture.store())
        try fixture.write("b/other.txt", "nobody's")
        let store = try afterKill(fixture) { _ in try move(fixture, "a/doc.txt", "b/new.txt") }
        #expect(try store.item(at: try fixture.place("b/new.txt", store))?.id == item.id)
        #expect(try store.item(item.id).map { try store.path(of: $0)?.description } == "b/new.txt")
        #expect(try store.check(repair: false) == [])
    }

    @Test func aRenamedDirectoryKeepsWhatIsInIt() throws {
        let fixture = try Fixture()
        let (item, _) = try fixture.document("a/b/doc.txt", in: try fixture.store())
        try fixture.write("c/other.txt", "nobody's")
        let store = try afterKill(fixture) { _ in
            try move(fixture, "a/b", "c/d")
            // Another takes the name.
            try fixture.write("a/b/doc.txt", "another")
        }
        #expect(try store.item(item.id).map { try store.path(of: $0)?.description } == "c/d/doc.txt")
        #expect(try store.item(at: try fixture.place("a/b/doc.txt", store)) == nil)
        #expect(try store.check(repair: false) == [])
    }

    @Test func aRenameOverAnotherIsASaveOfThat() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let (source, versions) = try fixture.document("x.txt", text: "the new one", in: store)
        let (target, _) = try fixture.document("y.txt", text: "the old one", in: store)
        let old = try #require(try store.version(target.current))
        store = try afterKill(fixture) { store in
            var kept = old
            kept.kind = .history
            let label = ContentStore.Label(
                version: kept, path: TreePath(names: [try name("y.txt")]), place: target.places[0])
            try store.contents.keep(linking: try name("y.txt"), in: fixture.root, as: old.content, label)
            try move(fixture, "x.txt", "y.txt")
        }
        let item = try #require(try store.item(at: target.places[0]))
        #expect(item.id == target.id)
        let current = try #require(try store.version(item.current))
        #expect(current.parents == [old.id] && current.content == versions.last?.content)
        #expect(try store.version(old.id)?.kind == .history)
        // The other's history stays, without a name.
        #expect(try store.item(source.id)?.places == [])
        #expect(try store.check(repair: false) == [])
    }

    @Test func aNameThatCameBackKeepsItsDocument() throws {
        let fixture = try Fixture()
        let (item, versions) = try fixture.document("f", text: "as it was", in: try fixture.store())
        let store = try afterKill(fixture) { _ in
            try move(fixture, "f", "f~")
            try fixture.write("f", "as it is")
        }
        #expect(try store.item(at: item.places[0])?.id == item.id)
        let backup = try #require(try store.item(at: try fixture.place("f~", store)))
        let version = try #require(try store.version(backup.current))
        #expect(version.parents == [item.current] && version.content == versions.last?.content)
        #expect(try store.check(repair: false) == [])
    }

    @Test func onlyTheFirstBytesOfASharedContentAreRestored() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let text = "first, and what was appended"
        try fixture.write("f", text)
        var version = Records.version(item: .random(), kind: .history, size: UInt64(text.utf8.count), wall: 1)
        let place = try fixture.place("f", store)
        let label = ContentStore.Label(version: version, path: TreePath(names: [place.name]), place: place)
        try store.contents.keep(moving: place.name, in: fixture.root, as: version.content, label)
        version.size = 5
        try store.contents.restore(version, over: place.name, in: fixture.root)
        #expect(try String(contentsOfFile: fixture.path + "/f", encoding: .utf8) == "first")
    }
}
