// The engine on a real directory does what the worlds of Lineage do in memory.

import Foundation
import Lineage
import LineageWorlds
import Support
import Testing
import VersionModel

@testable import Container

@Suite("The engine") struct EngineTests {
    @Test("It records what the rules say, and the files and kept contents are those of the worlds")
    func worlds() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("the engine: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(400)) {
            let performed = RandomWalk.performed(seed: seed &+ round, length: 40)
            let problem = try withDirectory { try RealWorld($0).follow(performed) }
            guard let problem else { continue }
            Issue.record("seed \(seed &+ round): \(problem)")
            break
        }
    }

    @Test("It does the same when it has forgotten all that can be recalled")
    func forgetting() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("the engine that forgets: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(400)) {
            // What only memory has cannot be recalled.
            let performed = RandomWalk.performed(seed: seed &+ round, length: 40, isPublic: true)
            var dice = SeededGenerator(seed: seed &+ round)
            let problem = try withDirectory { root in
                try RealWorld(root).follow(performed) { _ in Int.random(in: 0..<3, using: &dice) == 0 }
            }
            guard let problem else { continue }
            Issue.record("seed \(seed &+ round): \(problem)")
            break
        }
    }

    private func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = try Workplace.fresh("engine")
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}
