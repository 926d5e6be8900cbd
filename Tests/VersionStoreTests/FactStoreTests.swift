// The store of facts: what is committed is read at once, and is there after an orderly end, a kill and a power cut.

import Foundation
import GRDB
import Lineage
import LineageWorlds
import Support
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("The store of facts")
struct FactStoreTests {
    @Test("Random facts, with random ends and kills: each question has the same answer as from lists")
    func random() throws {
        let seed = WalkedFacts.seed("the store of facts")
        for round in 0..<UInt64(Workplace.count(40)) {
            var generator = SeededGenerator(seed: seed &+ round)
            var walk = WalkedFacts(seed: seed &+ round)
            var fixture = try FactFixture()
            var told: [Fact] = []
            for transaction in walk.transactions {
                let store = try fixture.store()
                let first = store.reserve(WalkedFacts.count(of: transaction))
                let facts = walk.told(transaction, from: first)
                store.commit(FactTransaction(facts), from: first)
                store.finish(first)
                told += facts
                switch Int.random(in: 0..<60, using: &generator) {
                case 0: fixture.close()
                case 1:
                    // The writer is at any stage.
                    fixture = try fixture.killed()
                case 2...3: try check(fixture, told, seed &+ round)
                default: break
                }
            }
            try check(fixture, told, seed &+ round)
            fixture.close()
            try check(fixture, told, seed &+ round)
        }
    }

    private func check(_ fixture: FactFixture, _ told: [Fact], _ seed: UInt64) throws {
        let store = try fixture.store()
        let problems = store.problems(with: told)
        #expect(problems.isEmpty, "VERSIONSFS_SEED=\(seed): \(problems)")
        let purged = told.compactMap { if case .purge(let row) = $0 { row } else { nil } }
        for row in purged {
            #expect(store.facts().purge(of: row) != nil)
            #expect(store.facts().purge(of: row)?.last ?? 0 >= row.number)
        }
    }

    // MARK: Ends

    private func name(_ number: UInt64, at place: PlaceNumber = PlaceNumber(1)) -> NameRow {
        NameRow(
            number: RowNumber(number), time: Timestamp(nanoseconds: 5), place: place, file: FileID(77), how: .created,
            actor: nil)
    }

    /// Commits one row, and returns its number.
    @discardableResult
    private func commit(_ store: FactStore) -> UInt64 {
        let first = store.reserve(1)
        store.commit(FactTransaction([.row(name(first))]), from: first, last: first)
        store.finish(first)
        return first
    }

    @Test("Numbers go on after an orderly end, and are far ahead after a kill")
    func numbers() throws {
        var fixture = try FactFixture()
        #expect(try fixture.store().identity.wasCreated && !fixture.store().identity.cleanShutdown)
        #expect([commit(try fixture.store()), commit(try fixture.store())] == [1, 2])
        let epoch = try fixture.store().identity.epoch
        fixture.close()
        #expect(try fixture.store().identity.cleanShutdown && !fixture.store().identity.wasCreated)
        #expect(commit(try fixture.store()) == 3)
        // One that stays in memory.
        #expect(try fixture.store().reserve(1) == 4)
        fixture.close()
        #expect(commit(try fixture.store()) > 4)
        let killed = try fixture.killed()
        let last = commit(try fixture.store())
        fixture = killed
        #expect(try !fixture.store().identity.cleanShutdown)
        #expect(commit(try fixture.store()) > last + 1000)
        #expect(try fixture.store().identity.epoch == epoch)
        let number = try fixture.store().reserve(1)
        try fixture.store().skipNumbers(through: number + 5000)
        #expect(try fixture.store().reserve(1) > number + 5000)
    }

    @Test("What is left of a block is given again, but not what something has")
    func blocks() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let first = store.reserve(10)
        store.commit(FactTransaction([.row(name(first))]), from: first, last: first + 1)
        store.finish(first)
        let second = store.reserve(10)
        #expect(second == first + 2)
        store.finish(second)
        // Without a commit nothing is known of them.
        #expect(store.reserve(1) > second + 10)
    }

    @Test("A kill right after a commit loses nothing")
    func kill() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let place = Place(directory: FileID(9), name: try VersionStoreTests.name("a"))
        let author = Author(userID: 7, user: "ana", program: "vim", process: 12)
        for count in 1...20 {
            let first = store.reserve(1)
            var row = name(first, at: try store.number(of: place))
            row.actor = try store.number(of: ActorFacts(author: author, started: 99))
            store.commit(FactTransaction([.row(row)]), from: first)
            store.finish(first)
            guard count % 5 == 0 else { continue }
            try fixture.afterKill { (killed) throws -> Void in
                #expect(killed.facts().row(row.number) == row)
                #expect(try killed.place(row.place) == place)
                #expect(try killed.actor(#require(row.actor))?.author == author)
                #expect(try killed.number(of: place) == row.place)
            }
        }
    }

    @Test("A redo log that is cut off anywhere gives the first transactions, each as a whole")
    func cut() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        store.synchronize()
        let before = fixture.contents()
        var walk = WalkedFacts(seed: WalkedFacts.seed("a redo log that is cut off"), length: 60)
        var told: [[Fact]] = []
        for transaction in walk.transactions {
            let first = store.reserve(WalkedFacts.count(of: transaction))
            let facts = walk.told(transaction, from: first)
            store.commit(FactTransaction(facts), from: first)
            store.finish(first)
            if !FactTransaction(facts).isEmpty { told.append(facts) }
        }
        fixture.close()
        let redo = try #require(fixture.contents()["redo2"])
        let reader = try FactFixture()
        let all = RedoFile<FactTransaction>.calls(in: fixture.state, after: 0).calls
        #expect(all.map(\.facts) == told.map { FactTransaction($0).facts })
        var opened = 0
        for length in 0...redo.count {
            let part = redo.prefix(length)
            try part.write(to: URL(fileURLWithPath: reader.path + "/redo2"))
            let calls = RedoFile<FactTransaction>.calls(in: reader.state, after: 0).calls
            guard calls == Array(all.prefix(calls.count)) else {
                Issue.record("cut at \(length): other transactions")
                return
            }
            guard length % max(1, redo.count / 20) == 0 else { continue }
            var state = before
            state["redo2"] = part
            let problems = try FactFixture.finding(state) { store in
                store.problems(with: told.prefix(calls.count).flatMap(\.self))
            }
            #expect(problems.isEmpty, "cut at \(length)")
            opened += 1
        }
        #expect(opened > 10, "the walk tells of little")
    }

    @Test("Pages of the catalog's log that a power cut has taken: the rest is whole transactions")
    func powerCut() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        store.synchronize()
        for _ in 0..<30 {
            // Two rows and an event.
            let first = store.reserve(2)
            var other = name(first + 1, at: PlaceNumber(2))
            other.from = RowNumber(first)
            var transaction = FactTransaction([.row(name(first)), .row(other), .settle(VersionNumber(first))])
            transaction.changes = [.setting(key: "last", value: FactCatalog.bytes(of: first))]
            store.commit(transaction, from: first)
            store.finish(first)
            store.flush()
        }
        let state = fixture.contents()
        let log = try #require(state["catalog2.sqlite-wal"])
        for length in stride(from: 0, through: log.count, by: max(1, log.count / 60)) {
            var cut = state
            cut["catalog2.sqlite-wal"] = log.prefix(length)
            // With the redo log, and without what of it has arrived.
            for redo in [state["redo2"], Data()] {
                cut["redo2"] = redo
                let (feed, last) = try FactFixture.finding(cut) { store in
                    (try store.feed(after: 0, limit: 1000), try store.setting("last").map { bytes in
                        var reader = ByteReader(bytes)
                        return try reader.fixed64()
                    })
                }
                #expect(feed.transactions.allSatisfy { $0.facts.count == 3 })
                #expect(feed.transactions.last.map { $0.last - 2 } == last)
                if redo?.isEmpty == false { #expect(feed.transactions.count == 30) }
            }
        }
    }

    // MARK: Opening

    @Test("Tables of another version are refused, and stay as they are")
    func otherVersion() throws {
        for version in [1, 3, 77] {
            let fixture = try FactFixture()
            let queue = try DatabaseQueue(path: SQLitePath.path(of: "catalog2.sqlite", in: fixture.state))
            try queue.write { try $0.execute(sql: "CREATE TABLE x (y); PRAGMA user_version = \(version)") }
            try queue.close()
            let before = fixture.contents()
            #expect(throws: StoreError.unknownCatalog(version: Int64(version))) { try fixture.store() }
            #expect(fixture.contents()["catalog2.sqlite"] == before["catalog2.sqlite"])
        }
    }

    @Test("A damaged catalog is set aside, and a new one has another epoch")
    func damaged() throws {
        let fixture = try FactFixture()
        let epoch = try fixture.store().identity.epoch
        commit(try fixture.store())
        fixture.close()
        var bytes = try #require(fixture.contents()["catalog2.sqlite"])
        bytes.replaceSubrange(0..<2000, with: Data(repeating: 7, count: 2000))
        try bytes.write(to: URL(fileURLWithPath: fixture.path + "/catalog2.sqlite"))
        let identity = try fixture.store().identity
        #expect(identity.wasLost && !identity.wasCreated && identity.epoch != epoch)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path).contains { $0.contains("damaged-") })
        #expect(try fixture.store().facts().lastNumber == 0)
    }

    @Test("A store that is only read changes nothing, and makes none")
    func readOnly() throws {
        let fixture = try FactFixture()
        #expect(throws: StoreError.notAContainer) {
            _ = try FactStore(in: fixture.state, options: FactFixture.options(readOnly: true))
        }
        let number = commit(try fixture.store())
        fixture.close()
        let before = fixture.contents()
        let store = try FactStore(in: fixture.state, options: FactFixture.options(readOnly: true))
        #expect(store.facts().row(RowNumber(number)) == name(number))
        commit(store)
        store.flush()
        #expect(store.facts().lastNumber == number)
        store.close()
        #expect(fixture.contents() == before)
    }

    // MARK: What users see

    @Test("Details, labels and settings are there after a kill, and versions are found by each identity")
    func details() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let first = store.reserve(2)
        let hash = Records.hash("content")
        let half = try #require(ContentID(bytes: hash.prefix(16)))
        var version = VersionRow(
            number: VersionNumber(first + 1), time: Timestamp(nanoseconds: 6), row: RowNumber(first),
            content: Content(file: FileID(77), generation: 0),
            fingerprint: Fingerprint(size: 3, high: half.high, low: half.low), file: FileID(77),
            modified: Timestamp(nanoseconds: 4), author: nil)
        version.isImage = true
        var transaction = FactTransaction([.row(name(first)), .version(version)])
        var detail = VersionDetail(
            attributes: Attributes(mode: 0o4755, owner: 1, group: 2, accessList: [9]),
            changed: Timestamp(nanoseconds: 8), alias: .random())
        transaction.describe(version.number, detail)
        transaction.describe(RowNumber(first), NameDetail(document: .random()))
        transaction.changes = [.label(first, "plan"), .setting(key: "k", value: [1]), .label(first + 1, "x")]
        store.commit(transaction, from: first)
        store.finish(first)
        var next = FactTransaction()
        next.changes = [
            .hash(version.number, hash), .marks(version.number, added: [.pinned, .lost], removed: []),
            .marks(version.number, added: [], removed: .lost), .changed(version.number, Timestamp(nanoseconds: 11)),
            .label(first + 1, nil), .attributes(version.number, Attributes(mode: 0o600, owner: 1, group: 2)),
            .directory(FileID(77), is: FileID(78)),
            .times(RowNumber(first), accessed: Timestamp(nanoseconds: 12), modified: Timestamp(nanoseconds: 13)),
        ]
        store.commit(next)
        (detail.hash, detail.marks, detail.changed) = (hash, .pinned, Timestamp(nanoseconds: 11))
        detail.attributes = Attributes(mode: 0o600, owner: 1, group: 2)
        func check(_ store: FactStore) throws {
            #expect(try store.detail(of: version.number) == detail)
            #expect(try store.detail(of: RowNumber(first)) == transaction.detail(of: RowNumber(first)))
            #expect(try store.label(of: first) == "plan" && store.label(of: first + 1) == nil)
            #expect(store.facts().version(version.number)?.isImage == true)
            #expect(try store.setting("k") == [1] && store.setting("other") == nil)
            #expect(store.facts().row(RowNumber(first))?.file == FileID(78))
            let times = try store.times(before: RowNumber(first))
            #expect(times?.accessed.nanoseconds == 12 && times?.modified.nanoseconds == 13)
            for id in [store.id(of: version.number, nil), store.id(of: version.number, detail)] {
                #expect(try store.version(#require(id)) == version.number)
            }
            let document = DocumentNumber(first)
            for id in [store.id(of: document, nil), transaction.detail(of: RowNumber(first))?.document] {
                #expect(try store.document(#require(id)) == document)
            }
            #expect(try store.version(.random()) == nil && store.document(.random()) == nil)
            #expect(try store.version(VersionID(high: 0, low: 0)) == nil)
        }
        try check(store)
        try fixture.afterKill(check)
        var last = FactTransaction()
        last.changes = [.removeVersion(version.number), .removeRow(RowNumber(first))]
        store.commit(last)
        #expect(store.facts().version(version.number) == nil && store.facts().row(RowNumber(first)) == nil)
        #expect(try store.times(before: RowNumber(first)) == nil)
    }
}
