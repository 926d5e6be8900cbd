// Crashes at any request, without a kernel and a disk, thousands of them: what recovery has to tell apart. What a file
// system really does in a power cut, and a daemon in a kill, is `PowerTests` and `KillTests`.

import CrashLoad
import Foundation
import Glibc
import Support
import SystemPackage
import Testing

extension Crashes {
    @Suite struct SimulatedTests {
        @Test("Whatever a program does, what it saved is there after a kill between two requests")
        func kills() throws { try crash(Workplace.count(500), .kill, seed: Self.seed) }

        @Test("Whatever a program does, what it synchronized is there after a power cut between two requests")
        func cuts() throws { try crash(Workplace.count(1500), .powerCut, seed: Self.seed &+ 1) }

        /// The same every time by default: what a tenth of the numbers finds by chance is no news of a change.
        static var seed: UInt64 {
            let isGiven = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"] != nil
            return Workplace.isFull || isGiven ? KillTests.seed : 20_261_121
        }

        /// Only one of a run's containers: a failure says which.
        private static let container = ProcessInfo.processInfo.environment["VERSIONSFS_CONTAINER"].flatMap {
            UInt64($0)
        }

        private func crash(_ count: Int, _ ending: Ending, seed: UInt64) throws {
            print("simulated crashes: \(count), \(ending), seed \(seed)")
            var dice = Dice(seed: seed)
            var totals = Totals()
            while totals.crashes < count {
                let own = Self.container ?? dice.next()
                let load = try SimulatedLoad(own)
                defer { load.remove() }
                for round in 0..<min(5, count - totals.crashes) {
                    totals.crashes += 1
                    let problems = try load.crash(ending, &totals)
                    guard problems.isEmpty else {
                        throw Failure(
                            problems.map { "seed \(seed), container \(own), crash \(round + 1): \($0)" }.joined(
                                separator: "\n"),
                            evidence: load.story.joined(separator: "\n"))
                    }
                }
                if Self.container != nil { break }
            }
            print(
                """
                simulated crashes: \(totals.crashes), \(totals.contents) contents found again, \(totals.unfinished) \
                unfinished versions seen
                """)
        }
    }
}
