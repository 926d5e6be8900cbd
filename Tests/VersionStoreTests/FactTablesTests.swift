// Facts in tables: each question has the same answer as from lists.

import Foundation
import GRDB
import Lineage
import LineageWorlds
import Support
import Testing
import VersionModel

@testable import VersionStore

@Suite("Facts in tables")
struct FactTablesTests {
    /// A database in memory.
    private struct Tables: DatabaseAccess {
        let queue: DatabaseQueue

        init() throws {
            queue = try DatabaseQueue()
            try queue.write { try $0.execute(sql: FactSchema.text) }
        }

        func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
            try queue.writeWithoutTransaction(body)
        }
    }

    private struct Asked: FactsAsked {
        let facts: StoredFacts

        func answer<Answer>(_ question: (any FactLog) -> Answer) -> Answer { question(facts) }
    }

    @Test("random facts")
    func random() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("facts in tables: VERSIONSFS_SEED=\(seed)")
        var count = 0
        for round in 0..<UInt64(Workplace.count(200)) {
            let transactions = RandomWalk.transactions(seed: seed &+ round, length: 100)
            let tables = try Tables()
            let stored = StoredFacts(tables)
            var told: [Fact] = []
            for (index, transaction) in transactions.enumerated() {
                try tables.access { try FactTables.record(transaction.told, FactDetails(), .plainly, $0) }
                told += transaction.told
                guard index % 10 == 9 || index == transactions.count - 1 else { continue }
                let problems = ListedFacts(recorded: told).differences(from: Asked(facts: stored))
                #expect(problems.isEmpty, "VERSIONSFS_SEED=\(seed &+ round): \(problems.joined(separator: "\n"))")
            }
            if let failure = stored.failure { throw failure }
            count += told.count
        }
        #expect(count > 600, "the walks tell of little")
    }
}
