// Following names, documents and parents.

import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: following")
struct FactFollowingTests {
    @Test("A document's facts, newest first")
    func facts() throws {
        try FactWorld.random("facts of documents", rounds: 60) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            for document in Set(facts.rows.filter { $0.file != nil }.map(\.document)) {
                var wanted = facts.versions(of: document).map { (number: $0.number.number, fact: Fact.version($0)) }
                for row in facts.rows {
                    let own = row.file == nil
                        ? facts.lastOccupant(of: row.place, before: row.number)?.document : row.document
                    if own == document { wanted.append((row.number.number, .row(row))) }
                }
                let sorted = wanted.sorted { $0.number > $1.number }.map(\.fact)
                for size in [1, 3, 100] {
                    let found = try pages { try reader.facts(of: document, before: $0, limit: size) }
                    #expect(found == sorted, "VERSIONSFS_SEED=\(seed)")
                }
            }
        }
    }

    @Test("A name that was renamed is found where it is now")
    func renamed() throws {
        var count = 0
        try FactWorld.random("renamed names", rounds: 60) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            for place in Set(facts.rows.map(\.place)) where FactWorld.place(place).directory == .root {
                let path = TreePath(names: [FactWorld.place(place).name])
                let found = try reader.renamed(from: path)
                guard let last = facts.lastRow(at: place), case .movedAway(let target?) = last.how,
                    facts.rows.contains(where: { $0.number == target })
                else {
                    #expect(found == nil, "VERSIONSFS_SEED=\(seed)")
                    continue
                }
                var row = facts.rows.first { $0.number == target }
                while let name = row, let next = facts.departure(of: name) {
                    guard case .movedAway(let target?) = next.how else {
                        row = nil
                        break
                    }
                    row = facts.rows.first { $0.number == target }
                }
                let wanted = try row.map { row in
                    let place = FactWorld.place(row.place)
                    return try reader.path(of: place.directory).path?.appending(place.name)
                }
                #expect(found == wanted ?? nil, "VERSIONSFS_SEED=\(seed)")
                if found != nil { count += 1 }
            }
        }
        #expect(count > 0)
    }

    @Test("The common ancestor is the one that the whole graph has")
    func ancestors() throws {
        var count = 0
        try FactWorld.random("ancestors", rounds: 60) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            func id(_ number: VersionNumber) -> VersionID { VersionID(high: number.number, low: 0) }
            // A forgotten version's parents are known, and it is none.
            let nodes = facts.versions.map { version in
                HistoryNode(
                    id: id(version.number),
                    parents: [version.parents.first, version.parents.second].compactMap { $0 }.map(id),
                    time: HybridTime(wall: Timestamp(nanoseconds: Int64(version.number.number)), logical: 0),
                    device: DeviceID(high: 0, low: 0), isDeletion: false, isEmpty: false)
            }
            let gone = Set(facts.versions.filter(\.isForgotten).map { id($0.number) })
            for one in facts.versions.suffix(6) {
                for other in facts.versions.suffix(6) {
                    let wanted = MergeBase.of(id(one.number), and: id(other.number), in: nodes)
                    let found = try reader.commonAncestor(of: one.number, and: other.number).map(id)
                    let slowly = try reader.commonAncestor(of: one.number, and: other.number, looks: 2).map(id)
                    #expect(slowly == found, "VERSIONSFS_SEED=\(seed)")
                    // One that is gone, or one of several that is, makes it unknown.
                    if let found { #expect(found == wanted && !gone.contains(found), "VERSIONSFS_SEED=\(seed)") }
                    if found == nil, let wanted {
                        #expect(!gone.isEmpty, "VERSIONSFS_SEED=\(seed): \(wanted) of \(one.number) \(other.number)")
                    }
                    if found != nil, one != other { count += 1 }
                }
            }
        }
        #expect(count > 0)
    }
}
