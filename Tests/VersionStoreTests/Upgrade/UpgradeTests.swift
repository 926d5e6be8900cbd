// The upgrade of containers of format 1.

import Foundation
import Lineage
import Support
import Testing
import VersionModel

@testable import VersionStore

@Suite("Upgrade from format 1")
struct UpgradeTests {
    @Test("A container with a document, its versions and a deletion says the same afterwards")
    func small() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (item, versions) = try fixture.document("a", kinds: [.history, .conflict, .history], in: store)
        let (gone, _) = try fixture.document("b", in: store)
        let deletion = try fixture.delete("b", gone, in: store)
        let counts = try Upgrade(store).run()
        #expect(counts.versions == 6 && counts.lost == 0)
        let upgraded = try Upgraded(fixture)
        try upgraded.expectSame(as: store, "small")
        let document = try #require(try upgraded.document(item.id))
        #expect(try upgraded.reader.heads(of: document).conflicts.count == 1)
        #expect(try upgraded.number(versions[0].id) != nil)
        #expect(try upgraded.access { try FactTables.removal(alias: deletion.id, $0) } != nil)
    }

    /// Seeds of containers that did not say the same.
    private static let formerFailures: [UInt64: String] = [
        2_025_366_041: "the copy that a document began with was thinned, where two saves branched off",
        55_433_052: "and so was the save at which the two documents parted",
        300_017: "a directory's removal was taken for that of the file before it",
    ]

    @Test("Random containers say the same afterwards, now and at each time before")
    func random() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let first = given ?? .random(in: 0...UInt64(UInt32.max))
        print("upgrades: VERSIONSFS_SEED=\(first)")
        let former = Self.formerFailures.map(\.key).sorted()
        for seed in former + Array(first..<(first + UInt64(Workplace.count(60)))) {
            let comment = Comment("VERSIONSFS_SEED=\(seed)")
            let fixture = try Fixture()
            let world = try FormerWorld(fixture, seed: seed)
            for _ in 0..<60 { try world.step() }
            try Upgrade(world.store).run()
            try {
                let upgraded = try Upgraded(fixture)
                try upgraded.expectSame(as: world.store, comment)
                try expectSamePast(world, upgraded, comment)
            }()
            let seen = try SeenAfterwards(world.store)
            try seen.expectSame(comment)
            try seen.expectContents(comment)
            seen.facts.close()
        }
    }

    private func expectSamePast(_ world: FormerWorld, _ upgraded: Upgraded, _ comment: Comment) throws {
        for moment in world.moments {
            let number = try upgraded.reader.number(at: moment.time)
            let entries = try pages {
                try upgraded.reader.tree(below: .root, at: number, from: $0, limit: 100)
            }
            var (names, directories): ([String: VersionRow], Set<String>) = ([:], [""])
            for entry in entries {
                let path = entry.names.map(\.description).joined(separator: "/")
                if entry.name.row.hasNoVersions { directories.insert(path) } else { names[path] = entry.name.version }
            }
            #expect(directories == moment.directories, "\(comment) at \(moment.time.nanoseconds)")
            for (path, version) in moment.names {
                // Thinned versions are gone; the copy that a document began with is as good as its original.
                guard let number = try upgraded.number(version),
                    let wanted = try upgraded.access({ try FactTables.version(number, $0) })
                else { continue }
                let found = names[path]
                #expect(
                    found?.content == wanted.content && found?.fingerprint.size == wanted.fingerprint.size,
                    "\(comment): \(path) at \(moment.time.nanoseconds)")
            }
        }
    }

    @Test("The feed goes on behind its last number")
    func feed() throws {
        let fixture = try Fixture()
        let world = try FormerWorld(fixture, seed: 7)
        for _ in 0..<30 { try world.step() }
        let store = world.store
        store.flush()
        let last = try #require(try store.changeRange()?.upperBound)
        try Upgrade(store).run()
        let facts = try FactStore(in: store.state, options: .init(clock: fixture.clock, logger: Fixture.quiet))
        defer { facts.close() }
        let all = try facts.feed(after: 0, limit: 10_000)
        #expect(all.hasGap && all.transactions.allSatisfy { $0.last > last } && !all.transactions.isEmpty)
        let rest = try facts.feed(after: last, limit: 10)
        #expect(!rest.hasGap && rest.transactions.isEmpty && rest.last == all.last)
        #expect(try facts.feed(after: last - 1, limit: 10).hasGap)
    }

    @Test("How long it takes is printed", .timeLimit(.minutes(10)))
    func duration() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_FILES"].flatMap { Int($0) }
        let count = given ?? Workplace.count(100_000)
        let fixture = try Fixture()
        let store = try fixture.store()
        for index in 0..<count {
            let version = Records.version(kind: .current, wall: Int64(index))
            let name = try name("file number \(index)")
            let item = Item(
                id: version.item, places: [Place(directory: .root, name: name)], current: version.id,
                file: .init(id: FileID(UInt64(index + 2)), size: version.size, modified: version.modified))
            store.commit([.version(version), .item(item)])
        }
        store.flush()
        let (clock, before) = (ContinuousClock(), Self.peakMemory())
        let time = try clock.measure {
            let counts = try Upgrade(store).run()
            #expect(counts.versions == count && counts.names == count)
        }
        print("upgrade of \(count) files: \(time), \(Self.peakMemory() - before) KiB more at most")
    }

    /// The largest resident size so far, in KiB.
    private static func peakMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
