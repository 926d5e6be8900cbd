// What readers of facts cost: every query goes by keys, and a page is as fast in a large catalog as in a small one.

import GRDB
import Lineage
import LineageWorlds
import Synchronization
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: costs", .serialized)
struct FactCostTests {
    // MARK: Plans

    /// Every question, once.
    private static func askAll(_ world: FactWorld) throws {
        let (reader, facts) = (world.reader, world.lists)
        _ = try reader.number(at: Timestamp(nanoseconds: 5))
        _ = try reader.path(of: FileID(4), at: 7)
        _ = try reader.lastChange(in: .root, until: 9)
        _ = try reader.names(in: .root, at: 9, limit: 3)
        _ = try reader.listing(of: .root, limit: 3)
        _ = try reader.name(at: FactWorld.place(PlaceNumber(9)))
        _ = try reader.tree(below: .root, limit: 9)
        let entries = try reader.deleted(limit: 9).elements
        _ = try reader.deleted(in: .root, limit: 9)
        _ = try reader.deleted(at: FactWorld.place(PlaceNumber(9)), limit: 9)
        for path in ["a", "b/a"] { _ = try reader.deleted(within: #require(TreePath(bytes: path.utf8)), limit: 9) }
        let groups = try reader.groups(of: entries)
        for group in Set(groups.values) { _ = try reader.deleted(ofGroup: group, limit: 9) }
        _ = try reader.conflicted(limit: 9)
        _ = try reader.countOfConflicts()
        _ = try reader.named(byDigits: "abcd", limit: 9)
        _ = try reader.placesChanged(since: 5, limit: 9)
        _ = try reader.documentsSaved(since: 5, limit: 9)
        _ = try reader.oldestVersions(limit: 9)
        _ = try reader.documents(limit: 9)
        _ = try reader.contents(limit: 2)
        _ = try reader.changes(toldBy: world.last, through: facts.lastNumber)
        for document in Set(facts.rows.map(\.document)) {
            _ = try (reader.deleted(of: document), reader.id(of: document), reader.countOfPinned(in: document))
            _ = try reader.versions(of: document, all: true, limit: 2)
            _ = try reader.oldestVersions(of: document, limit: 2)
            for step in 0..<3 { _ = try reader.version(of: document, back: step) }
            _ = try reader.version(of: document, at: Timestamp(nanoseconds: 5))
        }
        for version in facts.versions { _ = try (reader.version(version.number), reader.id(of: version.number)) }
    }

    @Test("No query walks through a table")
    func plans() throws {
        let heard = Mutex(Set<String>())
        var count = 0
        try FactWorld.random("plans", rounds: 20, { sql in heard.withLock { _ = $0.insert(sql) } }) { world, _ in
            heard.withLock { $0 = [] }
            try Self.askAll(world)
            let statements = heard.withLock { $0 }.filter { $0.contains("SELECT") }
            count = max(count, statements.count)
            for sql in statements {
                let plan = try world.queue.read { database in
                    let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                    statement.setUncheckedArguments(StatementArguments())
                    return try Row.fetchAll(statement).compactMap { $0["detail"] as String? }
                }
                let tables = ["name", "version", "event", "place", "lost", "won", "gone", "later", "back", "own"]
                let scans = plan.filter { detail in tables.contains { "\(detail) ".hasPrefix("SCAN \($0) ") } }
                #expect(scans.isEmpty, "\(sql)\n\(plan.joined(separator: "\n"))")
            }
        }
        print("plans: \(count) queries")
        #expect(count > 50)
    }

    // MARK: Times

    /// A container with documents of all kinds, and one with many versions.
    private static func world(rows count: UInt64) throws -> (world: FactWorld, document: DocumentNumber) {
        var world = try FactWorld()
        var (facts, number): ([Fact], UInt64) = ([], 0)
        func time() -> Timestamp { Timestamp(nanoseconds: Int64(number) * 20_000_000_000) }
        func row(_ place: UInt32, _ file: UInt64?, _ how: How, of document: UInt64? = nil) -> NameRow {
            number += 1
            var row = NameRow(
                number: RowNumber(number), time: time(), place: PlaceNumber(place), file: file.map { FileID($0) },
                how: how, actor: ActorNumber(1))
            if let document { row.document = DocumentNumber(document) }
            facts.append(.row(row))
            return row
        }
        func save(_ row: NameRow, _ file: UInt64, generation: UInt64 = 0, loser: UInt64? = nil) {
            number += 1
            var version = VersionRow(
                number: VersionNumber(number), time: time(), row: row.number,
                content: Content(file: FileID(file), generation: generation),
                fingerprint: Fingerprint(size: 9, high: number, low: file), file: FileID(file), modified: time(),
                author: ActorNumber(1))
            version.loser = loser.map { VersionNumber($0) }
            facts.append(.version(version))
        }
        let large = row(16, 900, .created)
        for generation in 0..<count / 5 { save(large, 900, generation: generation) }
        // A name that is removed and made again, always the same document.
        let again = row(17, 901, .created)
        save(again, 901)
        for _ in 0..<count / 20 {
            _ = row(17, nil, .removed)
            _ = row(17, 901, .created, of: again.number.number)
        }
        var (place, file): (UInt32, UInt64) = (800, 1000)
        while number < count {
            (place, file) = (place + 1, file + 1)
            save(row(place, file, .created), file)
            if file % 8 == 0 { _ = row(place, nil, .removed) }
        }
        save(large, 900, generation: count, loser: large.number.number + 1)
        try world.record(facts)
        return (world, large.document)
    }

    @Test("A page costs the same in a catalog of any size, at every place of its list")
    func times() throws {
        let (small, large) = (try Self.world(rows: 1000), try Self.world(rows: 100_000))
        typealias Ask = (FactReader, DocumentNumber, _ last: UInt64) throws -> Void
        let asked: [(String, Ask)] = [
            ("names", { reader, _, _ in _ = try reader.names(in: FileID(101), limit: 8) }),
            ("moment", { reader, _, last in
                _ = try reader.number(at: Timestamp(nanoseconds: Int64(last / 2) * 20_000_000_000))
            }),
            ("first versions", { reader, document, _ in _ = try reader.versions(of: document, limit: 20) }),
            ("last versions", { reader, document, _ in
                let cursor = VersionsCursor(document: document, before: 25)
                _ = try reader.versions(of: document, from: cursor, limit: 20)
            }),
            ("version", { reader, document, _ in _ = try reader.version(of: document, back: 10) }),
            ("deleted", { reader, _, _ in _ = try reader.deleted(limit: 10) }),
            ("deleted in a directory", { reader, _, _ in _ = try reader.deleted(in: FileID(101), limit: 10) }),
            ("conflicts", { reader, _, _ in _ = try (reader.countOfConflicts(), reader.conflicted(limit: 10)) }),
            ("digits", { reader, _, _ in _ = try reader.named(byDigits: "12345678", limit: 10) }),
            ("document's entries", { reader, document, _ in _ = try reader.deleted(of: document) }),
            ("changes", { reader, _, last in _ = try reader.placesChanged(since: last - 50, limit: 10) }),
            ("oldest", { reader, _, _ in _ = try reader.oldestVersions(limit: 10) }),
        ]
        for (name, ask) in asked {
            var (one, other) = try (time(small, ask), time(large, ask))
            // Other programs may have been in the way.
            for _ in 0..<3 where other >= 4 * one {
                one = min(one, try time(small, ask))
                other = min(other, try time(large, ask))
            }
            let ratio = Double(other) / Double(max(one, 1))
            print("\(name): \(one / 1000) µs, \(other / 1000) µs, ratio \(ratio)")
            #expect(ratio < 4, "\(name): \(one / 1000) µs, \(other / 1000) µs")
        }
    }

    /// The least time of some.
    private func time(
        _ world: (world: FactWorld, document: DocumentNumber),
        _ ask: (FactReader, DocumentNumber, UInt64) throws -> Void
    ) throws -> Int64 {
        let last = world.world.told.compactMap(\.numberOfRow).max() ?? 0
        let times = try (0..<9).map { _ in
            let clock = ContinuousClock()
            let taken = try clock.measure { try ask(world.world.reader, world.document, last) }
            return taken.components.seconds * 1_000_000_000 + taken.components.attoseconds / 1_000_000_000
        }
        return times.min() ?? 0
    }
}

extension Fact {
    fileprivate var numberOfRow: UInt64? {
        switch self {
        case .row(let row): row.number.number
        case .version(let version): version.number.number
        case .amend, .settle, .forget, .publish, .purge: nil
        }
    }
}
