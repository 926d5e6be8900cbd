// The feed: whole transactions, each once, in the order of their numbers, for readers that begin anywhere.

import Foundation
import Lineage
import LineageWorlds
import Support
import Synchronization
import Testing
import VersionModel

@testable import VersionStore

@Suite("The feed of facts")
struct FactFeedTests {
    /// What a listener has been told.
    private struct Replay: Equatable {
        var rows: [RowNumber: NameRow] = [:]
        var versions: [VersionNumber: VersionRow] = [:]
        var settled: Set<VersionNumber> = []
        var purged: Set<RowNumber> = []

        mutating func hear(_ facts: [Fact]) {
            for fact in facts {
                switch fact {
                case .row(let row): rows[row.number] = row
                case .version(let version), .amend(let version): versions[version.number] = version
                case .settle(let version): settled.insert(version)
                case .forget(let version): versions[version] = nil
                case .purge(let row): purged.insert(row)
                case .publish: break
                }
            }
        }
    }

    @Test("Random facts: listeners that read now and then know all in the end, and no row is told twice")
    func random() throws {
        let seed = WalkedFacts.seed("the feed of facts")
        for round in 0..<UInt64(Workplace.count(40)) {
            var generator = SeededGenerator(seed: seed &+ round)
            var walk = WalkedFacts(seed: seed &+ round)
            let fixture = try FactFixture()
            var told = Replay()
            var listeners = (0..<3).map { _ in (last: UInt64(0), heard: Replay(), rows: [RowNumber]()) }
            func listen(_ index: Int, limit: Int) throws {
                let feed = try fixture.store().feed(after: listeners[index].last, limit: limit)
                #expect(!feed.hasGap)
                for transaction in feed.transactions {
                    listeners[index].heard.hear(transaction.facts)
                    for case .row(let row) in transaction.facts { listeners[index].rows.append(row.number) }
                }
                #expect(feed.transactions.last.map { $0.last <= feed.last } ?? true)
                #expect(feed.transactions.isEmpty ? feed.isAll : feed.last > listeners[index].last)
                listeners[index].last = feed.last
            }
            for transaction in walk.transactions {
                let store = try fixture.store()
                let first = store.reserve(WalkedFacts.count(of: transaction))
                let facts = walk.told(transaction, from: first)
                store.commit(FactTransaction(facts), from: first)
                store.finish(first)
                told.hear(facts)
                for index in listeners.indices where Int.random(in: 0..<10, using: &generator) == 0 {
                    try listen(index, limit: Int.random(in: 1...20, using: &generator))
                }
                if Int.random(in: 0..<50, using: &generator) == 0 { fixture.close() }
            }
            for index in listeners.indices {
                while try fixture.store().feed(after: listeners[index].last, limit: 7).transactions.isEmpty == false {
                    try listen(index, limit: 7)
                }
                #expect(listeners[index].heard == told, "VERSIONSFS_SEED=\(seed &+ round)")
                let rows = listeners[index].rows
                #expect(Set(rows).count == rows.count, "VERSIONSFS_SEED=\(seed &+ round)")
            }
            fixture.close()
        }
    }

    private func row(_ number: UInt64, _ place: UInt32) -> NameRow {
        NameRow(
            number: RowNumber(number), time: Timestamp(nanoseconds: Int64(number)), place: PlaceNumber(place),
            file: FileID(number), how: .created, actor: nil)
    }

    @Test("A reader stops before numbers that are set aside")
    func reserved() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let (early, late) = (store.reserve(2), store.reserve(2))
        store.commit(FactTransaction([.row(row(late, 1))]), from: late)
        store.finish(late)
        #expect(try store.feed(after: 0, limit: 10).transactions.isEmpty)
        store.commit(FactTransaction([.row(row(early, 2)), .row(row(early + 1, 3))]), from: early)
        // Until it is over, it may have more.
        #expect(try store.feed(after: 0, limit: 10).transactions.isEmpty)
        store.finish(early)
        let feed = try store.feed(after: 0, limit: 10)
        #expect(feed.transactions.map(\.facts.count) == [2, 1] && feed.isAll)
        // Not even one row divides the first.
        #expect(try store.feed(after: 0, limit: 1).transactions.first?.facts.count == 2)
    }

    @Test("Events are told with their transaction, also those that are no facts")
    func events() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let circumstances = FactEvent.Circumstances(time: Timestamp(nanoseconds: 3), actor: nil)
        let first = store.reserve(1)
        var transaction = FactTransaction([.row(row(first, 1))])
        transaction.events = [
            .origin(77), .attributes(RowNumber(first), circumstances), .lost(VersionNumber(4), circumstances),
            .marked(VersionNumber(4), circumstances), .labeled(first, circumstances),
        ]
        store.commit(transaction, from: first)
        store.finish(first)
        var alone = FactTransaction()
        alone.events = [.labeled(9, circumstances)]
        store.commit(alone)
        let feed = try store.feed(after: 0, limit: 10)
        #expect(feed.transactions.map(\.events) == [transaction.events, alone.events])
        let rest = try store.feed(after: feed.transactions[0].last, limit: 10)
        #expect(rest.transactions.map(\.events) == [alone.events] && rest.isAll)
        #expect(try fixture.afterKill { try $0.feed(after: 0, limit: 10).transactions.count } == 2)
    }

    @Test("Old rows of events go, and a reader hears of it")
    func gap() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        for number in 1...20 { store.commit(FactTransaction([.settle(VersionNumber(UInt64(number)))])) }
        store.flush()
        let all = try store.feed(after: 0, limit: 100)
        #expect(all.transactions.count == 20 && !all.hasGap)
        try store.catalog.access { try FactCatalog.forgetEvents(beyond: 5, $0) }
        let rest = try store.feed(after: 0, limit: 100)
        #expect(rest.transactions.count == 5 && rest.hasGap)
        #expect(rest.transactions.first?.facts == [.settle(VersionNumber(16))])
        #expect(try !store.feed(after: all.transactions[14].last, limit: 100).hasGap)
    }

    @Test("Two threads commit, and a third reads: it misses nothing, and sees each transaction as a whole")
    func threads() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let each = 1500
        let working = Atomic<Int>(2)
        let observed = Mutex<[UInt64: Int]>([:])
        let observation = store.observe { transactions in
            observed.withLock { observed in
                for transaction in transactions { observed[transaction.lastNumber, default: 0] += 1 }
            }
        }
        let seen = Mutex<[FactFeed.Told]>([])
        // A thread of its own: on two processors the third iteration would begin after another one.
        let hasRead = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { hasRead.signal() }
            var last: UInt64 = 0
            while true {
                let isLast = working.load(ordering: .sequentiallyConsistent) == 0
                guard let feed = try? store.feed(after: last, limit: 50) else {
                    Issue.record("the feed cannot be read")
                    return
                }
                seen.withLock { $0 += feed.transactions }
                last = feed.last
                if isLast, feed.isAll { return }
            }
        }
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            var generator = SeededGenerator(seed: UInt64(thread))
            for index in 0..<each {
                // Rows, and every other time an event.
                let count = UInt64.random(in: 1...4, using: &generator)
                let first = store.reserve(count)
                var facts = (0..<count).map { Fact.row(row(first + $0, UInt32(thread * each + index))) }
                if index % 2 == 0 { facts.append(.settle(VersionNumber(first))) }
                if index % 7 != 0 { store.commit(FactTransaction(facts), from: first, last: first + count - 1) }
                store.finish(first)
            }
            working.subtract(1, ordering: .sequentiallyConsistent)
        }
        hasRead.wait()
        let told = seen.withLock(\.self)
        let committed = (0..<each).filter { $0 % 7 != 0 }.count * 2
        #expect(told.count == committed)
        #expect(told.map(\.last) == told.map(\.last).sorted())
        for transaction in told {
            let rows = transaction.facts.compactMap { if case .row(let row) = $0 { row } else { nil } }
            // All of one place, and of no other transaction.
            #expect(Set(rows.map(\.place)).count == 1)
            let isEven = rows[0].place.number % UInt32(each) % 2 == 0
            #expect(isEven == (transaction.facts.last == .settle(VersionNumber(rows[0].number.number))))
        }
        #expect(Set(told.map { $0.facts.first.flatMap(\.place) }).count == committed)
        store.flush()
        observation.cancel()
        #expect(observed.withLock { $0.count == committed && $0.values.allSatisfy { $0 == 1 } })
    }
}
