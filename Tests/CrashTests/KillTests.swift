// Kills the daemon at random points under load, mounts again, and looks whether anything is lost.

import CrashLoad
import Foundation
import Support
import Synchronization
import Testing

/// One after the other: each has the machine to itself, and some have daemons that are lied to.
@Suite(.serialized) enum Crashes {}

extension Crashes {
    @Suite struct KillTests {
        /// How many crashes one container goes through.
        private static let crashesOfOne = 10
        /// How many containers there are at a time.
        private static let lanes = 3

        @Test(
            "What was saved is there after the daemon is killed",
            .enabled(if: getuid() == 0, "only root may abort mounts"))
        func killed() throws {
            try crash(Workplace.count(250), on: Workplace.root, seed: Self.seed)
        }

        @Test("The same on a file system with reflinks", .enabled(if: getuid() == 0, "only root may mount images"))
        func killedOnReflinks() throws {
            try withFileSystem(.xfs, megabytes: 32_768) {
                try crash(Workplace.count(250), on: $0, seed: Self.seed &+ 1)
            }
        }

        @Test("A daemon that keeps nothing is found out", .enabled(if: getuid() == 0, "only root may abort mounts"))
        func plantedBug() throws {
            let failure = withFault("lost-link") {
                #expect(throws: Failure.self) { try crash(3, on: Workplace.root, seed: 1) }
            }
            let text = failure.map { "\($0)" } ?? ""
            #expect(["is missing", "is lost", "not among the versions"].contains { text.contains($0) }, "\(text)")
        }

        /// VERSIONSFS_SEED repeats a run.
        static var seed: UInt64 {
            ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
                ?? UInt64.random(in: 0...UInt64(UInt32.max))
        }

        /// What the lanes share.
        private struct Progress {
            var dice: Dice
            var begun = 0
            var totals = Totals()
            var failure: (any Error)?
        }

        private func crash(_ count: Int, on place: String, seed: UInt64) throws {
            print("kill -9: \(count) crashes on \(place), seed \(seed)")
            let progress = Mutex(Progress(dice: Dice(seed: seed)))
            DispatchQueue.concurrentPerform(iterations: Self.lanes) { _ in
                while let (rounds, dice) = progress.withLock({ Self.next(&$0, count) }) {
                    do { try container(rounds, on: place, dice, "seed \(seed)", progress) } catch {
                        progress.withLock { if $0.failure == nil { $0.failure = error } }
                    }
                }
            }
            let (totals, failure) = progress.withLock { ($0.totals, $0.failure) }
            if let failure { throw failure }
            print(
                "kill -9: \(totals.crashes) crashes, \(totals.contents) saved contents found again, "
                    + "\(totals.unfinished) unfinished versions seen, \(totals.survivors) survivors, seed \(seed)")
        }

        /// The next container's crashes; nil when all are made or one lane has found something.
        private static func next(_ progress: inout Progress, _ count: Int) -> (Int, Dice)? {
            guard progress.failure == nil, progress.begun < count else { return nil }
            let rounds = min(crashesOfOne, count - progress.begun)
            progress.begun += rounds
            return (rounds, Dice(seed: progress.dice.next()))
        }

        private func container(
            _ rounds: Int, on place: String, _ dice: Dice, _ name: String, _ progress: borrowing Mutex<Progress>
        ) throws {
            var dice = dice
            var totals = Totals()
            try withContainer(named: "crash", on: place, seconds: 900) { container in
                var load = try CrashLoadRun(container, dice.next())
                for round in 0..<rounds {
                    let problems = try load.crash(withSurvivor: round % 5 == 3, &totals)
                    if !problems.isEmpty { return ["\(name), crash \(round + 1) of a container:"] + problems }
                }
                return []
            }
            progress.withLock { $0.totals.add(totals) }
        }
    }
}

/// Runs tests with a daemon that one of `FaultShim`'s lies is told to.
func withFault<Result>(_ fault: String, _ body: () throws -> Result) rethrows -> Result {
    setenv("LD_PRELOAD", Workplace.products + "/libFaultShim.so", 1)
    setenv("VERSIONSFS_FAULT", fault, 1)
    defer {
        unsetenv("LD_PRELOAD")
        unsetenv("VERSIONSFS_FAULT")
    }
    return try body()
}
