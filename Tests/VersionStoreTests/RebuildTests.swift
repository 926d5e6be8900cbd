// A lost catalog of facts is made anew from labels of both formats.

import Foundation
import Lineage
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("Facts from labels")
struct RebuildTests {
    private func state(_ fixture: Fixture) throws -> ContainerState {
        try ContainerState(root: fixture.root, options: .init(clock: fixture.clock, logger: Fixture.quiet))
    }

    /// The catalog of an upgraded container is lost.
    private func lost(_ fixture: Fixture, _ fill: (VersionStore) throws -> Void) throws -> (ContainerState, FactStore) {
        let state = try state(fixture)
        let former = try VersionStore(over: state)
        try fill(former)
        former.flush()
        try Upgrade(former).run()
        former.closeCatalog()
        try FileManager.default.removeItem(atPath: fixture.path + "/.versionsfs/catalog2.sqlite")
        let facts = try FactStore(of: state)
        #expect(facts.identity.wasLost && facts.identity.isRebuilt)
        return (state, facts)
    }

    @Test("Labels of format 1 give versions with their identities, in the order of their times")
    func former() throws {
        let fixture = try Fixture()
        var items: [(item: Item, versions: [Version])] = []
        let (state, facts) = try lost(fixture) { store in
            for path in ["top.txt", "a/one.txt", "a/b/two.txt"] {
                items.append(try fixture.document(path, kinds: [.history, .conflict, .history], in: store))
            }
        }
        let history = FactHistory(facts, of: state)
        for (item, versions) in items {
            let kept = versions.filter { $0.kind != .current }.sorted { $0.time > $1.time }
            let found = try history.versions(of: item.id).sorted { $0.time > $1.time }
            #expect(found.map(\.id) == kept.map(\.id))
            #expect(found.map(\.size) == kept.map(\.size) && found.map(\.author) == kept.map(\.author))
            #expect(found.map(\.attributes) == kept.map(\.attributes))
            let conflicts = kept.filter { $0.kind == .conflict }.map(\.id)
            #expect(Set(try history.conflicts(of: item.id).map(\.id)) == Set(conflicts))
        }
        facts.close()
        state.close()
    }

    @Test("Deleted files that have not become objects yet do so, and are in the deleted list")
    func entries() throws {
        let fixture = try Fixture()
        var deletion: Deletion?
        let (state, facts) = try lost(fixture) { store in
            let (item, _) = try fixture.document("a/gone.txt", in: store)
            deletion = try fixture.delete("a/gone.txt", item, in: store)
        }
        let label = try #require(deletion)
        #expect(!state.deletedArea.exists(label.id))
        let content = ContentID(high: label.id.high, low: label.id.low)
        #expect(state.contents.contains(content))
        let rows = facts.facts().versions(in: Content(content))
        #expect(rows.map(\.fingerprint.size) == [label.size])
        facts.close()
        state.close()
    }

    @Test("Numbers go on behind all that a lost catalog may have given, whatever labels tell")
    func numbers() throws {
        let fixture = try Fixture()
        let state = try state(fixture)
        try FactStore(of: state).close()
        var last: UInt64 = 0
        for epoch in 2...4 as ClosedRange<UInt64> {
            try FileManager.default.removeItem(atPath: fixture.path + "/.versionsfs/catalog2.sqlite")
            let facts = try FactStore(of: state)
            #expect(facts.identity.wasLost && state.identity.epoch == epoch)
            let next = facts.reserve(1)
            #expect(next > last + 1 << 35 && next < 1 << 53)
            #expect(try facts.feed(after: last, limit: 1).hasGap)
            last = next
            facts.finish(next)
            facts.close()
        }
        state.close()
    }
}

extension DeletedArea {
    fileprivate func exists(_ id: DeletionID) -> Bool { (try? label(of: id)) != nil }
}
