// Files of several names, of which some are other documents': whatever a close has saved is in a version, and no
// version holds what no save has left.

import Foundation
import Support
import Testing

@testable import Container

@Suite(.serialized) struct LinkedNamesTests {
    /// What random orders have found, each as short as it can be said.
    static let found = [
        // A further name of a file is renamed over another document, and the file is saved under that.
        "2 save t; 3 save y; 1 link t x; 2 move x y; 0 save y",
        // An operation that names one of two documents of a file is about that one.
        "0 save t; 0 save y; 0 link t x; 0 move x y; 0 restore y",
        "0 save t; 0 save y; 0 link t x; 0 move x y; 0 save t; 0 restore y; 0 save t",
        // Two documents of a file are exchanged with each other, and with another.
        "0 save t; 0 save y; 0 link t x; 0 move x y; 0 exchange t y; 0 save t",
        "0 save t; 0 save y; 0 link t x; 0 move x y; 0 save x; 0 exchange x y; 0 save x",
        // One of two documents of a file is moved over a third.
        "0 save t; 0 save y; 0 link t x; 0 move x y; 0 save x; 0 move t x; 0 append y",
        "0 save t; 0 save y; 0 link t x; 0 move x y; 0 truncate t",
        // One of two names is removed, and the file comes back over a new one.
        "0 save t; 2 link t x; 0 delete t; 1 save t; 1 move x t",
    ]

    @Test("what once lost a save does not", arguments: found, [true, false])
    func foundBefore(steps: String, isPassing: Bool) throws {
        let people = try (0..<4).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let problems = try LinkedNamesPlay(people.map(\.pid), isPassing: isPassing)
            .problems(after: LinkedStep.steps(steps))
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("in whatever order names are saved, linked, moved and removed, each save is in a version", arguments: [
        true, false,
    ])
    func anyOrder(isPassing: Bool) throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_126)
        let rounds = Workplace.count(1_000)
        print("LinkedNamesTests: passthrough \(isPassing), seed \(seed), \(rounds) times")
        let people = try (0..<4).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let play = { (steps: [LinkedStep]) throws in
            try LinkedNamesPlay(people.map(\.pid), isPassing: isPassing).problems(after: steps)
        }
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            let steps = LinkedStep.draw(using: &dice)
            if try play(steps).isEmpty { continue }
            let rest = try shortest(steps) { try !play($0).isEmpty }
            Issue.record(
                """
                seed \(seed), round \(round), passthrough \(isPassing):
                \(rest.map { "\($0)" }.joined(separator: "; "))
                \(try play(rest).joined(separator: "\n"))
                """)
            if ProcessInfo.processInfo.environment["VERSIONSFS_GOES_ON"] == nil { return }
        }
    }
}
