// What is renamed and removed while nobody has the container mounted: no history is lost to view.

import Foundation
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct UnmountedChangesTests {
    private func reopened(_ fixture: Fixture, _ body: () throws -> Void) throws -> VersionStore {
        fixture.close()
        try body()
        let store = try fixture.store()
        #expect(store.identity.cleanShutdown)
        return store
    }

    private func move(_ fixture: Fixture, _ from: String, _ to: String) throws {
        try System.rename(from, in: fixture.root, to: to, in: fixture.root)
    }

    private func remove(_ fixture: Fixture, _ path: String) throws {
        try FileManager.default.removeItem(atPath: fixture.path + "/" + path)
    }

    private func path(of item: Item, _ store: VersionStore) throws -> String? {
        try store.item(item.id).flatMap { try store.path(of: $0)?.description }
    }

    @Test func aRenamedFileKeepsItsHistory() throws {
        let fixture = try Fixture()
        let (item, versions) = try fixture.document("a/doc.txt", in: try fixture.store())
        try fixture.write("b/other.txt", "nobody's")
        let store = try reopened(fixture) { try move(fixture, "a/doc.txt", "b/new.txt") }
        #expect(try path(of: item, store) == "b/new.txt")
        #expect(try store.item(at: try fixture.place("b/new.txt", store))?.id == item.id)
        #expect(try store.versions(of: item.id).count == versions.count)
        let event = try #require(try store.changes(after: 0, limit: 10).last?.1)
        #expect(event.event == .renamed && event.from?.description == "a/doc.txt")
        #expect(try store.check(repair: false) == [])
    }

    @Test func whatWasRemovedIsInTheDeletedArea() throws {
        let fixture = try Fixture()
        let (item, versions) = try fixture.document("a/doc.txt", kinds: [.history, .history], in: try fixture.store())
        let (single, _) = try fixture.document("a/single.txt", kinds: [], in: try fixture.store())
        let store = try reopened(fixture) {
            try remove(fixture, "a/doc.txt")
            try remove(fixture, "a/single.txt")
        }
        let deletion = try #require(try store.deletions(within: nil).first)
        #expect(deletion.path.description == "a/doc.txt" && deletion.item == item.id)
        // By name, as everybody else.
        #expect(deletion.author.user == UserNames().name(of: deletion.author.userID))
        #expect(try fixture.read(try store.deletedArea.open(deletion.id)) == "a/doc.txt 1")
        let current = try #require(try store.item(item.id)?.current)
        #expect(current == versions[1].id)
        #expect(try store.version(versions[2].id)?.flags.contains(.contentLost) == true)
        // Of the other nothing was kept.
        #expect(try store.item(single.id) == nil)
        #expect(try store.deletions(within: nil).count == 1)
        #expect(try store.check(repair: false) == [])
        // A second opening changes nothing.
        let again = try reopened(fixture) {}
        #expect(try again.deletions(within: nil).map(\.id) == [deletion.id])
    }

    @Test func whatWasInARemovedDirectoryCanComeBackIntoIt() throws {
        let fixture = try Fixture()
        let (item, _) = try fixture.document("a/b/doc.txt", in: try fixture.store())
        let store = try reopened(fixture) { try remove(fixture, "a") }
        let deletions = try store.deletions(within: nil)
        #expect(Set(deletions.map(\.path.description)) == ["a", "a/b", "a/b/doc.txt"])
        #expect(Set(deletions.map(\.group)).count == 1)
        let file = try #require(deletions.first { $0.item == item.id })
        let parent = try #require(deletions.first { $0.path.description == "a/b" })
        #expect(file.place.directory == parent.file)
        #expect(try store.check(repair: false) == [])
    }

    @Test func aTreeThatWasCopiedAwayAndBackKeepsItsHistories() throws {
        let fixture = try Fixture()
        let (item, _) = try fixture.document("a/b/doc.txt", in: try fixture.store())
        let store = try reopened(fixture) {
            let manager = FileManager.default
            try manager.copyItem(atPath: fixture.path + "/a", toPath: fixture.path + "/c")
            try remove(fixture, "a")
            try move(fixture, "c", "a")
        }
        #expect(try store.item(at: try fixture.place("a/b/doc.txt", store))?.id == item.id)
        #expect(try store.deletions(within: nil) == [])
    }

    @Test func aNameThatCameBackKeepsItsDocument() throws {
        let fixture = try Fixture()
        let (item, versions) = try fixture.document("f", text: "as it was", in: try fixture.store())
        let store = try reopened(fixture) {
            try move(fixture, "f", "f~")
            try fixture.write("f", "as it is")
        }
        #expect(try store.item(at: item.places[0])?.id == item.id)
        let backup = try #require(try store.item(at: try fixture.place("f~", store)))
        let version = try #require(try store.version(backup.current))
        #expect(version.parents == [item.current] && version.content == versions.last?.content)
        #expect(try store.check(repair: false) == [])
    }

    @Test func theFeedOfARebuiltCatalogGoesOnBehindAllNumbersBefore() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        try fixture.document("doc.txt", in: store)
        store.commit([.change(Records.change(.saved, "doc.txt")), .change(Records.change(.saved, "doc.txt"))])
        var last = try #require(try store.changeRange()?.upperBound)
        for _ in 0..<2 {
            fixture.close()
            try remove(fixture, ".versionsfs/catalog.sqlite")
            store = try fixture.store()
            #expect(store.identity.rebuilt)
            store.commit([.change(Records.change(.saved, "doc.txt"))])
            let next = try #require(try store.changeRange()?.lowerBound)
            #expect(next > last && next < 1 << 53)
            last = next
        }
    }

    @Test func whatMayNotBeSeenIsNotGone() throws {
        let fixture = try Fixture()
        let (item, _) = try fixture.document("a/b/doc.txt", in: try fixture.store())
        let store = try reopened(fixture) {
            // A symlink in the directory's place leads elsewhere, and is no removal of what was in it.
            try move(fixture, "a", "c")
            try FileManager.default.createSymbolicLink(atPath: fixture.path + "/a", withDestinationPath: "c")
        }
        #expect(try path(of: item, store) == "c/b/doc.txt")
        #expect(try store.deletions(within: nil) == [])
    }
}
