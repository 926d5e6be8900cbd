// The deleted list of facts in tables.

import GRDB
import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: deleted")
struct FactDeletedTests {
    static let sizes = [1, 2, 5, 100]

    @Test("The container, each directory, place and document have the entries that Lineage lists, newest first")
    func entries() throws {
        try FactWorld.random("deleted", rounds: 150) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            let all = try pages { try reader.deleted(before: $0, limit: 100) }
            let deleted = all.filter { $0.kind == .deleted }.map(\.number)
            #expect(deleted == facts.deleted().map(\.departure.number).reversed(), "VERSIONSFS_SEED=\(seed)")
            let names = all.filter { $0.kind == .name }.map(\.number)
            #expect(names == facts.removedNames().map(\.departure.number).reversed(), "VERSIONSFS_SEED=\(seed)")
            for size in Self.sizes {
                #expect(try pages { try reader.deleted(before: $0, limit: size) } == all, "VERSIONSFS_SEED=\(seed)")
            }
            for directory in Set(facts.rows.map { FactWorld.place($0.place).directory }) {
                let wanted = all.filter { $0.place.directory == directory }
                let found = try pages { try reader.deleted(in: directory, before: $0, limit: 2) }
                #expect(found == wanted, "VERSIONSFS_SEED=\(seed)")
            }
            for place in Set(facts.rows.map(\.place)) {
                let found = try pages { try reader.deleted(at: FactWorld.place(place), before: $0, limit: 3) }
                #expect(found == all.filter { $0.departure.place == place }, "VERSIONSFS_SEED=\(seed)")
            }
            for document in Set(facts.rows.map(\.document)) {
                let wanted = all.filter { $0.occupant.document == document }
                #expect(try reader.deleted(of: document) == wanted, "VERSIONSFS_SEED=\(seed)")
            }
            for entry in all {
                let document = entry.occupant.document
                if entry.kind != .name, !entry.occupant.hasNoVersions {
                    #expect(entry.version?.number == facts.current(of: document), "VERSIONSFS_SEED=\(seed)")
                }
                #expect(try reader.deletedEntry(entry.number) == entry)
            }
        }
    }

    @Test("Every content that only a replaced document has is in the list")
    func replaced() throws {
        var (listed, more) = (0, 0)
        try FactWorld.random("replaced documents", rounds: 300) { world, seed in
            let facts = world.lists
            let found = try pages { try world.reader.deleted(before: $0, limit: 100) }
            let replaced = Set(found.filter { $0.kind == .replaced }.map(\.occupant.document))
            for document in replaced { #expect(facts.isReplaced(document), "VERSIONSFS_SEED=\(seed)") }
            let contents = Set(replaced.flatMap { facts.listing(of: $0) }.compactMap(facts.fingerprint))
            // Those of purged documents that another one began with are not shown.
            let superseded = facts.superseded().filter(facts.isReplaced)
            for document in superseded {
                let own = facts.versions(of: document).map(\.fingerprint)
                let shown = Self.shownElsewhere(facts)
                #expect(
                    contents.union(shown).isSuperset(of: own),
                    "VERSIONSFS_SEED=\(seed): \(document) of \(superseded), listed \(replaced.sorted())")
            }
            listed += superseded.count
            more += replaced.subtracting(superseded).count
        }
        print("replaced documents: \(listed) in Lineage's list, \(more) more")
    }

    private static func shownElsewhere(_ facts: Facts) -> Set<Fingerprint> {
        var shown: Set<Fingerprint> = []
        for document in Set(facts.rows.filter { $0.file != nil }.map(\.document)) where facts.hasName(document) {
            shown.formUnion(facts.history(of: document).compactMap(facts.fingerprint))
        }
        for entry in facts.deleted() {
            shown.formUnion(facts.listing(of: entry.occupant.document).compactMap(facts.fingerprint))
        }
        return shown
    }
}
