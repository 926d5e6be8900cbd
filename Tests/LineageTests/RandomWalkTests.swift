// Random moves of every kind, with kills and power cuts.

import Foundation
import LineageWorlds
import Support
import Testing

@Suite("Random moves")
struct RandomWalkTests {
    @Test("nothing is lost")
    func walk() { walk(rounds: 1000, hasLog: false) }

    @Test("a plan over a log is the same as one over lists")
    func log() { walk(rounds: 300, hasLog: true) }

    private func walk(rounds: Int, hasLog: Bool) {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("random moves: VERSIONSFS_SEED=\(seed)")
        let outcome = RandomWalk(
            rounds: UInt64(Workplace.count(rounds)), length: 30, seed: seed, hasLog: hasLog).run()
        #expect(
            outcome.counterexample == nil,
            "VERSIONSFS_SEED=\(outcome.seed ?? 0)\n\(outcome.counterexample?.description ?? "")")
    }
}
