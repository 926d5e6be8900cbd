// No difference is meant if a content has gone by it: each version of one side is one of the other, unless that makes
// none by a rule.

import Foundation
import LineageShadow
import Support
import Testing

@testable import Container

@Suite(.serialized) struct LostContentTests {
    /// An order, and what the container would say if it had lost a content.
    struct Lost: CustomStringConvertible {
        var steps: String
        var isKilled = false
        var content: String

        var description: String { "\(content) after \(steps)" }
    }

    static let orders = [
        // What a kill sets aside is a version.
        Lost(steps: "0 openTruncating x; 0 write; 0 rename x t", isKilled: true, content: "0.1;"),
        Lost(steps: "0 openTruncating x; 0 write; 0 rename x t", isKilled: true, content: "x before;"),
        // The content at a name to which another file comes back is a version.
        Lost(steps: "0 rename x y; 0 openTruncating y; 0 rename y x", isKilled: true, content: "y before;"),
        Lost(steps: "0 openForBoth x; 0 write; 0 rename x y", content: "x before;"),
    ]

    @Test("a content that the container has lost", arguments: orders, [true, false])
    func ofOrder(_ lost: Lost, isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            #expect(try play.problems(after: InterleavedStep.steps(lost.steps), isKilled: lost.isKilled).isEmpty)
            let (today, shadow) = (try play.tree.answer, try #require(play.shadow))
            #expect(ListedChange.explaining(shadow.differences(from: today), between: today, and: shadow) != nil)
            expectNone(shadow, without(lost.content, today))
        }
    }

    static let operations = [
        Lost(steps: "3 save t; 1 link t y; 3 renameAwayAndCreate t", content: "3.0;"),
        Lost(steps: "0 save x; 0 save x; 0 save y; 0 wait; 0 move x t; 0 move y x; 0 move t y", content: "0.2;"),
    ]

    @Test("the same of whole operations", arguments: operations, [true, false])
    func ofOperations(_ lost: Lost, isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(lost.steps) { try play.perform(step) }
            expectNone(play.shadow, without(lost.content, try play.tree.answer))
        }
    }

    @Test("what closes acknowledge is noted", arguments: [true, false])
    func noted(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps("0 save x; 1 append x; 2 saveByRename x") { try play.perform(step) }
            #expect(play.saved == ["0.0;", "0.0;1.1;", "2.2;"])
        }
    }

    @Test("a content that was closed, of a version that a rename had made", arguments: [true, false])
    func afterArrival(isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            let steps = "1 openTruncating y; 1 rename y x; 0 openInPlace x; 1 write; 1 close; 0 write"
            #expect(try play.problems(after: InterleavedStep.steps(steps), isKilled: true).isEmpty)
            var today = try play.tree.answer
            #expect(today.names["x"]?.history == ["0.5;", "1.3;", "x before;"])
            today.names["x"]?.history[1] = ""
            expectNone(try #require(play.shadow), today)
        }
    }

    /// By the rules some closes make no version. Anything else that the container shows must be shown by them, too.
    @Test("a content that the rules have lost", arguments: [true, false])
    func byTheRules(isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            let steps = "0 openInPlace x; 0 write; 0 openToAppend x; 0 close 0; 0 writeAtStart 0"
            #expect(try play.problems(after: InterleavedStep.steps(steps)).isEmpty)
            let shadow = try #require(play.shadow)
            var today = try play.tree.answer
            let meant = shadow.differences(from: today)
            #expect(ListedChange.explaining(meant, between: today, and: shadow) == [.notAtEachClose])
            today.names["x"]?.history.append("lost")
            #expect(ListedChange.explaining(meant, between: today, and: shadow) == nil)
        }
    }

    @Test("a conflict that the container has missed beside one of a rule", arguments: [true, false])
    func missedConflict(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            let steps = "2 saveByOrdinaryRename t; 0 saveByOrdinaryRename t; 2 save t"
            for step in ShadowStep.steps(steps) { try play.perform(step) }
            let today = try play.tree.answer
            var differences = play.shadow.differences(from: today)
            #expect(ListedChange.explaining(differences, between: today, and: play.shadow) == [.seenElsewhere])
            for index in differences.indices where differences[index].subject == .conflicts {
                differences[index].onlyThen.append("2.0;")
            }
            #expect(ListedChange.explaining(differences, between: today, and: play.shadow) == nil)
        }
    }

    /// Orders behind which both differ, but not by conflicts: what neither knows as one.
    static let noConflicts = [
        // The other document's content, a content that its own author has followed, and the content from before.
        (steps: "0 save t; 0 save y; 0 move y t; 0 save y; 0 save y", name: "y", change: ListedChange.cameBack,
            contents: ["0.0;", "0.3;", "0.1;"]),
        // The same of a file that was renamed over another one, and back.
        ("0 save x; 0 save t; 0 wait; 0 move x t; 0 move t x; 0 save x", "x", .backFromOver, ["0.0;", "0.1;", "0.5;"]),
        ("0 save x; 0 link x t; 0 renameAwayAndKeep x; 0 save x", "x", .hasOtherName, ["0.0;", "0.2;", "0.3;"]),
    ]

    @Test("a conflict of only one side beside a change of names", arguments: noConflicts, [true, false])
    func conflictOfOneSide(
        _ case: (steps: String, name: String, change: ListedChange, contents: [String]), isPassing: Bool
    ) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(`case`.steps) { try play.perform(step) }
            let (today, then) = (try play.tree.answer, play.shadow.answer)
            func change(_ today: Answer, _ then: Answer) -> Set<ListedChange>? {
                ListedChange.explaining(
                    Answer.differences(today: today, then: then), between: today, and: play.shadow)
            }
            #expect(change(today, then) == [`case`.change])
            for content in `case`.contents {
                var (more, missed) = (today, then)
                more.names[`case`.name]?.conflicts.append(content)
                #expect(change(more, then) == nil, "\(content) of the container")
                missed.names[`case`.name]?.conflicts.append(content)
                #expect(change(today, missed) == nil, "\(content) of the rules")
            }
        }
    }

    /// What the container has as a conflict, where the rules have another base, or another document.
    static let meantConflicts = [
        // Program 2 has seen the former content under its other name, and program 3 has saved that again.
        ToldStory(
            "followed", "0 save x old; 1 move x y; 3 save x new; 2 load x; 2 load y; 3 save x old; 2 save x newer",
            conflicts: ["old"], .cameBack),
        ToldStory(
            "away", "0 save x; 1 load x; 0 save x; 0 link x t; 1 renameAwayAndKeep x", conflicts: ["0.2;"],
            .hasOtherName),
        ToldStory(
            "since", "0 save x; 1 load x; 0 save x; 0 link x t; 0 renameAwayAndKeep x; 1 save x",
            conflicts: ["0.4;"], .hasOtherName),
        ToldStory(
            "over", "0 save t; 1 load t; 0 save t; 0 save x; 0 wait; 1 move x t; 1 move t x", conflicts: ["0.2;"],
            .backFromOver),
    ]

    @Test("a conflict that is meant", arguments: meantConflicts, ["", "; 1 kill"])
    func meantConflict(_ story: ToldStory, end: String) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: true)
            for step in ShadowStep.steps(story.steps + end) { try play.perform(step) }
            let today = try play.tree.answer
            #expect(today.names["x"]?.conflicts == story.conflicts)
            #expect(play.shadow.answer.names["x"]?.conflicts == [])
            let differences = play.shadow.differences(from: today)
            #expect(ListedChange.explaining(differences, between: today, and: play.shadow) == story.change.map { [$0] })
        }
    }

    private func expectNone(_ shadow: Shadow, _ today: Answer) {
        let differences = shadow.differences(from: today)
        #expect(ListedChange.explaining(differences, between: today, and: shadow) == nil)
        #expect(ListedChange.meeting(in: differences, between: today, and: shadow) == nil)
    }

    /// What the container would say without a content.
    private func without(_ content: String, _ today: Answer) -> Answer {
        var answer = today
        for name in answer.names.keys { answer.names[name]?.history.removeAll { $0 == content } }
        answer.superseded = answer.superseded.map { $0.filter { $0 != content } }.filter { !$0.isEmpty }
        return answer
    }
}
