// `Lineage` in the shadow of a container: both lead to the same names, contents, histories, conflicts and deleted
// lists, except where a difference is meant.

import Foundation
import LineageShadow
import Support
import Testing

@testable import Container

@Suite(.serialized) struct ShadowTests {
    /// Orders of steps in which both must be the same.
    static let found = [
        "0 save x",
        // A file that is two documents': each has every save.
        "0 save x; 0 save y; 0 wait; 0 link x t; 0 move t y; 0 overwrite y",
        "2 save t; 3 save y; 1 link t x; 2 move x y; 0 save y",
        // truncate(2) changes a file in place: it is no rival of what was there.
        "1 save y; 2 overwrite y; 1 truncate y",
        // What amends a version settles its document under its new name, as any save does.
        "2 save t; 2 append t; 1 move t x; 1 append x; 0 saveByOrdinaryRename t",
        // A temporary file that was renamed over a document is nothing to bring back once that is deleted.
        "0 save x; 0 saveByOrdinaryRename x; 0 delete x",
        "0 save t; 0 save y; 0 saveByOrdinaryRename y; 0 unlinkAndCreate y; 0 move y t",
        "0 save x; 0 save x; 0 append x; 0 overwrite x; 0 truncate x",
        "0 save x; 0 saveByRename x; 0 saveByOrdinaryRename x; 0 unlinkAndCreate x; 0 delete x; 0 undelete x",
        // One name of several that is removed is an entry of the deleted list.
        "0 save x; 0 link x y; 0 wait; 0 delete x",
        // A name that its program links and removes at once is none.
        "0 save y; 0 link y x; 0 delete x",
        // A directory that another one is renamed over is deleted.
        "0 makeDirectory d; 0 move d e; 0 makeDirectory d; 0 move d e",
        // What a program reads for a backup it does not know: its save is a rival.
        "0 save x; 1 load x; 0 save x; 1 copyBackupAndSave x",
        "0 save x; 1 load x; 1 copyBackupAndSave x; 2 load x; 1 copyBackupAndSave x; 2 copyBackupAndSave x",
        // A content that was kept for another document when a copy went: after a kill it brings nothing back.
        "0 save y; 3 renameAwayAndCreate y; 2 renameAwayAndKeep y; 1 kill",
        // A file with names in two directories is one document behind a mount, too.
        "2 saveByRename t; 1 makeDirectory d; 1 link t d/x; 1 kill; 3 save t",
    ]

    @Test("what random orders have found", arguments: found, [true, false])
    func foundBefore(steps: String, isPassing: Bool) throws {
        try withPeople { people in
            let outcome = try ShadowPlay(people, isPassing: isPassing).outcome(of: ShadowStep.steps(steps))
            if let texts = outcome.texts { Issue.record("\(texts.joined(separator: "\n"))") }
        }
    }

    @Test("random operations of one process, and of four", arguments: [1, 4], [true, false])
    func anyOrder(people count: Int, isPassing: Bool) throws {
        print("ShadowTests: \(count) processes")
        try withPeople { people in
            try run(people, isPassing) { ShadowStep.draw(people: count, using: &$0) }
        }
    }

    @Test("the operations of RandomRules, by five process trees", arguments: [true, false])
    func rules(isPassing: Bool) throws {
        print("ShadowTests: RandomRules")
        try withTrees { people in
            try run(people, isPassing) { ShadowStep.drawByRules(people: people.count, using: &$0) }
        }
    }

    @Test("random operations, and kills between them", arguments: [true, false])
    func kills(isPassing: Bool) throws {
        print("ShadowTests: kills")
        try withPeople { people in
            try run(people, isPassing) { ShadowStep.drawWithKills(people: people.count, using: &$0) }
        }
    }

    private func run(
        _ people: [pid_t], _ isPassing: Bool, _ draw: (inout SeededGenerator) -> [ShadowStep]
    ) throws {
        let seed = Self.seed
        let rounds = Workplace.count(300)
        print("ShadowTests: passthrough \(isPassing), seed \(seed), \(rounds) times")
        var listed: [ListedChange: Int] = [:]
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            let steps = draw(&dice)
            let play = { (steps: [ShadowStep]) throws in
                try ShadowPlay(people, isPassing: isPassing).outcome(of: steps)
            }
            let outcome = try play(steps)
            if case .listed(let changes) = outcome { for change in changes { listed[change, default: 0] += 1 } }
            if case .met(let changes, _, _) = outcome,
                Meetings.ofRun.isAllowed(changes, in: round, of: steps, outcome.texts ?? [])
            {
                continue
            }
            if let first = outcome.texts {
                let shortest = try shortest(steps) { steps in
                    let outcome = try play(steps)
                    if case .met = outcome { return false }
                    return outcome.texts != nil
                }
                // A failure that does not repeat is one, too.
                let texts = try play(shortest).texts ?? ["at first:"] + first
                Issue.record(
                    """
                    seed \(seed), round \(round), passthrough \(isPassing):
                    \(shortest.map { "\($0)" }.joined(separator: "; "))
                    \(texts.joined(separator: "\n"))
                    """)
                if !Self.goesOn { return }
            }
        }
        Self.report(listed)
    }

    static var seed: UInt64 { given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : usualSeed) }
    static let usualSeed: UInt64 = 20_261_126
    private static var given: UInt64? {
        ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
    }

    /// Whether all differences of a run are wanted, instead of the first.
    static let goesOn = ProcessInfo.processInfo.environment["VERSIONSFS_GOES_ON"] != nil

    static func report(_ listed: [ListedChange: Int]) {
        for (change, times) in listed.sorted(by: { $0.value > $1.value }) {
            print("ShadowTests: \(times) times by facts.md \(change.rawValue)")
        }
    }
}

/// Five programs that have a child each, which has one, too.
func withTrees(_ body: ([pid_t]) throws -> Void) throws {
    let script = "import os, time\nfor _ in range(2):\n  if os.fork(): break\nos.write(1, b'.')\ntime.sleep(3600)\n"
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    var trees: [Child] = []
    var people: [pid_t] = []
    defer {
        for person in people { _ = kill(person, SIGKILL) }
        for tree in trees { tree.kill() }
    }
    for _ in 0..<5 {
        var start = Child.Start("/usr/bin/python3", ["-c", script])
        start.descriptors = [0, ends[1], 2]
        trees.append(try Child(start))
        var byte: UInt8 = 0
        for _ in 0..<3 { #expect(read(ends[0], &byte, 1) == 1) }
        var next = trees.last?.pid
        while let person = next {
            people.append(person)
            let children = try String(contentsOfFile: "/proc/\(person)/task/\(person)/children", encoding: .utf8)
            next = children.split(separator: " ").first.flatMap { pid_t($0) }
        }
    }
    try body(people)
}

/// Three processes of one program, and one of another.
func withPeople(_ body: ([pid_t]) throws -> Void) throws {
    let sleep = Child.Start("/bin/sleep", ["3600"])
    let people = try [sleep, sleep, sleep, Child.Start("/usr/bin/tail", ["-f", "/dev/null"])].map { try Child($0) }
    defer { for person in people { person.kill() } }
    try body(people.map(\.pid))
}
