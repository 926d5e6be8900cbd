// Readers of facts in tables: the lists that Lineage derives from lists of facts.

import GRDB
import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: names")
struct FactListsTests {
    static let sizes = [1, 2, 3, 100]

    private static func directories(_ facts: Facts) -> [FileID] {
        Set(facts.rows.map { FactWorld.place($0.place).directory }).sorted()
    }

    @Test("Directories have the names of each moment, with the versions that they showed")
    func names() throws {
        try FactWorld.random("names at moments", rounds: 40) { world, seed in
            let all = world.lists
            for number in stride(from: 0, through: all.lastNumber, by: 3) {
                let facts = world.lists(until: number)
                let tree = facts.tree()
                for directory in Self.directories(all) {
                    let size = Self.sizes[Int(number % 4)]
                    let found = try pages {
                        try world.reader.names(in: directory, at: number, after: $0, limit: size)
                    }.filter { !$0.isFoundLater }
                    let wanted = tree.keys.filter { FactWorld.place($0).directory == directory }.sorted()
                    #expect(found.map(\.placeNumber) == wanted, "VERSIONSFS_SEED=\(seed) at \(number)")
                    for name in found {
                        #expect(name.row == facts.occupant(of: name.placeNumber), "VERSIONSFS_SEED=\(seed)")
                        let current = name.row.hasNoVersions ? nil : facts.current(of: name.row.document)
                        #expect(name.version?.number == current, "VERSIONSFS_SEED=\(seed) at \(number): \(name)")
                    }
                }
            }
        }
    }

    @Test("The tree of each moment is the same in pages of every size")
    func tree() throws {
        try FactWorld.random("trees at moments", rounds: 30) { world, seed in
            let all = world.lists
            for number in stride(from: 1, through: all.lastNumber, by: 7) {
                let facts = world.lists(until: number)
                var wanted: [PlaceNumber] = []
                func add(_ directory: FileID) {
                    let places = facts.tree().keys.filter { FactWorld.place($0).directory == directory }.sorted()
                    for place in places {
                        wanted.append(place)
                        if let row = facts.occupant(of: place), row.hasNoVersions, let file = row.file { add(file) }
                    }
                }
                add(.root)
                for size in Self.sizes {
                    let found = try pages {
                        try world.reader.tree(below: .root, at: number, from: $0, limit: size)
                    }.filter { !$0.name.isFoundLater }
                    #expect(found.map(\.name.placeNumber) == wanted, "VERSIONSFS_SEED=\(seed) at \(number)")
                    for entry in found { #expect(entry.names.last == entry.name.place.name) }
                }
            }
        }
    }

    @Test("A time has the last number until then")
    func moments() throws {
        try FactWorld.random("times", rounds: 30) { world, seed in
            let all = world.lists
            let ends: [(number: UInt64, time: Timestamp)] = all.rows.map { ($0.number.number, $0.time) }
            for (number, time) in ends {
                let found = try world.reader.number(at: time)
                // Several facts may have one time.
                #expect(found >= number, "VERSIONSFS_SEED=\(seed) \(number)")
                let later = ends.first { $0.time > time }?.number ?? .max
                #expect(found < later, "VERSIONSFS_SEED=\(seed) \(number)")
            }
            #expect(try world.reader.number(at: Timestamp(nanoseconds: .min)) == 0)
        }
    }
}
