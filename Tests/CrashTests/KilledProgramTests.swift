// A container that is killed between any two of its system calls: where the daemon itself is killed (`KillTests`),
// chance seldom finds the one between two of a rename.

import CrashLoad
import FaultShim
import Foundation
import Glibc
import Support
import Testing

extension Crashes {
    @Suite struct KilledProgramTests {
        /// How many crashes one container goes through.
        private static let crashesOfOne = 5

        @Test("Whatever a program does, what it saved is there after a kill between two system calls")
        func kills() throws {
            // The process that is killed is one of this program, too.
            if let task = KilledContainer.task { return try task.work() }
            try crash(Workplace.count(800), seed: SimulatedTests.seed &+ 2)
        }

        private func crash(_ count: Int, seed: UInt64) throws {
            print("kills between system calls: \(count), seed \(seed)")
            var dice = Dice(seed: seed)
            var totals = Totals()
            while totals.crashes < count {
                let own = dice.next()
                let container = try KilledContainer(own)
                var isWhole = false
                defer { if isWhole { container.remove() } }
                for round in 0..<min(Self.crashesOfOne, count - totals.crashes) {
                    totals.crashes += 1
                    let problems = try container.crash(&totals)
                    guard problems.isEmpty else {
                        let name = "seed \(seed), container \(own), crash \(round + 1)"
                        throw Failure(
                            problems.map { "\(name): \($0)" }.joined(separator: "\n"),
                            evidence: container.story.joined(separator: "\n"))
                    }
                }
                isWhole = true
            }
            print(
                "kills between system calls: \(totals.crashes), \(totals.contents) contents found again, "
                    + "\(totals.unfinished) unfinished versions seen")
        }
    }
}

/// A container in the hands of one process after the other, each of which is killed.
final class KilledContainer {
    /// What a process does that is to be killed.
    struct Task {
        var path: String
        var seed: UInt64
        /// The number of the first content that it makes.
        var first: UInt64
        var requests: Int
        /// Killed at this call of those that change something, before it or right behind it.
        var call: Int
        var isBehind: Bool
        /// Counted from the opening of the container on; else from when that is done.
        var opens: Bool

        var text: String { "\(path) \(seed) \(first) \(requests) \(call) \(isBehind ? 1 : 0) \(opens ? 1 : 0)" }

        /// Works until it is killed, by a call or in the end. Tells of its doings on descriptor 3.
        func work() throws {
            if opens { fault_shim_arm(call, isBehind ? 1 : 0) }
            let load = try SimulatedLoad(seed, in: path, from: first, journal: 3)
            if !opens { fault_shim_arm(call, isBehind ? 1 : 0) }
            do { try load.run(requests) } catch {
                let line = Array("# \(error)\n".utf8)
                _ = write(3, line, line.count)
            }
            kill(getpid(), SIGKILL)
        }
    }

    private static let variable = "VERSIONSFS_KILLED_LOAD"

    /// What this process is there for, if it is such a one.
    static var task: Task? {
        let words = (ProcessInfo.processInfo.environment[variable] ?? "").split(separator: " ")
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard let path = words.first, numbers.count == 6 else { return nil }
        return Task(
            path: String(path), seed: numbers[0], first: numbers[1], requests: Int(clamping: numbers[2]),
            call: Int(clamping: numbers[3]), isBehind: numbers[4] == 1, opens: numbers[5] == 1)
    }

    private var ledger = Ledger()
    private var dice: Dice
    private let directory: String
    private var first: UInt64 = 0
    private(set) var story: [String] = []

    private var path: String { directory + "/tree" }

    init(_ seed: UInt64) throws {
        dice = Dice(seed: seed)
        directory = try Workplace.fresh("killed")
        try mustRun("mkdir", ["-p", path + "/w/sub"])
    }

    func remove() {
        if ProcessInfo.processInfo.environment["VERSIONSFS_KEEP"] == "1" { return }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Has a process work and be killed, perhaps others that open the container then, and looks.
    func crash(_ totals: inout Totals) throws -> [String] {
        let requests = Int.random(in: 1...120, using: &dice)
        try run(requests, call: Int.random(in: 1...(10 * requests), using: &dice), opens: false)
        while Int.random(in: 0..<4, using: &dice) == 0 {
            try run(1, call: Int.random(in: 1...60, using: &dice), opens: true)
        }
        let container = try SimulatedContainer(path, Dice(seed: dice.next()))
        container.end()
        return try ledger.verify(path, after: .kill, totals: &totals)
    }

    private func run(_ requests: Int, call: Int, opens: Bool) throws {
        let task = Task(
            path: path, seed: dice.next(), first: first, requests: requests, call: call,
            isBehind: Bool.random(using: &dice), opens: opens)
        let journal = "\(directory)/journal-\(first)"
        let output = open(journal, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        let log = open("\(directory)/log-\(first)", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard output >= 0, log >= 0 else { throw Failure.call(journal) }
        defer { for file in [output, log] { close(file) } }
        var start = Child.Start(
            "/proc/self/exe",
            ["--testing-library", "swift-testing", "--filter", "^CrashTests\\.Crashes/KilledProgramTests/kills"])
        start.environment = [Self.variable: task.text]
        start.descriptors = [log, log, log, output]
        story.append("-- \(requests) requests, killed at call \(call)\(opens ? " of an opening" : "")")
        let status = try Child(start).wait(.after(seconds: 60))
        for line in try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n") {
            story.append(String(line.drop { $0 != " " }.dropFirst()))
            guard let entry = Entry(line) else {
                throw Failure("a request failed: \(line)", evidence: story.joined(separator: "\n"))
            }
            ledger.add(entry)
        }
        guard status == 128 + SIGKILL else {
            throw Failure("a process ended by itself, with \(status): see \(directory)")
        }
        first += 1_000_000
    }
}
