// What a store of facts finds: values that no store writes, and what is left of another catalog.

import Foundation
import GRDB
import Lineage
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("What a store of facts finds")
struct FactRemainsTests {
    private func name(_ number: UInt64) -> NameRow {
        NameRow(
            number: RowNumber(number), time: Timestamp(nanoseconds: 5), place: PlaceNumber(1), file: FileID(77),
            how: .created, actor: nil)
    }

    @discardableResult
    private func commit(_ store: FactStore) -> UInt64 {
        let first = store.reserve(1)
        store.commit(FactTransaction([.row(name(first))]), from: first, last: first)
        store.finish(first)
        return first
    }

    /// Changes a closed catalog as no store does.
    private func change(_ fixture: FactFixture, _ sql: String) throws {
        let queue = try DatabaseQueue(path: SQLitePath.path(of: FactCatalog.fileName, in: fixture.state))
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test("Numbers that no store gives end nothing", arguments: ["next", "applied"])
    func numbers(key: String) throws {
        for bytes in ["ffffffffffffffff", "ffffffffffffff7f", "01"] {
            let fixture = try FactFixture()
            commit(try fixture.store())
            fixture.close()
            try change(fixture, "INSERT OR REPLACE INTO meta VALUES ('\(key)', x'\(bytes)')")
            let store = try fixture.store()
            let numbers = [commit(store), commit(store)]
            #expect(numbers[0] > 1 && numbers[1] == numbers[0] + 1)
            #expect(store.facts().row(RowNumber(numbers[1])) == name(numbers[1]))
        }
    }

    @Test("A number of something found that no store has given takes no number away", arguments: [.max, 1 << 48])
    func found(number: UInt64) throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        store.skipNumbers(through: 70)
        store.skipNumbers(through: number)
        #expect(store.reserve(1) == 71)
        #expect(store.reserve(.max) == 73)
        store.commit(FactTransaction([.settle(VersionNumber(1))]), from: 71, last: .max)
        store.finish(71)
        #expect(try store.feed(after: 0, limit: 10).transactions.isEmpty)
        store.finish(73)
        #expect(try store.feed(after: 0, limit: 10).transactions.count == 1)
    }

    @Test("The redo log of another catalog is not applied, at whatever step the first opening ended")
    func otherLog() throws {
        let other = try FactFixture()
        for _ in 0..<3 { commit(try other.store()) }
        let log = try #require(other.contents()["redo2"])
        let fixture = try FactFixture()
        _ = try fixture.store()
        fixture.close()
        // The tables are made, and nothing else; then, all but the last step is done.
        for undone in ["DELETE FROM meta", "DELETE FROM meta WHERE key = 'clean'"] {
            try change(fixture, undone)
            try log.write(to: URL(fileURLWithPath: fixture.path + "/redo2"))
            #expect(try fixture.store().identity.wasCreated)
            #expect(try fixture.store().facts().lastNumber == 0)
            fixture.close()
        }
        // Without a catalog.
        let last = try FactFixture(["redo2": log])
        #expect(try last.store().identity.wasCreated && last.store().facts().lastNumber == 0)
    }

    @Test("Rows with the least and the largest number end nothing", arguments: [0, UInt64.max])
    func rows(number: UInt64) throws {
        var world = try FactWorld()
        var moved = name(number)
        (moved.how, moved.from) = (.moved, moved.number)
        let time = Timestamp(nanoseconds: 9)
        let version = VersionRow(
            number: VersionNumber(number), time: time, row: moved.number,
            content: Content(file: FileID(77), generation: 0), fingerprint: .empty, file: FileID(77), modified: time,
            author: nil)
        let facts: [Fact] = [.row(moved), .version(version)]
        try world.record(facts)
        _ = try world.reader.changes(toldBy: facts, through: number)
        _ = try world.reader.version(of: moved.document, at: Timestamp(nanoseconds: 6))
        _ = try world.reader.names(in: FileID(0), at: 1, limit: 5)
    }

    @Test("Times that are as far apart as can be end nothing")
    func times() throws {
        var world = try FactWorld()
        var facts: [Fact] = []
        for (number, time) in [(UInt64(1), Int64.max), (3, .min), (5, .max)] {
            var (made, gone) = (name(number), name(number + 1))
            (made.place, gone.place) = (PlaceNumber(UInt32(number)), PlaceNumber(UInt32(number)))
            (gone.file, gone.how, gone.actor, gone.time) = (nil, .removed, ActorNumber(1), Timestamp(nanoseconds: time))
            facts += [.row(made), .row(gone)]
        }
        try world.record(facts)
        let entries = try world.reader.deleted(limit: 9).elements
        #expect(entries.count == 3)
        #expect(try world.reader.groups(of: entries).count == 3)
        for entry in entries { _ = try world.reader.deleted(ofGroup: entry.number, limit: 9) }
    }

    @Test("Old rows of events go, however few each run of the daemon adds")
    func events() throws {
        let fixture = try FactFixture()
        _ = try fixture.store()
        fixture.close()
        let sql = """
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100100)
            INSERT INTO event SELECT n, x'00' FROM number
            """
        try change(fixture, sql)
        let store = try fixture.store()
        store.commit(FactTransaction([.settle(VersionNumber(1))]))
        store.flush()
        let count = try store.catalog.access { database in
            try SQLStatement(database, "SELECT count(*) FROM event").first { $0.integer(0) }
        }
        #expect(count == 100_000)
    }

    @Test("What was committed is durable afterwards, whatever other threads commit meanwhile")
    func synchronize() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let isOver = Atomic<Bool>(false)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Not ever more: a call of the other thread waits for those that were there before.
            while !isOver.load(ordering: .relaxed) {
                for _ in 0..<500 { commit(store) }
                store.flush()
            }
            ended.signal()
        }
        for _ in 0..<200 {
            commit(store)
            #expect(store.synchronize())
        }
        isOver.store(true, ordering: .relaxed)
        ended.wait()
    }

    @Test("A listener may commit; its questions get no answer, since some may be missing there")
    func listener() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let heard = Mutex<[Bool]>([])
        let observation = store.observe { [weak store] transactions in
            guard let store else { return }
            let isAnswered = (try? store.feed(after: 0, limit: 10)) != nil
            let isFirst = heard.withLock { heard in
                heard.append(isAnswered)
                return heard.count == 1
            }
            if isFirst { store.commit(FactTransaction([.settle(VersionNumber(1))])) }
        }
        commit(store)
        store.flush()
        store.flush()
        #expect(heard.withLock(\.self) == [false, false])
        #expect(try store.feed(after: 0, limit: 10).transactions.count == 2)
        observation.cancel()
    }
}
