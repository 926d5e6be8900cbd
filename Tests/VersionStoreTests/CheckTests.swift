// The check finds each kind of damage, says what a repair does, and does it without removing content.

import Foundation
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct CheckTests {
    /// Repairs must do what they say: afterwards the check is clean, and every object is still there.
    private func expectRepaired(
        _ fixture: Fixture, _ store: VersionStore, finds kinds: [Finding.Kind],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        fixture.clock.advance(seconds: 60)
        let objects = try all(store)
        let found = try store.check(repair: false)
        #expect(found.map(\.kind) == kinds, sourceLocation: sourceLocation)
        #expect(found.allSatisfy { !$0.isRepaired && $0.repair != nil }, sourceLocation: sourceLocation)
        #expect(try store.check(repair: true).allSatisfy(\.isRepaired), sourceLocation: sourceLocation)
        #expect(try store.check(repair: false) == [], sourceLocation: sourceLocation)
        #expect(try all(store) == objects, sourceLocation: sourceLocation)
    }

    private func all(_ store: VersionStore) throws -> Set<String> {
        var names: Set<String> = []
        try store.contents.forEach { names.insert($0.hex) }
        try store.deletedArea.forEach { names.insert($0.hex) }
        return names
    }

    private func path(_ fixture: Fixture, _ id: ContentID) -> String {
        "\(fixture.path)/.versionsfs/objects/\(id.hex.prefix(2))/\(id.hex)"
    }

    @Test func aSoundContainerIsClean() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        try fixture.document("a/doc", kinds: [.history, .conflict], in: store)
        let (item, _) = try fixture.document("gone", in: store)
        _ = try fixture.delete("gone", item, in: store)
        fixture.clock.advance(seconds: 60)
        var calls = 0
        #expect(try store.check(repair: false) { _, _ in calls += 1 } == [])
        #expect(calls > 0)
    }

    @Test func lostAndChangedContentsAreMarked() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (_, versions) = try fixture.document("doc", kinds: [.history, .history, .history], in: store)
        try FileManager.default.removeItem(atPath: path(fixture, versions[0].content))
        try Data("doc X".utf8).write(to: URL(fileURLWithPath: path(fixture, versions[1].content)))
        try Data("longer than before".utf8).write(to: URL(fileURLWithPath: path(fixture, versions[2].content)))
        try expectRepaired(fixture, store, finds: [.contentMissing, .contentChanged, .contentChanged])
        #expect(try store.version(versions[1].id)?.flags.contains(.contentLost) == true)
    }

    @Test func aStrayObjectIsRecordedFromItsLabel() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (item, versions) = try fixture.document("doc", kinds: [.history, .conflict], in: store)
        store.commit([.removeVersion(versions[1].id)])
        try expectRepaired(fixture, store, finds: [.objectUnknown])
        #expect(try store.version(versions[1].id) == versions[1])
        #expect(try store.item(item.id) == item)
    }

    @Test func anObjectThatWasKeptJustNowIsNoFinding() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (_, versions) = try fixture.document("doc", in: store)
        store.commit([.removeVersion(versions[0].id)])
        #expect(try store.check(repair: false) == [])
    }

    @Test func anObjectWithoutALabelIsListed() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        try fixture.write(".versionsfs/objects/ab/ab" + String(repeating: "0", count: 30), "whose?")
        try expectRepaired(fixture, store, finds: [.labelUnreadable])
        #expect(try store.lostObjects() == ["objects/ab/ab" + String(repeating: "0", count: 30)])
    }

    @Test func deletionsAndEntriesAreMatched() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (first, _) = try fixture.document("a", in: store)
        let kept = try fixture.delete("a", first, in: store)
        let phantom = Records.deletion(path: "never/there")
        store.commit([.removeDeletion(kept.id), .deletion(phantom)])
        try expectRepaired(fixture, store, finds: [.deletionMissing, .deletionUnknown])
        #expect(try store.deletions(within: nil) == [kept])
    }

    @Test func theNoteOfANameIsTakenForNoContent() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        // One name of a file went, and the file was renamed over another document: that has the content now.
        var (former, versions) = try fixture.document("a", kinds: [], in: store)
        let (child, both) = try fixture.document("b", kinds: [], in: store)
        let current = try #require(both.last)
        (versions[0].kind, versions[0].content, former.places) = (.history, current.content, [])
        let note = Records.deletion(path: "a", item: former.id, type: .link)
        try store.deletedArea.note(note)
        store.commit([.version(versions[0]), .item(former), .deletion(note)])
        fixture.clock.advance(seconds: 60)
        let check = StoreCheck(store: store, repairs: false)
        for version in [versions[0], current] {
            #expect(try check.open(version).map { try fixture.read($0) } == "now")
        }
        #expect(try store.settleContents(of: [current]) == 0)
        #expect(try store.check(repair: true) == [])
        #expect(try store.version(versions[0].id) == versions[0])
        #expect(try store.item(child.id) == child)
    }

    @Test func currentVersionsAreMadeOneForEachItem() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (lost, versions) = try fixture.document("a", in: store)
        let (demoted, others) = try fixture.document("b", in: store)
        let (doubled, _) = try fixture.document("c", in: store)
        var second = Records.version(item: doubled.id, kind: .current)
        second.flags = [.contentLost]
        store.commit([
            .removeVersion(lost.current), .kind(demoted.current, .history), .version(second),
        ])
        fixture.clock.advance(seconds: 60)
        #expect(try Set(store.check(repair: true).map(\.kind)).isSuperset(of: [.currentMissing, .severalCurrents]))
        #expect(try store.check(repair: false) == [])
        let row = try #require(try store.item(lost.id))
        #expect(try row.current != lost.current && store.version(row.current)?.parents == [versions[0].id])
        #expect(try store.versions(of: demoted.id).map(\.kind) == others.reversed().map(\.kind))
        #expect(try store.version(second.id)?.kind == .history)
    }

    @Test func versionsWithoutItemAndItemsWithoutDirectoryAreMended() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (item, versions) = try fixture.document("a/b", kinds: [.history, .conflict], in: store)
        // A purge may take what a conflict's author had started from: that is no damage.
        var conflict = versions[1]
        conflict.base = .random()
        store.commit([.version(conflict), .removeDirectory(item.places[0].directory)])
        try expectRepaired(fixture, store, finds: [.pathUnknown])
        #expect(try store.path(of: item)?.description == "a/b")
        let orphan = Records.version()
        var lost = orphan
        lost.flags = [.contentLost]
        store.commit([.version(lost)])
        try expectRepaired(fixture, store, finds: [.versionWithoutItem])
        #expect(try store.item(orphan.item)?.places == [])
    }

    @Test func versionsThatGoBackToThemselvesAreFound() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (item, versions) = try fixture.document("doc", kinds: [.history, .conflict, .history], in: store)
        let (other, _) = try fixture.document("other", kinds: [.history], in: store)
        // As a resolution of an earlier release left it: an older version has taken in what came after it.
        var first = versions[0]
        first.parents = [versions[2].id, first.id]
        store.commit([.removeVersion(first.id), .version(first)])
        fixture.clock.advance(seconds: 60)
        #expect(try store.check(repair: false).map(\.kind.rawValue) == ["parents-in-a-circle"])
        #expect(try store.check(repair: true).map(\.subject) == [first.id.hex])
        #expect(try store.check(repair: false) == [])
        #expect(try store.version(first.id)?.parents == [])
        #expect(try store.versions(of: item.id).map(\.parents.count) == [1, 1, 1, 0])
        #expect(try store.versions(of: other.id).map(\.parents.count) == [1, 0])
        #expect(try store.contents.label(of: first.content).version.parents == [])
        // Whoever had it in memory does not bring it back.
        store.commit([.version(first)])
        #expect(try store.check(repair: false) == [])
    }
}
