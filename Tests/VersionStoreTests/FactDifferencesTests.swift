// Differences between moments, and what holds versions.

import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: differences and space")
struct FactDifferencesTests {
    @Test("What changed since a number is the difference of the two trees")
    func differences() throws {
        try FactWorld.random("differences", rounds: 60) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            for number in stride(from: 0, through: facts.lastNumber, by: 5) {
                let then = world.lists(until: number)
                let places = Set(facts.rows.map(\.place)).filter { place in
                    let (was, now) = (then.occupant(of: place), facts.occupant(of: place))
                    return was?.file != now?.file || was?.document != now?.document
                }
                let documents = Set(facts.rows.filter { $0.file != nil }.map(\.document)).filter { document in
                    facts.hasName(document) && facts.versions(of: document).contains {
                        $0.number.number > number && $0.beside == .no
                    }
                }
                for size in [1, 3, 100] {
                    let found = try pages { try reader.placesChanged(since: number, from: $0, limit: size) }
                    #expect(Set(found.map(\.place)) == Set(places.map(FactWorld.place)), "VERSIONSFS_SEED=\(seed)")
                    #expect(found.count == places.count, "VERSIONSFS_SEED=\(seed)")
                    for difference in found {
                        let place = difference.then?.placeNumber ?? difference.now?.placeNumber ?? PlaceNumber(0)
                        #expect(difference.then?.row == then.occupant(of: place), "VERSIONSFS_SEED=\(seed)")
                        #expect(difference.now?.row == facts.occupant(of: place), "VERSIONSFS_SEED=\(seed)")
                    }
                    let saved = try pages { try reader.documentsSaved(since: number, from: $0, limit: size) }
                    #expect(Set(saved.map(\.document)) == documents, "VERSIONSFS_SEED=\(seed)")
                    #expect(saved.count == documents.count, "VERSIONSFS_SEED=\(seed)")
                    for difference in saved {
                        let names = facts.names(of: difference.document)
                        #expect(difference.names.map(\.row) == names, "VERSIONSFS_SEED=\(seed)")
                    }
                }
            }
        }
    }

    @Test("Versions are listed oldest first, with what holds them; contents with what is in them")
    func space() throws {
        try FactWorld.random("space", rounds: 60) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            let wanted = facts.versions.filter { !$0.isForgotten }
            for size in [1, 3, 100] {
                let found = try pages { try reader.oldestVersions(after: $0, limit: size) }
                #expect(found.map(\.row) == wanted, "VERSIONSFS_SEED=\(seed)")
                for version in found {
                    let document = version.document
                    #expect(facts.document(of: version.number) == document, "VERSIONSFS_SEED=\(seed)")
                    #expect(version.sharing == facts.countOfVersions(in: version.row.content))
                    #expect(version.holds.contains(.current) == (facts.current(of: document) == version.number))
                    #expect(version.holds.contains(.conflict) == facts.isConflict(version.number))
                    let isOrigin = facts.rows.contains { $0.origin == version.number && facts.needsOrigin($0.document) }
                    #expect(version.holds.contains(.origin) == isOrigin, "VERSIONSFS_SEED=\(seed)")
                }
                let free = try pages { try reader.oldestVersions(removable: true, after: $0, limit: size) }
                #expect(free == found.filter { $0.holds.isEmpty }, "VERSIONSFS_SEED=\(seed)")
                let documents = try pages { try reader.documents(after: $0, limit: size) }
                #expect(documents == Set(found.map(\.document)).sorted(), "VERSIONSFS_SEED=\(seed)")
                for document in documents {
                    let own = try pages { try reader.oldestVersions(of: document, after: $0, limit: size) }
                    #expect(own == found.filter { $0.document == document }, "VERSIONSFS_SEED=\(seed)")
                }
                let contents = try pages { try reader.contents(after: $0, limit: size) }
                #expect(Set(contents.map(\.content)) == Set(wanted.map(\.content)), "VERSIONSFS_SEED=\(seed)")
                #expect(contents.map(\.versions).reduce(0, +) == wanted.count, "VERSIONSFS_SEED=\(seed)")
            }
        }
    }
}
