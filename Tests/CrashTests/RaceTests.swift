// Programs that save the same names at the same time: each content that a close or a rename has acknowledged is found
// afterwards.

import CrashLoad
import Foundation
import Support
import Testing

extension Crashes {
    @Suite struct RaceTests {
        /// How long one hunt takes, and how many there are.
        private static let (milliseconds, runs) = Workplace.isFull ? (60_000, 20) : (4_000, 1)

        @Test("Two programs that make the same new names lose nothing")
        func lockstep() throws {
            let (seed, count) = (KillTests.seed, Workplace.isFull ? 3000 : 500)
            print("race: lockstep, seed \(seed)")
            try race(seed, "lockstep, seed \(seed)") { race in
                let steps = race.directory + "/steps"
                try race.start(["A", "B"], ["lockstep", "\(count)", steps])
                try race.finish(within: 300)
            }
        }

        @Test("Five programs that save, delete and rename fifteen names lose nothing")
        func wholeSaves() throws { try hunt("taurdm", killing: false) }

        @Test("The same with writers in place among them")
        func inPlace() throws { try hunt("taurdmi", killing: false) }

        @Test("The same while the daemon is killed", .enabled(if: getuid() == 0, "only root may abort mounts"))
        func killed() throws { try hunt("taurdmi", killing: true) }

        /// With `--full`, half of the runs are those with kills.
        private func hunt(_ ways: String, killing: Bool) throws {
            var dice = Dice(seed: KillTests.seed)
            let count = killing ? max(1, Self.runs / 2) : max(1, Self.runs / 4)
            // Each is judged, whatever the others have found.
            for _ in 0..<count {
                let seed = dice.next() >> 32
                do { try hunt(ways, killing: killing, seed) } catch { Issue.record(error) }
            }
        }

        private func hunt(_ ways: String, killing: Bool, _ seed: UInt64) throws {
            let name = "\(ways)\(killing ? " with kills" : ""), seed \(seed)"
            print("race: \(name)")
            try race(seed, name) { race in
                let ending = Deadline.after(seconds: Double(Self.milliseconds) / 1000)
                repeat {
                    let left = Double(max(1, ending.milliseconds)) / 1000
                    try race.start(["A", "B", "C", "D", "E"], ["hunt", "\(Int(left * 1000))", ways])
                    if killing { try race.kill(after: min(left, Double.random(in: 0.5...2.5, using: &race.dice))) }
                    try race.finish(within: 120)
                } while killing && !ending.isOver
            }
        }

        /// A container in which programs race, and the checks when they are done.
        private func race(_ seed: UInt64, _ name: String, _ body: (inout Race) throws -> Void) throws {
            try withContainer(named: "race", seconds: 900) { container in
                var race = Race(container, seed)
                try body(&race)
                try container.unmount()
                let problems = try race.judge(name)
                try container.mount()
                return problems
            }
        }
    }
}

/// The programs of one run.
private struct Race {
    private let container: TestContainer
    /// Where the journals are.
    let directory: String
    var dice: Dice
    private var programs: Set<String> = []
    private var running: [Child] = []

    init(_ container: TestContainer, _ seed: UInt64) {
        self.container = container
        directory = (container.path as NSString).deletingLastPathComponent
        dice = Dice(seed: seed)
    }

    mutating func start(_ names: [String], _ arguments: [String]) throws {
        for name in names {
            programs.insert(name)
            let words = [container.path, journal(name), name, "\(dice.next() >> 32)"] + arguments
            running.append(try Child(.init(Workplace.products + "/RaceWorker", words)))
        }
    }

    private func journal(_ name: String) -> String { "\(directory)/journal-\(name)" }

    mutating func finish(within seconds: Double) throws {
        for child in running {
            let status = try child.wait(.after(seconds: seconds))
            guard status == 0 else { throw Failure("a worker ended with status \(status)") }
        }
        running = []
    }

    /// Kills the daemon in the middle and mounts again; the programs end with it.
    mutating func kill(after seconds: Double) throws {
        _ = Deadline.after(seconds: seconds).poll([])
        try container.kill()
        try finish(within: 60)
        try container.mount()
    }

    /// The faults of the container, which is unmounted.
    func judge(_ name: String) throws -> [String] {
        var journal = RaceJournal()
        for program in programs.sorted() { try journal.read(self.journal(program)) }
        // Of a file that several write in place, a state between may be lost: its programs have not closed it.
        let inspection = try Inspection(container.path, after: .powerCut)
        var shared = 0
        let lost = try journal.lost(in: container.path, inspection, shared: &shared)
        print("race: \(name): \(journal.acknowledged.count) acknowledged, \(lost.count) lost, \(shared) shared")
        let stories = lost.prefix(3).map { "\($0.token) of \($0.name) is nowhere:\n\(journal.story(of: $0))" }
        return inspection.problems + (lost.isEmpty ? [] : ["\(name): \(lost.count) contents are lost"] + stories)
    }
}
