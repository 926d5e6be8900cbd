// The arbiter, story by story: who is asked, who waits, who goes on, who hears of it.

import Testing
import VersionModel

@testable import Coordination

@Suite("The arbiter") struct ArbiterTests {
    @Test("readers share, a writer waits for them all, and a reader behind it does not barge in") func order() {
        var play = Play()
        play.claim(1, of: 1, [("a", .read)])
        #expect(play.said == ["1 granted a"])
        play.claim(2, of: 2, [("a", .read)])
        #expect(play.said == ["2 granted a"])
        play.claim(3, of: 3, [("a", .write)])
        #expect(play.said == [])
        play.claim(4, of: 4, [("a", .read)])
        #expect(play.said == [])
        play.release(1)
        #expect(play.said == [])
        play.release(2)
        #expect(play.said == ["3 granted a"])
        play.release(3)
        #expect(play.said == ["4 granted a"])
    }

    @Test("a claim on many items has them all or none") func manyItems() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)])
        play.claim(2, of: 2, [("a", .write), ("b", .write)])
        #expect(play.said == [])
        play.claim(3, of: 3, [("b", .read)])
        #expect(play.said == [])
        play.claim(4, of: 4, [("c", .read)])
        #expect(play.said == ["4 granted c"])
        play.release(1)
        #expect(play.said == ["2 granted a, b"])
        play.release(2)
        #expect(play.said == ["3 granted b"])
    }

    @Test("two claims that name their items the other way round do not shut one another in") func crossedItems() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write), ("b", .write)])
        play.claim(2, of: 2, [("b", .write), ("a", .write)])
        #expect(play.said == [])
        play.release(1)
        #expect(play.said == ["2 granted b, a"])
    }

    @Test("a presenter relinquishes, then saves, then the reader reads, then the presenter has its item back")
    func readWithChanges() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .read)])
        #expect(play.said == ["ask 1 for 1: relinquish to reader"])
        play.answer(1, for: 1)
        #expect(play.said == ["ask 1 for 1: save"])
        play.answer(1, for: 1)
        #expect(play.said == ["1 granted a"])
        play.release(1)
        #expect(play.said == ["1 reacquires from 1"])
    }

    @Test("a presenter saves by a claim of its own while the reader waits") func presenterSaves() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .read)])
        play.claim(2, of: 3, [("a", .read)])
        play.answer(1, for: 1)
        play.claim(3, of: 1, [("a", .write)], purpose: 1001, presenter: 1, handling: 1)
        #expect(play.said == ["3 granted a"])
        play.answer(1, for: 1)
        #expect(play.said == [])  // It has not ended its write yet.
        play.release(3)
        #expect(play.said == ["1 granted a"])
    }

    @Test("a presenter's own write that came before it is asked goes first") func presenterWroteBefore() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        play.answer(1, for: 1)
        play.claim(2, of: 3, [("a", .merge)])
        play.claim(3, of: 1, [("a", .write)], purpose: 1001, presenter: 1)
        #expect(play.said == [])
        play.release(1)
        #expect(play.said == ["1 reacquires from 1", "ask 1 for 2: relinquish to writer", "3 granted a"])
        play.answer(1, for: 2)
        play.answer(1, for: 2)
        #expect(play.said == [])
        play.release(3)
        #expect(play.said == ["2 granted a"])
    }

    @Test("a presenter that cannot save fails the reader, and has its item back") func refusal() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .read)])
        play.answer(1, for: 1)
        play.answer(1, for: 1, refusing: "disk full")
        #expect(play.said == ["1 failed: refused by 1: disk full", "1 reacquires from 1"])
        #expect(play.arbiter.nextDeadline == nil)
    }

    @Test("who may not write the item refuses nothing, and no plain program's open fails for a refusal")
    func refusalsThatDoNotCount() {
        var play = Play()
        play.present(1, of: 1, "a", mayRefuse: false)
        play.claim(1, of: 2, [("a", .delete)])
        play.answer(1, for: 1)
        play.answer(1, for: 1, refusing: "mine")
        #expect(play.said == ["1 granted a"])
        play.release(1)
        play.withdraw(1)
        play.present(2, of: 1, "a")
        play.open(2, by: 2, "a", .read)
        play.answer(2, for: 2)
        play.answer(2, for: 2, refusing: "disk full")
        #expect(play.said == ["2 granted a"])
    }

    @Test("a presenter that never answers is passed after the deadline, though each who asks it goes on sooner")
    func silentToImpatient() {
        var play = Play()
        play.present(1, of: 1, "a")
        for number: UInt64 in 1...5 {
            play.open(number, by: 2, "a", .write)
            #expect(play.said == ["ask 1 for \(number): relinquish to writer"])
            play.wait(2_000_000_000)
            #expect(play.said.contains("\(number) granted a (impatient)"))
            play.release(number)
        }
        #expect(play.arbiter.allPresenters.map(\.isRevoked) == [true])
        play.open(6, by: 2, "a", .write)
        #expect(play.said == ["6 granted a"])
        play.answer(1, for: 3)
        play.open(7, by: 2, "a", .write)
        #expect(play.said == ["ask 1 for 7: relinquish to writer"])
        // It is late with the others still, for which nobody waits: it has its time for this one.
        play.wait(1_000_000_000)
        #expect(play.said == ["7 waits for presenter 1"])
        #expect(play.arbiter.allPresenters.map(\.isRevoked) == [false])
        play.answer(1, for: 7)
        #expect(play.said == ["7 granted a"])
    }

    @Test("an item that comes back to its name after it was moved away as a backup has its presenters there again")
    func backups() {
        var play = Play()
        play.present(1, of: 1, "a", item: 5)
        play.move("a", to: "a~")
        play.come(5, backTo: "a")
        play.claim(1, of: 2, [("a~", .write)])
        #expect(play.said == ["1 granted a~"])
        play.claim(2, of: 2, [("a", .write)])
        #expect(play.said == ["ask 1 for 2: relinquish to writer"])
    }

    @Test("plain programs' claims keep nobody in use")
    func plainAlone() {
        var play = Play()
        play.claim(1, of: 1, [("a", .read)])
        play.open(2, by: 2, "b", .write)
        #expect(play.arbiter.hasClients)
        play.release(1)
        #expect(!play.arbiter.hasClients)
        play.arbiter.dropPlain()
        #expect(play.arbiter.isEmpty)
    }

    @Test("nobody refuses to relinquish") func relinquishingCannotBeRefused() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        play.answer(1, for: 1, refusing: "no")
        #expect(play.said == ["1 granted a"])
    }

    @Test("a deletion asks who presents the item, what is in it, and the package around it") func deletion() {
        var play = Play()
        play.present(1, of: 1, "d")
        play.present(2, of: 2, "d/p.pack")
        play.present(3, of: 3, "d/p.pack/x")
        play.present(4, of: 4, "d/p.pack/x/y")
        play.present(5, of: 5, "d", subitems: true)
        play.claim(1, of: 9, [("d/p.pack/x", .delete)])
        #expect(play.said == [
            "ask 2 for 1: relinquish to writer", "ask 3 for 1: relinquish to writer",
            "ask 4 for 1: relinquish to writer", "ask 5 for 1: accommodate deletion of d/p.pack/x",
        ])
        play.answer(3, for: 1)
        #expect(play.said == ["ask 3 for 1: accommodate deletion"])
        play.answer(2, for: 1)
        #expect(play.said == ["ask 2 for 1: accommodate deletion of d/p.pack/x"])
        play.answer(4, for: 1)
        #expect(play.said == ["ask 4 for 1: accommodate deletion"])
        for presenter: UInt64 in [2, 3, 4] { play.answer(presenter, for: 1) }
        #expect(play.said == [])
        play.answer(5, for: 1)
        #expect(play.said == ["1 granted d/p.pack/x"])
    }

    @Test("a claim made for a presenter, or with its purpose, asks it nothing") func ownPresenter() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 1, [("a", .write)], presenter: 1)
        #expect(play.said == ["1 granted a"])
        play.claim(2, of: 7, [("a", .write)], purpose: 1)
        #expect(play.said == ["ask 1 for 2: relinquish to writer"])
        play.answer(1, for: 2)
        #expect(play.said == ["2 granted a"])  // Of one purpose with claim 1.
        play.claim(3, of: 8, [("b", .write)], purpose: 1001)
        play.present(2, of: 2, "b")
        play.claim(4, of: 8, [("b", .read)], purpose: 1001)
        #expect(play.said.first == "ask 2 for 4: relinquish to reader")
    }

    @Test("a name that moves takes the claims and presenters on it along, but not a claim on the name") func moving() {
        var play = Play()
        play.claim(1, of: 1, [("d/a", .write)])
        play.claim(2, of: 2, [("d/a", .read)])
        play.claim(3, of: 3, [("d/a", .replace)])
        play.move("d", to: "e")
        #expect(play.said == [])
        play.move("e/a", to: "e/b")
        // The name `e/a` is free now: whoever replaces it waits for nobody.
        #expect(play.said == ["3 granted e/a"])
        play.claim(4, of: 4, [("e/b", .read)])
        #expect(play.said == [])
        play.release(1)
        #expect(play.said == ["2 granted e/b", "4 granted e/b"])
    }

    @Test("a claim whose item moves away from what it waited for goes on") func movedAway() {
        var play = Play()
        play.claim(1, of: 1, [("d", .delete)])
        play.claim(2, of: 2, [("d/a", .read)])
        #expect(play.said == [])
        play.move("d/a", to: "a")
        #expect(play.said == ["2 granted a"])
    }

    @Test("a cancelled waiter leaves nothing behind, and presenters have their items back") func cancelling() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        play.claim(2, of: 3, [("a", .write)])
        play.cancel(1)
        #expect(play.said == ["1 failed: cancelled", "1 reacquires from 1", "ask 1 for 2: relinquish to writer"])
        play.answer(1, for: 1)
        #expect(play.said == [])
        play.answer(1, for: 2)
        #expect(play.said == ["2 granted a"])
        play.cancel(2)
        #expect(play.said == [])  // Who is at it finishes.
        play.release(2)
        #expect(play.said == ["1 reacquires from 2"])
        #expect(play.arbiter.listed.isEmpty)
    }

    @Test("what a client had ends with its connection") func disconnecting() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.present(2, of: 2, "a")
        play.claim(1, of: 2, [("a", .write)], presenter: 2)
        play.answer(1, for: 1)
        play.claim(2, of: 3, [("a", .write)])
        play.disconnect(2)
        #expect(play.said == ["1 reacquires from 1", "ask 1 for 2: relinquish to writer"])
        play.disconnect(1)
        #expect(play.said == ["2 granted a"])
        play.disconnect(3)
        #expect(play.arbiter.isEmpty)
    }

    @Test("a batch is asked for once, inside too, and excludes nobody") func preparing() {
        var play = Play()
        play.present(1, of: 1, "d/a")
        play.present(2, of: 1, "d/b")
        play.claim(1, of: 2, [("d", .write)], purpose: 5, preparing: true)
        #expect(play.said == ["ask 1 for 1: relinquish to writer", "ask 2 for 1: relinquish to writer"])
        play.answer(1, for: 1)
        play.answer(2, for: 1)
        #expect(play.said == ["1 granted d"])
        play.claim(2, of: 2, [("d/a", .write)], purpose: 5, within: [1])
        #expect(play.said == ["2 granted d/a"])
        play.claim(3, of: 2, [("d/b", .delete)], purpose: 5, within: [1])
        #expect(play.said == ["ask 2 for 3: accommodate deletion"])
        play.answer(2, for: 3)
        #expect(play.said == ["3 granted d/b"])
        play.claim(4, of: 3, [("d/c", .write)])
        #expect(play.said == ["4 granted d/c"])
        play.release(2)
        play.release(3)
        #expect(play.said == [])
        play.release(1)
        #expect(play.said == ["1 reacquires from 1", "2 reacquires from 1"])
    }

    @Test("an open of a plain program waits as long as it has patience, and has presenters relinquish")
    func plainOpen() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)])
        play.open(2, by: 2, "a", .write)
        #expect(play.said == [])
        play.wait(1_999_999_999)
        #expect(play.said == ["2 waits for claim 1", "probe 1"])
        play.wait(1)
        #expect(play.said == ["1 disturbed at a", "2 granted a (impatient)"])
        play.claim(3, of: 3, [("a", .read)])
        play.release(1)
        #expect(play.said == [])
        play.release(2)
        #expect(play.said == ["3 granted a"])
        play.present(1, of: 4, "b")
        play.open(4, by: 5, "b", .write)
        #expect(play.said == ["ask 1 for 4: relinquish to writer"])
        play.wait(2_000_000_000)
        #expect(play.said == ["4 waits for presenter 1", "4 granted b (impatient)"])
        play.release(4)
        #expect(play.said == ["1 reacquires from 4"])
    }

    @Test("what a program runs under a claim is not held up by it, nor by who waits for it") func commandUnderClaim() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)])
        play.claim(2, of: 2, [("a", .write)])
        play.open(3, by: 1, "a", .write)
        #expect(play.said == ["3 granted a"])
        play.release(1)
        #expect(play.said == [])
        play.release(3)
        #expect(play.said == ["2 granted a"])
    }
}
