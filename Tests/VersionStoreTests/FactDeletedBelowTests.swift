// What was deleted below a path, and in groups.

import GRDB
import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: deleted below a path")
struct FactDeletedBelowTests {
    /// The path of a directory at a number, or where it was last, or first.
    private static func path(of directory: FileID, at number: UInt64, _ facts: Facts) -> TreePath? {
        var (names, current): ([FileName], FileID) = ([], directory)
        while current != .root, names.count < 100 {
            let rows = facts.rows.filter { $0.file == current }
            guard let row = rows.last(where: { $0.number.number <= number }) ?? rows.first else { return nil }
            names.append(FactWorld.place(row.place).name)
            current = FactWorld.place(row.place).directory
        }
        return TreePath(names: names.reversed())
    }

    @Test("A path has what was deleted there, and in what is there now, asked by directories or by all departures")
    func within() throws {
        var count = 0
        try FactWorld.random("deleted below paths", rounds: 80) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            let all = try pages { try reader.deleted(before: $0, limit: 100) }
            var paths: Set<TreePath> = [.root]
            for row in facts.rows {
                let place = FactWorld.place(row.place)
                let path = Self.path(of: place.directory, at: row.number.number, facts)
                paths.formUnion(path.map { [$0, $0.appending(place.name)] } ?? [])
            }
            for path in paths {
                let wanted = try all.filter { entry in
                    let then = Self.path(of: entry.place.directory, at: entry.number.number, facts)
                    if then?.appending(entry.place.name).isWithin(path) ?? false { return true }
                    let chain = try reader.path(of: entry.place.directory).chain
                    return try chain.contains { directory in
                        let now = try reader.path(of: directory)
                        return now.isThere && now.path == path
                    }
                }
                for (size, directories) in [(1, 1024), (100, 1024), (2, 0), (100, 0)] {
                    let found = try pages { try reader.deleted(within: path, before: $0, limit: size, directories) }
                    #expect(found == wanted, "VERSIONSFS_SEED=\(seed): \(path), \(size) of \(directories)")
                }
                if !path.bytes.isEmpty { count += wanted.count }
            }
        }
        #expect(count > 0)
    }

    @Test("What was deleted in a directory is below the path of the directory that it came back as")
    func comeBack() throws {
        var world = try FactWorld()
        func row(
            _ number: UInt64, _ place: UInt32, _ file: UInt64?, _ how: How, isDirectory: Bool = true,
            from: UInt64? = nil
        ) -> Fact {
            var row = NameRow(
                number: RowNumber(number), time: Timestamp(nanoseconds: Int64(number)), place: PlaceNumber(place),
                file: file.map { FileID($0) }, how: how, actor: nil)
            (row.hasNoVersions, row.from) = (isDirectory && file != nil, from.map { RowNumber($0) })
            return .row(row)
        }
        // Of the root, `e` and `d`; of the directory 4, `a`.
        let (e, d, a): (UInt32, UInt32, UInt32) = (12, 11, 32)
        try world.record([
            row(1, e, 4, .created), row(2, a, 6, .created, isDirectory: false), row(3, a, nil, .removed),
            row(4, e, nil, .removed), row(5, e, 13, .undeleted, from: 1), row(6, e, nil, .movedAway(to: RowNumber(7))),
            row(7, d, 13, .moved, from: 5),
        ])
        for path in [FactWorld.place(PlaceNumber(d)), FactWorld.place(PlaceNumber(e))] {
            let path = TreePath(names: [path.name])
            for directories in [1024, 0] {
                let found = try pages { try world.reader.deleted(within: path, before: $0, limit: 2, directories) }
                #expect(found.map(\.number) == [RowNumber(3)], "\(path), \(directories)")
            }
        }
    }

    @Test("Deletions by one program within 10 s of one another are one group")
    func groups() throws {
        try FactWorld.random("groups", rounds: 80) { world, seed in
            let reader = world.reader
            let all = try pages { try reader.deleted(before: $0, limit: 100) }
            var wanted: [RowNumber: RowNumber] = [:]
            var last: [ActorNumber: (removal: NameRow, first: RowNumber)] = [:]
            for row in world.lists.rows where row.how == .removed {
                guard let actor = row.actor else { continue }
                let former = last[actor].flatMap {
                    row.time.since($0.removal.time) <= FactReader.groupNanoseconds ? $0.first : nil
                }
                last[actor] = (row, former ?? row.number)
                wanted[row.number] = former ?? row.number
            }
            let groups = try reader.groups(of: all)
            for entry in all {
                #expect(groups[entry.number] == wanted[entry.number] ?? entry.number, "VERSIONSFS_SEED=\(seed)")
            }
            for first in Set(groups.values) {
                let members = all.filter { groups[$0.number] == first }.reversed()
                for size in [1, 2, 100] {
                    let found = try pages { try reader.deleted(ofGroup: first, from: $0, limit: size) }
                    #expect(found == Array(members), "VERSIONSFS_SEED=\(seed)")
                }
            }
        }
    }
}
