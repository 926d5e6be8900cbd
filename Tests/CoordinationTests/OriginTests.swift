// In whose coordinated access a change is made.

import Testing
import VersionModel

@testable import Coordination

@Suite("Origins of changes") struct OriginTests {
    private func actor(_ process: Int32, childOf parent: Int32? = nil) -> FileActor {
        FileActor(
            ActorRef(process: process, started: 0),
            lineage: parent.map { [ActorRef(process: $0, started: 0)] } ?? [])
    }

    private func origin(
        _ play: Play, _ actor: FileActor, _ at: String, from: String? = nil, item: UInt64? = nil
    ) -> UInt64? {
        play.arbiter.origin(
            of: actor, at: path(at), from: from.map { path($0) },
            item: item.map { ItemID(high: 0, low: $0) })
    }

    @Test("a holder's changes of what it writes have its purpose as their origin, and so have those of its children")
    func holders() {
        var play = Play()
        play.claim(1, of: 1, [("d", .write), ("r", .read)], purpose: 5)
        let own = Play.purpose(5).origin
        #expect(origin(play, actor(1), "d") == own)
        #expect(origin(play, actor(1), "d/x") == own)
        #expect(origin(play, actor(1), "y", from: "d/x") == own)
        #expect(origin(play, actor(2, childOf: 1), "d/x") == own)
        // What it only reads, what others do, and what it did not claim.
        #expect(origin(play, actor(1), "r") == nil)
        #expect(origin(play, actor(2), "d/x") == nil)
        #expect(origin(play, actor(1), "e") == nil)
        play.release(1)
        #expect(origin(play, actor(1), "d") == nil)
    }

    @Test("a claim that waits is no origin; of nested ones the last counts") func nested() {
        var play = Play()
        play.claim(1, of: 1, [("d", .write)], purpose: 5)
        play.claim(2, of: 2, [("d", .write)], purpose: 6)
        #expect(origin(play, actor(2), "d") == nil)
        play.claim(3, of: 1, [("d/x", .write)], purpose: 7, within: [1])
        #expect(origin(play, actor(1), "d/x") == Play.purpose(7).origin)
        #expect(origin(play, actor(1), "d/y") == Play.purpose(5).origin)
    }

    @Test("what a presenter saves because it is asked to is its own, without a claim") func saving() {
        var play = Play()
        play.present(1, of: 1, "a", item: 9)
        play.claim(1, of: 2, [("a", .read)])
        #expect(origin(play, actor(1), "a") == nil)
        play.answer(1, for: 1)
        let own = Play.purpose(1001).origin
        #expect(origin(play, actor(1), "a") == own)
        #expect(origin(play, actor(1), "elsewhere", item: 9) == own)
        #expect(origin(play, actor(1), "b") == nil)
        #expect(origin(play, actor(3), "a") == nil)
        play.answer(1, for: 1)
        #expect(origin(play, actor(1), "a") == nil)
    }

    @Test("of two presenters of one process that are asked to save, neither is taken for the one that does")
    func ambiguous() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.present(2, of: 1, "a")
        play.claim(1, of: 2, [("a", .read)])
        play.answer(1, for: 1)
        play.answer(2, for: 1)
        #expect(origin(play, actor(1), "a") == nil)
        play.answer(1, for: 1)
        #expect(origin(play, actor(1), "a") == Play.purpose(1002).origin)
    }
}
