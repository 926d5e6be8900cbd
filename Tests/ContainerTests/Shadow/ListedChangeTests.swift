// facts.md 8, row by row: what the container shows today, and what the rules of `Lineage` lead to.

import Foundation
import LineageShadow
import Support
import Testing

@testable import Container

/// A row of the table: steps, and both answers.
struct ListedCase: CustomStringConvertible {
    /// Which answer is looked at.
    enum Question {
        case history(String)
        case conflicts(String)
        /// The deleted list, and documents that lost their name to another one: readers will show both.
        case deleted
        case superseded
    }

    var change: ListedChange
    var steps: String
    var question: Question
    var today: [String]
    var then: [String]

    var description: String { change.rawValue }

    init(_ change: ListedChange, _ steps: String, _ question: Question, today: [String], then: [String]) {
        (self.change, self.steps, self.question, self.today, self.then) = (change, steps, question, today, then)
    }

    func answer(_ answer: Answer, isToday: Bool) -> [String] {
        switch question {
        case .history(let name): answer.names[name]?.history ?? []
        case .conflicts(let name): answer.names[name]?.conflicts ?? []
        case .superseded: answer.superseded.map(\.description)
        // No reader shows an item without a name today.
        case .deleted: answer.deleted + (isToday ? [] : answer.superseded.map(\.description))
        }
    }
}

@Suite(.serialized) struct ListedChangeTests {
    static let cases = [
        ListedCase(
            .renamedOver, "0 save x; 0 save x; 0 save y; 0 wait; 0 move x y", .deleted,
            today: [], then: [#"["0.1;", "0.0;"]"#]),
        ListedCase(
            .cameBack, "0 save t; 0 save y; 0 move y t; 0 save y", .history("y"),
            today: ["0.3;"], then: ["0.3;", "0.1;"]),
        ListedCase(
            .backFromOver, "0 save x; 0 save t; 0 wait; 0 move x t; 0 move t x", .history("x"),
            today: ["0.0;", "0.1;"], then: ["0.0;"]),
        ListedCase(
            .exchangedByThree, "0 save x; 0 save x; 0 save y; 0 wait; 0 move x t; 0 move y x; 0 move t y",
            .history("y"), today: ["0.1;"], then: ["0.1;", "0.2;"]),
        ListedCase(
            .seenElsewhere, "2 saveByOrdinaryRename t; 0 saveByOrdinaryRename t; 2 save t", .conflicts("t"),
            today: [], then: ["0.1;"]),
        ListedCase(
            .removedAndReplaced, "1 save t; 0 save t; 1 delete t; 1 saveByRename t", .conflicts("t"),
            today: [], then: ["0.1;"]),
        // Today has this already.
        ListedCase(
            .appendedByEach, "0 save x; 0 append x; 0 append x; 3 append x; 0 append x", .history("x"),
            today: ["0.0;0.1;0.2;3.3;0.4;", "0.0;0.1;0.2;3.3;", "0.0;0.1;0.2;", "0.0;"],
            then: ["0.0;0.1;0.2;3.3;0.4;", "0.0;0.1;0.2;3.3;", "0.0;0.1;0.2;", "0.0;"]),
        ListedCase(
            .settledElsewhere,
            "0 saveByOrdinaryRename x; 0 save x; 1 saveByRename t; 3 append t; 0 move t y; 1 move x t; 2 load t; "
                + "2 load y; 2 save t",
            .conflicts("t"), today: ["1.2;3.3;"], then: []),
        ListedCase(
            .hasOtherName, "0 save x; 0 link x t; 0 renameAwayAndKeep x", .history("x"),
            today: ["0.2;", "0.0;"], then: ["0.2;"]),
        ListedCase(
            .hasReturned, "0 save x; 0 move x t; 0 wait; 0 move t x; 1 save t", .history("t"),
            today: ["1.4;", "0.0;"], then: ["1.4;"]),
        ListedCase(
            .oneOfSeveral, "0 save x; 0 link x t; 0 wait; 3 delete x; 3 delete t; 2 save x", .history("x"),
            today: ["2.5;"], then: ["2.5;", "0.0;"]),
        ListedCase(
            .isUnsavedCopy, "0 save x; 0 link x y; 1 saveByOrdinaryRename y; 0 unlinkAndCreate x", .history("x"),
            today: ["0.3;", "0.0;"], then: ["0.3;"]),
        ListedCase(
            .removedByMover, "0 save x; 0 link x y; 0 saveByOrdinaryRename y; 0 delete x", .deleted,
            today: [#"x: ["0.0;"]"#], then: []),
        ListedCase(
            .isBehindOrigin, "0 save y; 0 save y; 0 save t; 0 renameAwayAndKeep y; 0 move y t", .superseded,
            today: [#"["0.3;", "0.1;", "0.0;"]"#], then: []),
    ]

    @Test("both answers", arguments: cases, [true, false])
    func both(_ listed: ListedCase, isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(listed.steps) { try play.perform(step) }
            let today = listed.answer(try play.tree.answer, isToday: true)
            let then = listed.answer(play.shadow.answer, isToday: false)
            #expect(today == listed.today)
            #expect(then == listed.then)
            try expectMeant(play.tree, play.shadow)
        }
    }

    /// The same for orders of `InterleavedStep`.
    static let interleaved = [
        ListedCase(
            .writtenTogether, "0 openInPlace x; 1 openInPlace x; 0 writeAtStart; 0 close; 1 writeAtStart; 1 close",
            .history("x"), today: ["1.4;fore;", "x before;"], then: ["1.4;fore;", "0.2;fore;", "x before;"]),
        ListedCase(.savedWithoutName, "0 createNew t; 0 unlink t", .deleted, today: ["t: []"], then: [#"t: [""]"#]),
        ListedCase(
            .notAtEachClose, "0 openInPlace x; 0 write; 0 openToAppend x; 0 close 0; 0 writeAtStart 0", .history("x"),
            today: ["0.4;fore;", "0.1;fore;", "x before;"], then: ["0.4;fore;", "x before;"]),
        ListedCase(
            .savedFirst, "0 openForBoth x; 0 write; 0 rename x y", .superseded,
            today: [#"["x before;"]"#], then: [#"["0.1;fore;", "x before;"]"#]),
        // A version that is saved first settles its document at this name.
        ListedCase(
            .savedFirst, "0 rename x t; 0 openTruncating t; 0 write 0; 0 openTruncating t; 0 rename y x", .history("x"),
            today: ["y before;", "0.2;", "x before;"], then: ["y before;"]),
        ListedCase(
            .unsavedOccupant, "0 openTruncating t; 2 rename y t; 0 rename t x", .superseded,
            today: [#"[""]"#], then: [#"["", "y before;"]"#]),
        ListedCase(
            .amendsArrival, "2 openTruncating t; 0 exchange t x; 2 openInPlace x; 2 write 1", .history("x"),
            today: ["2.3;", "", "x before;"], then: ["2.3;", "x before;"]),
    ]

    @Test("both answers, of programs that have files open beside each other", arguments: interleaved, [true, false])
    func bothInterleaved(_ listed: ListedCase, isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            #expect(try play.problems(after: InterleavedStep.steps(listed.steps)).isEmpty)
            let today = listed.answer(try play.tree.answer, isToday: true)
            let then = listed.answer(try #require(play.shadow).answer, isToday: false)
            #expect(today == listed.today)
            #expect(then == listed.then)
            try expectMeant(play.tree, try #require(play.shadow))
        }
    }

    private func expectMeant(_ tree: BrowsedContainer, _ shadow: Shadow) throws {
        let today = try tree.answer
        let differences = shadow.differences(from: today)
        let isMeant = differences.isEmpty || ListedChange.explaining(differences, between: today, and: shadow) != nil
        #expect(isMeant, "\(differences.map { "\($0)" }.joined(separator: "\n"))")
    }

    @Test("a save goes on unseen after its document has parted from the file, or may have been made under another name")
    func unseen() throws {
        let settled = ListedCase(
            .settledUnseen,
            "1 openTruncating y; 1 rename y t; 1 write; 2 openForBoth t; 2 close 0; 2 openTruncating y", .history("y"),
            today: ["", "y before;"], then: [""])
        try bothInterleaved(settled, isPassing: true)
        let listed = ListedCase(
            .endsWithParting,
            "0 openTruncating x; 0 openTruncating x; 0 rename x y; 0 rename y t; 0 write 1; 0 createNew y",
            .history("y"), today: ["", "0.4;", "y before;"], then: ["", "y before;"])
        try bothInterleaved(listed, isPassing: true)
    }

    @Test("a kill leaves an empty file that nobody has saved", arguments: [true, false])
    func killed(isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            #expect(try play.problems(after: InterleavedStep.steps("0 createNew t"), isKilled: true).isEmpty)
            #expect(try play.tree.answer.names["t"]?.history == [])
            #expect(play.shadow?.answer.names["t"]?.history == [""])
        }
    }

    /// What the rules have saved before a rename is unfinished today: it is set aside, and what takes its place is a
    /// version by the rules.
    static let setAside = [
        (
            "0 openTruncating x; 0 write; 0 rename x t", "t", ["0.1;", "x before;"],
            ["x before;", "0.1;", "x before;"], Set([ListedChange.savedFirst])
        ),
        (
            "0 rename x y; 0 openTruncating y; 0 rename y x", "x", ["", "x before;", "y before;"],
            ["x before;", "", "x before;"], [.savedFirst, .backFromOver]
        ),
        (
            "0 rename x t; 0 rename t y; 0 openForBoth y; 0 write; 0 rename y x", "x",
            ["0.3;fore;", "x before;", "y before;"], ["x before;", "0.3;fore;", "x before;"], [.savedFirst, .cameBack]
        ),
        // The version that was saved first is at another name, and an empty file is set aside at this one.
        (
            "1 openToAppend y; 1 write; 0 rename y x; 0 createNew y", "y", ["", "y before;"],
            ["y before;", "", "y before;1.1;", "y before;"], [.savedFirst]
        ),
    ]

    @Test("a kill sets aside what the rules have saved", arguments: setAside, [true, false])
    func killed(
        _ case: (steps: String, name: String, today: [String], then: [String], changes: Set<ListedChange>),
        isPassing: Bool
    ) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            #expect(try play.problems(after: InterleavedStep.steps(`case`.steps), isKilled: true).isEmpty)
            let (today, shadow) = (try play.tree.answer, try #require(play.shadow))
            #expect(today.names[`case`.name]?.history == `case`.today)
            #expect(shadow.answer.names[`case`.name]?.history == `case`.then)
            let differences = shadow.differences(from: today)
            #expect(ListedChange.explaining(differences, between: today, and: shadow) == `case`.changes)
        }
    }

    @Test("the same, at the close of a handle that may have written")
    func killedAfterClose() throws {
        let steps = "1 openTruncating x; 1 write; 0 openForBoth x; 0 close"
        let then = ["x before;", "1.1;", "x before;"]
        try killed((steps, "x", ["1.1;", "x before;"], then, [.writtenTogether]), isPassing: true)
    }

    @Test("the same, where another handle has overwritten what goes on with the version of a rename")
    func killedAfterOverwriting() throws {
        let steps = "1 openTruncating y; 1 rename y x; 0 openInPlace x; 1 write; 0 write"
        let then = ["0.4;", "1.3;", "x before;"]
        try killed((steps, "x", ["0.4;", "", "x before;"], then, [.amendsArrival]), isPassing: false)
    }

    @Test("a name that a file was moved to goes, and the one before is another document's", arguments: [true, false])
    func removedCopy(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            let steps = "3 save t; 1 link t y; 3 renameAwayAndCreate t"
            guard case .listed([.hasOtherName]) = try play.outcome(of: ShadowStep.steps(steps)) else {
                Issue.record("no difference, or another one")
                return
            }
            #expect(play.shadow.answer.deleted == [#"t~: ["3.0;"]"#])
            #expect(try play.tree.answer.deleted.isEmpty)
        }
    }

    @Test("a file without a name is closed with what its deleted document has been before", arguments: [true, false])
    func passedOver(isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            let steps = "0 openTruncating y; 0 close; 0 release; 0 openInPlace y; 0 write; 0 close; 0 release; "
                + "0 openTruncating y; 1 rename x y; 0 unlink y"
            #expect(try play.problems(after: InterleavedStep.steps(steps)).isEmpty)
            let (today, shadow) = (try play.tree.answer, try #require(play.shadow))
            #expect(shadow.answer.deleted == [#"y: ["x before;", "0.4;", "", "y before;"]"#])
            #expect(today.deleted == [#"y: ["", "x before;", "0.4;", "", "y before;"]"#])
            #expect(
                ListedChange.explaining(shadow.differences(from: today), between: today, and: shadow)
                    == [.notAtEachClose])
        }
    }

    @Test("a content that is shown today must be shown by the rules, too, or no difference is meant")
    func lost() throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: true)
            for step in ShadowStep.steps("0 save t; 0 save y; 0 move y t; 0 save y") { try play.perform(step) }
            var today = try play.tree.answer
            let meant = play.shadow.differences(from: today)
            #expect(ListedChange.explaining(meant, between: today, and: play.shadow) == [.cameBack])
            today.names["t"]?.history.append("lost")
            #expect(ListedChange.explaining(meant, between: today, and: play.shadow) == nil)
        }
    }

    private static let others: [ListedChange] = [.endsWithParting, .settledUnseen, .settledEmpty, .leftBeforeKill]

    @Test("all changes that Lineage has a rule for")
    func all() {
        #expect(Set((Self.cases + Self.interleaved).map(\.change) + Self.others) == Set(ListedChange.allCases))
    }
}
