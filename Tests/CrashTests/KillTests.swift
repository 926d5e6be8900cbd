// Kills the daemon at random points under load, mounts again, and looks whether anything is lost (issue 2, 6).

import CrashLoad
import Foundation
import Support
import Testing

@Suite(.serialized) struct KillTests {
    /// How many crashes one container goes through.
    private static let crashesOfOne = 10

    @Test("What was saved is there after the daemon is killed", .enabled(if: getuid() == 0, "only root may abort mounts"))
    func killed() throws {
        try crash(Workplace.count(250), on: Workplace.root, seed: Self.seed)
    }

    @Test("The same on a file system with reflinks", .enabled(if: getuid() == 0, "only root may mount images"))
    func killedOnReflinks() throws {
        try withFileSystem(.xfs, megabytes: 2048) { try crash(Workplace.count(250), on: $0, seed: Self.seed &+ 1) }
    }

    @Test("A daemon that keeps nothing is found out", .enabled(if: getuid() == 0, "only root may abort mounts"))
    func plantedBug() throws {
        setenv("VERSIONSFS_PLANTED_BUG", "1", 1)
        defer { unsetenv("VERSIONSFS_PLANTED_BUG") }
        #expect(throws: Failure.self) { try crash(3, on: Workplace.root, seed: 1) }
    }

    /// VERSIONSFS_SEED repeats a run.
    static var seed: UInt64 {
        ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64(UInt32.max))
    }

    private func crash(_ count: Int, on place: String, seed: UInt64) throws {
        print("kill -9: \(count) crashes on \(place), seed \(seed)")
        var dice = Dice(seed: seed)
        var totals = Totals()
        while totals.crashes < count {
            let rounds = min(Self.crashesOfOne, count - totals.crashes)
            try withContainer(named: "crash", on: place, seconds: 900) { container in
                var load = try CrashLoadRun(container, dice.next())
                for round in 0..<rounds {
                    let problems = try load.crash(withSurvivor: round % 5 == 3, &totals)
                    if !problems.isEmpty { return problems.map { "seed \(seed), crash \(totals.crashes): \($0)" } }
                }
                return []
            }
        }
        print(
            "kill -9: \(totals.crashes) crashes, \(totals.contents) saved contents found again, \(totals.unfinished) "
                + "unfinished versions seen, \(totals.survivors) survivors, seed \(seed)")
    }
}
