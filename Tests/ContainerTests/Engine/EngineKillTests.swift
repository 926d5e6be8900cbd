// The engine is killed anywhere: the next mount brings the facts to what the disk shows, by what was marked alone.

import Foundation
import Lineage
import LineageWorlds
import Support
import Testing
import VersionModel

@testable import Container

@Suite("A kill of the engine") struct EngineKillTests {
    @Test("The facts give the names, and no version is lost, whichever step the kill comes in")
    func anyStep() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("a kill of the engine: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(200)) {
            let performed = RandomWalk.performed(seed: seed &+ round, length: 30)
            var dice = SeededGenerator(seed: seed &+ round)
            var count = Int.random(in: 1...3, using: &dice)
            while count <= performed.count {
                let moment = RealWorld.Moment.allCases.randomElement(using: &dice) ?? .between
                let problem = try withDirectory { try RealWorld($0).settle(performed, killedIn: count, moment) }
                if let problem {
                    let last = performed[count - 1].event
                    let place = "seed \(seed &+ round), step \(count) \(String(describing: last)), \(moment)"
                    Issue.record("\(place): \(problem)")
                    return
                }
                count += Int.random(in: 1...5, using: &dice)
            }
        }
    }

    private func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = try Workplace.fresh("engine-kill")
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}
