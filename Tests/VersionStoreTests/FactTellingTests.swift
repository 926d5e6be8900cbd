// What listeners hear of facts.

import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: the feed")
struct FactTellingTests {
    @Test("A listener knows the names of each moment, each new conflict and each resolution")
    func listener() throws {
        var (conflicts, renames, later) = (0, 0, 0)
        var all: [(told: [Fact], last: UInt64, changes: [ToldChange])] = []
        var (listener, walk): (Listener, UInt64?) = (Listener(), nil)
        try FactWorld.random("telling", rounds: 100, every: 1) { world, seed in
            if walk != seed { (listener, walk, all) = (Listener(), seed, []) }
            let (before, told) = (listener, world.last)
            let facts = world.lists
            let changes = try world.reader.changes(toldBy: told, through: facts.lastNumber)
            listener.hear(changes)
            let tree = Set(facts.tree().keys.map { FactWorld.place($0) })
            #expect(listener.names == tree, "VERSIONSFS_SEED=\(seed): \(changes)")
            let documents = Set(facts.rows.filter { $0.file != nil }.map(\.document))
            listener.conflicts = Set(documents.flatMap { facts.conflicts(of: $0) })
            for conflict in listener.conflicts.subtracting(before.conflicts) {
                // What a purged winner had beaten is one again when its document comes back with another winner.
                let isTold = changes.contains { $0.event == .conflict && $0.version == conflict }
                #expect(isTold, "VERSIONSFS_SEED=\(seed): \(conflict) \(told)")
                conflicts += 1
            }
            for fact in told {
                if case .settle(let version) = fact {
                    #expect(changes.contains { $0.event == .resolved && $0.version == version })
                }
                if case .version(let version) = fact, version.beside == .no,
                    let row = facts.rows.first(where: { $0.number == version.row }), facts.hasName(row.document)
                {
                    #expect(changes.contains { $0.event == .saved && $0.version == version.number })
                }
            }
            all.append((told, facts.lastNumber, changes))
            // Who asks later hears the same, but of versions that are gone.
            let gone = Set(facts.versions.filter(\.isForgotten).map(\.number))
            func isThere(_ change: ToldChange) -> Bool { change.version.map { !gone.contains($0) } ?? true }
            for (told, last, changes) in all.suffix(30) {
                let again = try world.reader.changes(toldBy: told, through: last)
                #expect(again.filter(isThere) == changes.filter(isThere), "VERSIONSFS_SEED=\(seed) \(last)")
                later += 1
            }
            renames += changes.count { $0.event == .renamed }
            for change in changes where change.event == .renamed { #expect(change.from != nil) }
        }
        #expect(later > 0)
        print("telling: \(conflicts) conflicts, \(renames) renames")
        #expect(conflicts > 0 && renames > 0)
    }

    @Test("A name that is published when its file has moved on twice is told once, where the file is")
    func moved() throws {
        func row(_ number: UInt64, _ place: UInt32, _ how: How, from: UInt64? = nil) -> NameRow {
            var file: FileID? = FileID(4)
            if case .movedAway = how { file = nil }
            var row = NameRow(
                number: RowNumber(number), time: Timestamp(nanoseconds: Int64(number)), place: PlaceNumber(place),
                file: file, how: how, actor: nil)
            row.from = from.map { RowNumber($0) }
            if file != nil { row.document = DocumentNumber(2) }
            return row
        }
        var (world, listener) = (try FactWorld(), Listener())
        func tell(_ rows: [NameRow]) throws -> [ChangeEvent] {
            try world.record(rows.map { .row($0) })
            let changes = try world.reader.changes(toldBy: world.last, through: world.lists.lastNumber)
            listener.hear(changes)
            #expect(listener.names == Set(world.lists.tree().keys.map { FactWorld.place($0) }))
            return changes.map(\.event)
        }
        let events = try tell([
            row(6, 11, .linked, from: 5),
            row(2, 8, .created),
            row(3, 8, .movedAway(to: RowNumber(4))), row(4, 9, .moved, from: 2),
            row(5, 9, .movedAway(to: RowNumber(7))), row(7, 10, .moved, from: 4),
        ])
        // The hard link and the last name.
        #expect(events == [.created, .created])
        // Behind that, it is a rename as any other.
        #expect(try tell([row(8, 10, .movedAway(to: RowNumber(9))), row(9, 8, .moved, from: 7)]) == [.renamed])
    }

    @Test("A file that takes another's name: the save comes before the rename, and a name that was made up is not told")
    func over() throws {
        func row(_ number: UInt64, _ place: UInt32, _ how: How, file: UInt64?, from: UInt64? = nil) -> Fact {
            var row = NameRow(
                number: RowNumber(number), time: Timestamp(nanoseconds: Int64(number)), place: PlaceNumber(place),
                file: file.map { FileID($0) }, how: how, actor: nil)
            row.from = from.map { RowNumber($0) }
            if file != nil { row.document = DocumentNumber(from == nil ? number : 1) }
            return .row(row)
        }
        func version(_ number: UInt64, _ row: UInt64, file: UInt64) -> Fact {
            let content = Content(file: FileID(file), generation: 0)
            return .version(
                VersionRow(
                    number: VersionNumber(number), time: Timestamp(nanoseconds: 1), row: RowNumber(row),
                    content: content, fingerprint: Fingerprint(size: 1, high: number, low: 0), file: FileID(file),
                    modified: Timestamp(nanoseconds: 1), author: nil))
        }
        func told(_ drafts: Bool) throws -> [ChangeEvent] {
            var world = try FactWorld()
            try world.record([row(1, 8, .created, file: 4), version(2, 1, file: 4)])
            let draft = [row(3, 9, .created, file: 5), version(4, 3, file: 5)]
            let move = [
                row(5, 9, .movedAway(to: RowNumber(6)), file: nil), row(6, 8, .moved, file: 5, from: 3),
                version(7, 6, file: 5),
            ]
            if drafts { try world.record(draft) }
            try world.record(drafts ? move : draft + move)
            return try world.reader.changes(toldBy: world.last, through: 7).map(\.event)
        }
        #expect(try told(true) == [.saved, .renamed])
        #expect(try !told(false).contains(.created))
        var world = try FactWorld()
        try world.record([row(1, 8, .created, file: 4), version(2, 1, file: 4)])
        // What the rules make of a made-up name that takes another's.
        try world.record([row(3, 8, .created, file: 5), version(4, 3, file: 5)])
        #expect(try world.reader.changes(toldBy: world.last, through: 4).map(\.event) == [.saved])
    }
}

private struct Listener {
    var names: Set<Place> = []
    var conflicts: Set<VersionNumber> = []

    mutating func hear(_ changes: [ToldChange]) {
        // Two that change places do it at once.
        for change in changes where change.event == .renamed { change.from.map { _ = names.remove($0) } }
        for change in changes {
            switch change.event {
            case .created, .undeleted, .renamed: names.insert(change.place)
            case .deleted: names.remove(change.place)
            case .saved, .conflict, .resolved, .versionLost, .attributes: continue
            }
        }
    }
}
