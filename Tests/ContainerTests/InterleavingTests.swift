// Two or three programs at two names, one system call at a time in random order: whatever a close or a rename has saved
// is in some version, and no version holds what no file ever held.

import Foundation
import Support
import Testing

@testable import Container

@Suite(.serialized) struct InterleavingTests {
    /// What random orders have found, each as short as it can be said.
    static let found = [
        // A handle from before the rename writes into what the rename has saved.
        "0 openForBoth x; 0 rename x y; 0 write",
        // So does one that had written nothing until then.
        "0 openInPlace y; 0 openInPlace y; 0 write 1; 0 close 1; 0 rename y x; 0 write 0",
        "0 openForBoth y; 0 openInPlace y; 0 write; 0 close; 0 rename y x; 0 write",
        // What was saved, and is being written again, goes with the name that it was saved under.
        "0 openForBoth x; 0 write; 0 rename x y",
        "1 openToAppend y; 1 openInPlace y; 1 write 1; 1 rename y x; 1 write",
        // Two renames of a file that is open and not saved: versions without content.
        "0 createNew t; 0 openTruncating x; 0 rename x y; 0 write; 1 rename y t; 0 rename t x",
        "0 createNew t; 0 openTruncating x; 0 rename x y; 1 rename y t; 0 rename t x",
        "0 openTruncating x; 0 openTruncating t; 0 rename x t; 0 writeAtStart 1; 0 rename y t",
        "0 openTruncating x; 0 openTruncating x; 0 rename x y; 0 rename y t; 0 write 1; 0 createNew y",
        "1 openTruncating x; 1 openTruncating y; 1 rename x y; 0 rename y t; 1 write 1; 1 openTruncating y",
        // A name that came back, and is renamed before it is saved, takes what it was with it.
        "2 unlink x; 0 unlink y; 0 openTruncating x; 2 rename x y",
        "0 rename y t; 0 unlink t; 0 createNew t; 0 rename t y; 0 createNew t; 1 unlink x; 1 rename y t",
        // The content of a name that came back is in another file, which goes on.
        "1 rename x t; 0 openTruncating x; 0 rename t y; 1 rename y t",
        // The file of a name that comes back is being appended to.
        "0 rename x t; 0 openToAppend t; 0 write; 1 openTruncating x; 1 openTruncating t",
        "0 openTruncating y; 0 openTruncating t; 0 writeAtStart; 0 close; 0 unlink t; 0 openTruncating x; "
            + "0 rename y t; 0 openToAppend t; 0 rename t y; 0 openToAppend y; 0 writeAtStart 1",
        // A version that shares its content is amended.
        "1 rename y t; 1 openTruncating y; 1 openTruncating x; 1 writeAtStart 1; 0 rename y t; 0 rename t x; "
            + "0 rename x t; 1 writeAtStart 1",
        // Whoever has a file open writes to it after an exchange, or after a truncation by its name.
        "0 rename y t; 2 openForBoth x; 1 exchange x t; 2 openInPlace t; 2 writeAtStart 1",
        "0 openTruncating x; 0 openTruncating x; 0 writeAtStart 1; 0 truncate x; 0 write 1",
        // One of two has saved, and the other writes over it: under a name, and without one.
        "0 openTruncating x; 0 openTruncating x; 0 openTruncating t; 0 rename x t; 0 write 1; 0 close 1; "
            + "0 writeAtStart 1",
        "1 openTruncating t; 0 openTruncating t; 0 unlink t; 0 write; 0 openTruncating x; 1 openTruncating t; "
            + "0 close 1; 1 write 1",
        // Who closes the file next saves it for one that has written over what it had saved.
        "0 createNew t; 0 openToAppend t; 0 close 0; 0 write 0; 0 close 0; 0 openInPlace t; 0 write 0; 0 rename t x; "
            + "0 writeAtStart 0; 0 openInPlace x",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 0 writeAtStart; 1 openInPlace x; 1 close",
        // Who goes on with a duplicate of what it has closed overwrites what another has saved meanwhile.
        "0 openTruncating x; 0 write; 0 closeDuplicate; 1 openTruncating x; 1 write; 1 close; 0 writeAtStart",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 1 openInPlace x; 1 write; 1 close; 1 release; 0 writeAtStart",
        "0 openTruncating t; 0 openTruncating t; 0 write 1; 0 rename t y; 0 close 1; 0 write 0",
        "1 openTruncating y; 1 rename x t; 1 openTruncating y; 1 write 0; 0 rename y t; 1 unlink t; 1 close 0; "
            + "1 writeAtStart 0",
        // A program in conflict with itself: it writes to what it has unlinked, and makes the name anew.
        "0 rename y t; 0 rename x y; 0 openForBoth t; 0 write 0; 0 unlink t; 0 createNew t",
        "0 rename x y; 0 openTruncating x; 0 openTruncating x; 0 write 0; 0 rename x t; 0 unlink t; 0 close 1; "
            + "0 openTruncating t; 0 writeAtStart 1",
        // What was deleted before it was ever saved does not come back to a name that it had.
        "1 rename x y; 0 createNew t; 1 rename t x; 1 unlink x; 0 rename y t",
        // So is that of one that was deleted again before it was saved.
        "0 rename y t; 0 openTruncating y; 0 write 0; 0 rename t x; 0 unlink y; 0 rename x t; 0 close 0",
        // Somebody writes over what a rename has saved; its name is taken away and comes back, or another closes it
        // first.
        "0 openTruncating x; 1 openTruncating x; 0 openTruncating t; 1 write 0; 1 rename x t; 0 close 0; "
            + "1 openInPlace y; 0 release 1; 0 release 1; 0 release 1; 0 write 0; 1 unlink t; 1 rename y t",
        "0 openTruncating x; 1 openTruncating x; 0 openTruncating t; 1 write 0; 1 rename x t; 0 close 0; "
            + "1 openInPlace y; 0 write 0; 1 unlink t; 1 close 1; 0 write 0",
    ]

    @Test("what once lost a save does not", arguments: found, [true, false])
    func foundBefore(steps: String, isPassing: Bool) throws {
        let people = try (0..<3).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        let play = try InterleavedPlay(people.map(\.pid), isPassing: isPassing)
        let problems = try play.problems(after: InterleavedStep.steps(steps))
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("in whatever order programs open, write, close, rename and unlink, each save is in a version", arguments: [
        true, false,
    ])
    func anyOrder(isPassing: Bool) throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (Workplace.isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let rounds = Workplace.count(2_000)
        print("InterleavingTests: passthrough \(isPassing), seed \(seed), \(rounds) times")
        let people = try (0..<3).map { _ in try Child(Child.Start("/bin/sleep", ["3600"])) }
        defer { for person in people { person.kill() } }
        for round in 0..<rounds {
            var dice = SeededGenerator(seed: seed &+ UInt64(round))
            let steps = InterleavedStep.draw(using: &dice)
            let play = { (steps: [InterleavedStep]) throws in
                try InterleavedPlay(people.map(\.pid), isPassing: isPassing).problems(after: steps)
            }
            let problems = try play(steps)
            guard !problems.isEmpty else { continue }
            let rest = try shortest(steps) { try !play($0).isEmpty }
            Issue.record(
                """
                seed \(seed), round \(round), passthrough \(isPassing):
                \(rest.map { "\($0)" }.joined(separator: "; "))
                \(try play(rest).joined(separator: "\n"))
                """)
            return
        }
    }
}
