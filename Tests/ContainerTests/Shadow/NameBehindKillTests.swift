// A name is left, the daemon is killed, and the name is made anew: today that is another document.

import LineageShadow
import Support
import Testing

@testable import Container

@Suite(.serialized) struct NameBehindKillTests {
    @Test("a name that was removed", arguments: ["save", "saveByRename"], [true, false])
    func removed(way: String, isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            let steps = ShadowStep.steps("2 save t; 1 delete t; 1 kill; 1 \(way) t")
            #expect(try play.changes(of: steps) == [.leftBeforeKill])
            let (today, then) = (try play.tree.answer, play.shadow.answer)
            #expect(today.names["t"]?.history == ["1.3;"])
            #expect(today.deleted == [#"t: ["2.0;"]"#])
            #expect(then.names["t"]?.history == ["1.3;", "2.0;"])
            #expect(then.deleted == [])
        }
    }

    @Test("a name that a file was moved from", arguments: ["save", "saveByOrdinaryRename"], [true, false])
    func moved(way: String, isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            let steps = ShadowStep.steps("0 save t; 3 save t; 0 move t y; 3 kill; 3 \(way) t")
            #expect(try play.changes(of: steps) == [.leftBeforeKill])
            let (today, then) = (try play.tree.answer, play.shadow.answer)
            #expect(today.names["t"]?.history == ["3.4;"])
            #expect(today.names["y"]?.history == ["3.1;", "0.0;"])
            #expect(then.names["t"]?.history == ["3.4;", "3.1;", "0.0;"])
            #expect(then.names["y"]?.history == ["3.1;"])
        }
    }

    @Test("a name that a file was moved from, over another one", arguments: [true, false])
    func movedOver(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            let steps = ShadowStep.steps("0 save t; 3 save t; 3 save y; 0 move t y; 3 kill; 3 save t")
            #expect(try play.changes(of: steps) == [.leftBeforeKill])
            let (today, then) = (try play.tree.answer, play.shadow.answer)
            #expect(today.names["t"]?.history == ["3.5;"])
            #expect(today.superseded == [["3.1;", "0.0;"]])
            #expect(then.names["t"]?.history == ["3.5;", "3.1;", "0.0;"])
            #expect(then.superseded == [])
        }
    }

    /// Without a kill between, or of another content, the same difference would be a fault.
    @Test("the same difference without a kill between", arguments: [
        "2 save t; 1 delete t; 1 save t", "2 save t; 1 kill; 1 delete t; 1 save t",
        "2 save t; 1 delete t; 1 save t; 1 kill",
    ], [true, false])
    func withoutKill(steps: String, isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(steps) { try play.perform(step) }
            var today = try play.tree.answer
            #expect(play.shadow.differences(from: today).isEmpty)
            today.names["t"]?.history.removeLast()
            today.setDeleted([("t", ["2.0;"])])
            let differences = play.shadow.differences(from: today)
            #expect(!differences.isEmpty)
            #expect(ListedChange.explaining(differences, between: today, and: play.shadow) == nil)
        }
    }

    @Test("a content that has gone by it", arguments: [true, false])
    func lost(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps("2 save t; 0 save t; 1 delete t; 1 kill; 1 save t") { try play.perform(step) }
            var today = try play.tree.answer
            today.setDeleted([("t", ["0.1;"])])
            let differences = play.shadow.differences(from: today)
            #expect(ListedChange.explaining(differences, between: today, and: play.shadow) == nil)
        }
    }
}

extension ShadowPlay {
    /// The changes by which both sides differ at the end; nil if they do not, or by none.
    fileprivate func changes(of steps: [ShadowStep]) throws -> Set<ListedChange>? {
        if case .listed(let changes) = try outcome(of: steps) { changes } else { nil }
    }
}
