// Facts in memory: each question has the same answer as from lists, wherever the memory begins.

import Foundation
import Lineage
import LineageWorlds
import Support
import Testing
import VersionModel

@testable import Container

@Suite("Facts in memory")
struct FactMemoryTests {
    /// A memory that loads what it misses, as the engine does between two plans.
    struct Loading: FactsAsked {
        let memory: FactMemory
        let catalog: ListedFacts

        func answer<Answer>(_ question: (any FactLog) -> Answer) -> Answer {
            for _ in 0..<1000 {
                let log = PlanLog(memory)
                let answer = question(log)
                if log.missing.isEmpty { return answer }
                memory.load(log.missing, from: catalog)
            }
            Issue.record("a question is never answered")
            return question(catalog)
        }
    }

    @Test("random facts")
    func random() {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("facts in memory: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(200)) {
            let transactions = RandomWalk.transactions(seed: seed &+ round, length: 100)
            var dice = SeededGenerator(seed: seed &+ round)
            let starts = self.starts(transactions)
            guard let start = starts.randomElement(using: &dice) else { continue }
            let told = transactions.prefix(start).flatMap(\.told)
            let memory = FactMemory(after: ListedFacts(recorded: told).lastNumber)
            var (facts, catalog) = (told, told)
            for (index, transaction) in transactions.enumerated().dropFirst(start) {
                memory.record(transaction.recorded)
                facts += transaction.recorded
                catalog += transaction.told
                guard Int.random(in: 0..<8, using: &dice) == 0 || index == transactions.count - 1 else { continue }
                let loading = Loading(memory: memory, catalog: ListedFacts(recorded: catalog))
                let problems = ListedFacts(recorded: facts).differences(from: loading)
                #expect(problems.isEmpty, "VERSIONSFS_SEED=\(seed &+ round): \(problems.joined(separator: "\n"))")
                if !problems.isEmpty { return }
            }
        }
    }

    /// After how many transactions a memory may begin: no unpublished name is there.
    private func starts(_ transactions: [World.Transaction]) -> [Int] {
        var unpublished: [RowNumber: PlaceNumber] = [:]
        var starts = [0]
        for (index, transaction) in transactions.enumerated() {
            for fact in transaction.recorded {
                switch fact {
                case .row(let row):
                    for (number, place) in unpublished where place == row.place { unpublished[number] = nil }
                    if row.maker != nil { unpublished[row.number] = row.place }
                case .publish(let row): unpublished[row] = nil
                default: continue
                }
            }
            if unpublished.isEmpty { starts.append(index + 1) }
        }
        return starts
    }
}
