// `Lineage` in the shadow of a container whose programs have files open beside each other: one system call at a time in
// random order. Both are compared once all is closed.

import Foundation
import LineageShadow
import Support
import Testing

@testable import Container

@Suite(.serialized) struct InterleavedShadowTests {
    /// What an order of steps has come to.
    private enum Outcome {
        case same
        case listed(Set<ListedChange>)
        /// Several of them meet, and no rule tells which part is by which.
        case met(Set<ListedChange>, [String])
        case different([String])
        /// A content that was saved is in no version, or a file holds what no program has written: never meant.
        case lost([String])

        /// What fails.
        var texts: [String]? {
            switch self {
            case .same, .listed: nil
            case .met(_, let texts), .different(let texts), .lost(let texts): texts
            }
        }
    }

    /// Orders in which the rivals must be the same.
    static let found = [
        // A program empties a file from a stale base: its release says so, also if an older writer's comes later.
        "0 truncate y; 2 openTruncating y; 2 write; 2 close; 0 openTruncating y",
        "0 truncate y; 2 openTruncating y; 2 write; 2 close; 2 release; 0 openTruncating y; 2 openInPlace y",
        // The close of another handle in between does not save the emptied file.
        "0 truncate y; 2 openTruncating y; 2 write; 2 close; 2 release; 0 openTruncating y; 2 openInPlace y; 2 close",
        "0 truncate y; 2 openTruncating y; 2 write; 2 close; 2 release; 2 openInPlace y; 0 openTruncating y; 0 close; "
            + "0 release; 2 write",
        // Nor does the close of a handle that appends: the former content is the loser once the file is written.
        "0 truncate y; 2 openTruncating y; 2 write; 2 close; 2 release; 0 openTruncating y; 2 openToAppend y; 2 close",
        "0 truncate y; 2 openTruncating y; 2 write; 2 close; 2 release; 2 openToAppend y; 0 openTruncating y; 2 close; "
            + "2 release; 0 write",
    ]

    @Test("what random orders have found", arguments: InterleavingTests.found + found, [true, false])
    func foundBefore(steps: String, isPassing: Bool) throws {
        try withPeople { people in
            let outcome = try outcome(of: InterleavedStep.steps(steps), people, isPassing)
            if let texts = outcome.texts { Issue.record("\(texts.joined(separator: "\n"))") }
        }
    }

    /// Orders with a kill behind them.
    static let killed = [
        "0 createNew t",
        // A name that came back unsaved is renamed, and the name comes back once more.
        "1 unlink x; 2 openTruncating x; 0 rename x t; 1 openTruncating x",
        // An empty file that was emptied once more holds its version still.
        "1 openTruncating y; 1 rename y x; 1 openTruncating x",
        // The file of a name that came back is deleted before it is saved.
        "1 rename y t; 0 openTruncating y; 0 unlink y",
        // Bytes that a rename has taken, and that their own handle has overwritten, are lost to the container.
        "2 createNew t; 2 openInPlace t; 1 exchange y t; 2 write 1; 2 openInPlace y; 2 rename y t; 2 write 1",
    ]

    @Test("what random orders with a kill have found", arguments: killed, [true, false])
    func killedBefore(steps: String, isPassing: Bool) throws {
        try withPeople { people in
            let outcome = try outcome(of: InterleavedStep.steps(steps), people, isPassing, true)
            if let texts = outcome.texts { Issue.record("\(texts.joined(separator: "\n"))") }
        }
    }

    @Test("one system call at a time of one to three programs", arguments: [true, false])
    func anyOrder(isPassing: Bool) throws { try run(isPassing, isKilled: false) }

    @Test("the same, and a kill while files are open", arguments: [true, false])
    func kills(isPassing: Bool) throws { try run(isPassing, isKilled: true) }

    private func run(_ isPassing: Bool, isKilled: Bool) throws {
        let seed = ShadowTests.seed
        let rounds = Workplace.count(300)
        print(
            """
            ShadowTests: interleaved, \(isKilled ? "killed, " : "")passthrough \(isPassing), seed \(seed), \
            \(rounds) times
            """)
        try withPeople { people in
            var listed: [ListedChange: Int] = [:]
            for round in 0..<rounds {
                var dice = SeededGenerator(seed: seed &+ UInt64(round))
                let steps = InterleavedStep.draw(using: &dice)
                let outcome = try outcome(of: steps, people, isPassing, isKilled)
                if case .listed(let changes) = outcome { for change in changes { listed[change, default: 0] += 1 } }
                if case .met(let changes, let texts) = outcome,
                    Meetings.ofRun.isAllowed(changes, in: round, of: steps, texts)
                {
                    continue
                }
                if let all = outcome.texts {
                    var isShortened = false
                    if case .different = outcome { isShortened = !ShadowTests.goesOn }
                    let (steps, texts) =
                        isShortened ? try shortest(steps, people, isPassing, isKilled) : (steps, all)
                    Issue.record(
                        """
                        seed \(seed), round \(round), passthrough \(isPassing):
                        \(steps.map { "\($0)" }.joined(separator: "; "))
                        \(texts.joined(separator: "\n"))
                        """)
                    if !ShadowTests.goesOn { return }
                }
            }
            ShadowTests.report(listed)
        }
    }

    /// Compares after the steps, and if both differ then, finds the first step behind which they do: what follows would
    /// only follow from that.
    private func outcome(
        of steps: [InterleavedStep], _ people: [pid_t], _ isPassing: Bool, _ isKilled: Bool = false
    ) throws -> Outcome {
        let last = try compare(steps, people, isPassing, isKilled)
        switch last {
        case .same, .lost: return last
        case .listed, .met, .different: break
        }
        for count in 0..<steps.count {
            let outcome = try compare(Array(steps.prefix(count)), people, isPassing, isKilled)
            switch outcome {
            case .same: continue
            case .listed: return outcome
            case .met(let changes, let texts): return .met(changes, ["behind \(count) steps:"] + texts)
            case .different(let texts): return .different(["behind \(count) steps:"] + texts)
            case .lost(let texts): return .lost(["behind \(count) steps:"] + texts)
            }
        }
        return last
    }

    private func compare(
        _ steps: [InterleavedStep], _ people: [pid_t], _ isPassing: Bool, _ isKilled: Bool
    ) throws -> Outcome {
        let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
        let problems = try play.problems(after: steps, isKilled: isKilled)
        if !problems.isEmpty { return .lost(problems) }
        let shadow = try #require(play.shadow)
        let today = try play.tree.answer
        let differences = shadow.differences(from: today)
        if differences.isEmpty { return .same }
        if let changes = ListedChange.explaining(differences, between: today, and: shadow) { return .listed(changes) }
        let texts = differences.map { "\($0)" }
        let met = ListedChange.meeting(in: differences, between: today, and: shadow)
        return met.map { .met($0, texts) } ?? .different(texts)
    }

    /// What can be left out is, as long as both differ behind the last step and not before it.
    private func shortest(
        _ steps: [InterleavedStep], _ people: [pid_t], _ isPassing: Bool, _ isKilled: Bool
    ) throws -> ([InterleavedStep], [String]) {
        func difference(after steps: [InterleavedStep]) throws -> [String]? {
            guard case .different(let texts) = try compare(steps, people, isPassing, isKilled),
                case .same = try compare(Array(steps.dropLast()), people, isPassing, isKilled)
            else { return nil }
            return texts
        }
        for count in 1...max(1, steps.count) {
            var rest = Array(steps.prefix(count))
            guard var found = try difference(after: rest) else { continue }
            var index = 0
            while index < rest.count {
                var fewer = rest
                fewer.remove(at: index)
                if let texts = try difference(after: fewer) { (rest, found) = (fewer, texts) } else { index += 1 }
            }
            return (rest, found)
        }
        return (steps, ["both differ before the first step"])
    }
}
