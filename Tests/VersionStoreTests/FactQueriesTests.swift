// What questions to the catalog of facts cost: each goes by an index, and rows are small.

import Foundation
import GRDB
import Glibc
import Lineage
import LineageWorlds
import Support
import Synchronization
import Testing
import VersionModel

@testable import VersionStore

@Suite("Queries of facts")
struct FactQueriesTests {
    /// The statements that a body has the store run.
    private func statements(of store: FactStore, _ body: () throws -> Void) throws -> Set<String> {
        let statements = Mutex<Set<String>>([])
        try store.catalog.access { database in
            database.trace(options: .statement) { event in
                guard case .statement(let statement) = event else { return }
                statements.withLock { _ = $0.insert(statement.sql) }
            }
        }
        try body()
        try store.catalog.access { $0.trace() }
        return statements.withLock(\.self)
    }

    @Test("No question looks through the names, the versions, the events or the places")
    func plans() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        var walk = WalkedFacts(seed: WalkedFacts.seed("queries of facts"))
        var told: [Fact] = []
        for transaction in walk.transactions {
            let first = store.reserve(WalkedFacts.count(of: transaction))
            let facts = walk.told(transaction, from: first)
            told += facts
            store.commit(FactTransaction(facts), from: first)
            store.finish(first)
        }
        store.flush()
        let statements = try statements(of: store) {
            let facts = store.facts()
            for number in told.compactMap(\.ownNumber).prefix(40) { ask(facts, number) }
            try askStore(store)
        }
        let selections = statements.filter { $0.contains("SELECT") && !$0.hasPrefix("INSERT") }
        #expect(selections.count > 30)
        for sql in selections.sorted() {
            let plan = try plan(of: sql, store)
            #expect(plan.filter(isScan).isEmpty, "\(sql): \(plan.joined(separator: "; "))")
        }
        // So that what is looked for would be found.
        try store.catalog.access { try $0.execute(sql: "DROP INDEX name_place") }
        #expect(try selections.contains { try plan(of: $0, store).contains(where: isScan) })
    }

    private func plan(of sql: String, _ store: FactStore) throws -> [String] {
        try store.catalog.access { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql.replacing(/\?\d*/, with: "NULL"))
                .map { $0["detail"] as String }
        }
    }

    private func isScan(_ detail: String) -> Bool {
        ["name", "version", "event", "place", "actor", "later", "next"].contains { table in
            detail == "SCAN \(table)" || detail.hasPrefix("SCAN \(table) ")
        }
    }

    private func ask(_ facts: StoredFacts, _ number: UInt64) {
        let (row, version, document) = (RowNumber(number), VersionNumber(number), DocumentNumber(number))
        let place = facts.row(row)?.place ?? PlaceNumber(1)
        let file = facts.row(row)?.file ?? facts.version(version)?.file ?? FileID(1)
        _ = facts.lastNumber
        _ = (facts.isSettled(version), facts.purge(of: row))
        _ = (facts.lastRow(at: place), facts.lastOccupant(of: place, before: row))
        _ = (facts.firstRow(at: place, after: row), facts.successors(of: row))
        _ = (facts.names(of: file), facts.namesOfFiles(from: file), facts.lastRow(of: file))
        _ = facts.lastContent(of: file)
        _ = facts.versions(in: facts.version(version)?.content ?? Content(file: file, generation: 0))
        _ = (facts.names(of: document), facts.rows(of: document, after: row), facts.lastRow(of: document))
        _ = (facts.lastDeparture(of: document), facts.documents(from: version), facts.versions(of: document))
        _ = facts.versions(of: document, equalTo: facts.version(version)?.fingerprint ?? .empty)
        _ = facts.newestVersion(of: document, until: number, isShown: true)
        _ = (facts.rivals(of: document), facts.isSavedAtHome(document, after: row))
    }

    private func askStore(_ store: FactStore) throws {
        let place = Place(directory: FileID(1), name: try #require(FileName("x")))
        let author = Author(userID: 1, user: "ana", program: "vim", process: 3)
        _ = try store.catalog.access { database in
            _ = try FactTables.number(of: place, database)
            _ = try FactTables.places(in: place.directory, limit: 10, database)
            _ = try FactTables.actors(of: ActorRef(process: author.process, started: 2), boot: 1, database)
        }
        _ = (try store.place(PlaceNumber(999)), try store.actor(ActorNumber(999)))
        _ = (try store.detail(of: VersionNumber(2)), try store.detail(of: RowNumber(1)))
        _ = (try store.version(.random()), try store.document(.random()), try store.label(of: 1))
        _ = try store.catalog.access { try FactTables.removal(alias: .random(), $0) }
        _ = try store.setting("x")
        var last: UInt64 = 0
        while true {
            let feed = try store.feed(after: last, limit: 20)
            guard !feed.transactions.isEmpty else { return }
            last = feed.last
        }
    }

    // MARK: Room

    /// What a person does to files, as facts.
    private struct Work {
        var generator = SeededGenerator(seed: 5)
        struct File {
            var place = PlaceNumber(0)
            var row = RowNumber(0)
            var document = DocumentNumber(0)
            var file: FileID
            var version: VersionNumber?
        }

        var files: [File] = []
        var time: Int64 = 1_790_000_000_000_000_000
        var generation: UInt64 = 0

        mutating func random() -> UInt64 { .random(in: .min ... .max, using: &generator) }

        mutating func row(_ number: UInt64, _ place: PlaceNumber, _ file: FileID?, _ how: How) -> NameRow {
            time += 1_000_003
            return NameRow(
                number: RowNumber(number), time: Timestamp(nanoseconds: time), place: place, file: file, how: how,
                actor: ActorNumber(1))
        }

        mutating func version(_ number: UInt64, _ index: Int, _ transaction: inout FactTransaction) -> VersionRow {
            time += 1_000_003
            let modified = Timestamp(nanoseconds: time - 4_000_000)
            let hash = (0..<4).flatMap { _ in ContentID(high: random(), low: 0).bytes.prefix(8) }
            let half = ContentID(bytes: hash.prefix(16)) ?? .random()
            let file = files[index]
            var version = VersionRow(
                number: VersionNumber(number), time: Timestamp(nanoseconds: time), row: file.row,
                content: Content(file: file.file, generation: generation),
                fingerprint: Fingerprint(size: 1000 + random() % 50_000, high: half.high, low: half.low),
                file: file.file, modified: modified, author: ActorNumber(1))
            version.parents = Parents(file.version)
            version.base = file.version
            version.isAtHome = true
            transaction.describe(
                version.number,
                VersionDetail(
                    hash: hash, attributes: Attributes(mode: 0o644, owner: 1000, group: 1000), changed: modified))
            files[index].version = version.number
            return version
        }
    }

    @Test("A row takes no more room than it must")
    func room() throws {
        let count = Workplace.count(100_000)
        let fixture = try FactFixture()
        let store = try fixture.store()
        // Numbers of a container in use.
        store.skipNumbers(through: 1 << 23)
        var work = Work()
        var (before, report) = (try bytes(store), "")
        func measure(
            _ what: String, atMost limit: Int, _ numbers: UInt64,
            _ facts: (inout Work, UInt64, Int, inout FactTransaction) throws -> [Fact]
        ) throws {
            // Of all threads: others may keep the machine busy.
            let begun = clock()
            for index in (0..<count).shuffled(using: &work.generator) {
                let first = store.reserve(numbers)
                var details = FactTransaction()
                var transaction = FactTransaction(try facts(&work, first, index, &details))
                transaction.details = details.details
                store.commit(transaction, from: first, last: first + numbers - 1)
                store.finish(first)
            }
            store.flush()
            let microseconds = Double(clock() - begun) / Double(CLOCKS_PER_SEC) * 1e6 / Double(count)
            let after = try bytes(store)
            let each = (after - before) / count
            before = after
            report += "\(what): \(each) bytes, \(microseconds.formatted(.number.precision(.fractionLength(1)))) µs\n"
            #expect(each <= limit, "\(what): \(each) bytes")
        }
        for _ in 0..<count { work.files.append(.init(file: FileID(work.random()))) }
        let directories = (0...count / 20).map { _ in FileID(work.random()) }
        try measure("create", atMost: 190, 1) { work, first, index, _ in
            let name = "file-\(1_000_000 + index).txt"
            let place = Place(directory: directories[index / 20], name: try #require(FileName(name)))
            work.files[index].place = try store.number(of: place)
            work.files[index].row = RowNumber(first)
            work.files[index].document = DocumentNumber(first)
            return [.row(work.row(first, work.files[index].place, work.files[index].file, .created))]
        }
        for what in ["first save", "save in place"] {
            try measure(what, atMost: 150, 1) { work, first, index, details in
                [.version(work.version(first, index, &details))]
            }
            work.generation += 1
        }
        try measure("rename over", atMost: 260, 2) { work, first, index, details in
            work.files[index].file = FileID(work.random())
            work.files[index].row = RowNumber(first)
            var row = work.row(first, work.files[index].place, work.files[index].file, .moved)
            row.document = work.files[index].document
            return [.row(row), .version(work.version(first + 1, index, &details))]
        }
        try measure("amend", atMost: 30, 0) { work, _, index, details in
            let number = work.files[index].version?.number ?? 0
            return [.amend(work.version(number, index, &details))]
        }
        try measure("unlink", atMost: 90, 1) { work, first, index, _ in
            var row = work.row(first, work.files[index].place, nil, .removed)
            row.document = work.files[index].document
            return [.row(row)]
        }
        print("facts, \(count) each:\n\(report)", terminator: "")
    }

    private func bytes(_ store: FactStore) throws -> Int {
        try store.catalog.access { database in
            let pages = try SQLStatement(database, "PRAGMA page_count").first { $0.integer(0) } ?? 0
            return Int(pages * (try SQLStatement(database, "PRAGMA page_size").first { $0.integer(0) } ?? 0))
        }
    }
}
