// What waits for nobody: presenters and holders are told as it happens, and nobody waits for their answers.

import Testing
import VersionModel

@testable import Coordination

@Suite("Notices") struct NoticeTests {
    @Test("presenters hear all that they would be asked, at once, and have their items back at once")
    func presenters() {
        var play = Play()
        play.present(1, of: 1, "d/a")
        play.present(2, of: 2, "d")
        play.present(3, of: 3, "d", subitems: true)
        play.notice(9, by: 7, "d/a", .delete)
        #expect(play.said == [
            "ask 1 for 9: relinquish to writer", "ask 1 for 9: accommodate deletion", "1 reacquires from 9",
            "ask 3 for 9: accommodate deletion of d/a",
        ])
        // Answers are answers to nothing that anyone waits for, refusals too.
        play.answer(1, for: 9, refusing: "no")
        #expect(play.said == [])
        // Their own process asks them nothing.
        play.notice(10, by: 1, "d/a", .move)
        #expect(play.said == [])
    }

    @Test("holders of what it excludes hear of it, but not its own, and not who waits") func holders() {
        var play = Play()
        play.claim(1, of: 1, [("d/a", .write)])
        play.claim(2, of: 2, [("d/a", .write)])
        play.claim(3, of: 3, [("x", .read)])
        play.notice(9, by: 7, "d", .move)
        #expect(play.said == ["1 disturbed at d"])
        play.notice(10, by: 1, "d", .move)
        #expect(play.said == [])
        play.notice(11, by: 7, "x", .write)
        #expect(play.said == ["3 disturbed at x"])
    }

    @Test("of what is done in a claim on a directory those hear who are at something in it, and who was asked does not")
    func inOwnClaim() {
        var play = Play()
        play.present(1, of: 1, "d/a")
        play.present(2, of: 2, "d")
        play.claim(1, of: 3, [("d/a", .readWithoutChanges)])
        play.answer(1, for: 1)
        play.claim(2, of: 4, [("d", .write)])
        play.answer(2, for: 2)
        #expect(play.said == ["2 granted d"])
        play.notice(9, by: 4, "d/a", .delete)
        #expect(play.said == [
            "ask 1 for 9: relinquish to writer", "ask 1 for 9: accommodate deletion", "1 reacquires from 9",
            "1 disturbed at d/a",
        ])
        // The directory itself it has asked for, but not to take along what is in it.
        play.notice(10, by: 4, "d", .move)
        #expect(play.said == ["ask 1 for 10: relinquish to writer", "1 reacquires from 10", "1 disturbed at d"])
        // What takes all that is in it has asked them all.
        play.release(1)
        play.release(2)
        play.claim(3, of: 4, [("d", .delete)])
        for presenter: UInt64 in 1...2 { for _ in 1...2 { play.answer(presenter, for: 3) } }
        #expect(play.said == ["3 granted d"])
        play.notice(11, by: 4, "d/a", .delete)
        #expect(play.said == [])
    }

    @Test("what a presenter that is asked to save does about it is told to who reads already") func savingByRename() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .readWithoutChanges)])
        play.answer(1, for: 1)
        play.claim(2, of: 3, [("a", .read)])
        play.answer(1, for: 2)
        #expect(play.said == ["ask 1 for 2: save"])
        play.notice(9, by: 1, "a", .write)
        #expect(play.said == ["1 disturbed at a"])
    }

    @Test("an open that has waited long enough tells the holder that it goes on") func impatience() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)])
        play.open(2, by: 7, "a", .write, patience: 100)
        play.wait(100)
        #expect(play.said.contains("1 disturbed at a"))
    }

    @Test("a presenter that never answers notices is found silent, and asked no more") func silence() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.notice(9, by: 7, "a", .write)
        play.wait(10_000_000_000)
        #expect(play.said == ["presenter 1 revoked"])
        play.claim(1, of: 2, [("a", .write)])
        #expect(play.said == ["1 granted a"])
    }
}
