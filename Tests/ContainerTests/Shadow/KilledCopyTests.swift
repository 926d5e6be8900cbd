// A copy that parted from a document and shares a content with it, and a kill.

import LineageShadow
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct KilledCopyTests {
    private static let steps = "0 save y; 3 renameAwayAndCreate y; 2 renameAwayAndKeep y"

    @Test("a content that a document shares with a copy of it is there after a kill", arguments: [true, false])
    func sharedContent(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(Self.steps + "; 1 kill") { try play.perform(step) }
            try expectAll(of: play)
        }
    }

    @Test("a label of what went without a trace takes no name", arguments: [true, false])
    func formerLabel(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(Self.steps) { try play.perform(step) }
            let store = play.tree.container.store
            store.flush()
            // As releases before this one wrote it for the first backup, which is gone.
            let first = try #require(try store.versions(of: play.tree.item("y").id).last)
            let labels = try store.contents.labels(of: first.content)
            var label = try #require(labels.first)
            (label.version.item, label.version.id) = (.random(), .random())
            (label.path, label.place) = (try #require(TreePath(bytes: "y~".utf8)), try play.tree.place("y~"))
            try store.contents.relabel(first.content, label, also: labels)
            for step in ShadowStep.steps("1 kill") { try play.perform(step) }
            try expectAll(of: play)
        }
    }

    private func expectAll(of play: ShadowPlay) throws {
        let names = try play.tree.answer.names
        #expect(names["y"]?.history == ["2.2;", "3.1;", "0.0;"])
        #expect(names["y~"]?.history == ["3.1;"])
        #expect(try play.tree.findings().isEmpty)
        #expect(try play.tree.container.store.lostContents(naming: 1).count == 0)
    }
}
