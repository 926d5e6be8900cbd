// The fourteen known deadlocks of file coordination (reference, 2.6), as far as the arbiter has to do with them.

import Testing
import VersionModel

@testable import Coordination

@Suite("Deadlocks that are known") struct DeadlockTests {
    private let second: Int64 = 1_000_000_000

    @Test("1: who coordinates where its presenter's messages arrive is not waited for") func onePresenterQueue() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        #expect(play.said == ["ask 1 for 1: relinquish to writer"])
        // The presenter's client blocks in a claim, where it would have to answer.
        play.claim(2, of: 1, [("a", .read)], handling: 1)
        #expect(play.said == ["2 granted a"])
        play.release(2)
        #expect(play.said == [])
        play.answer(1, for: 1)
        #expect(play.said == ["1 granted a"])
    }

    @Test("2: two presenters of one file read it at the same time, each in a handler") func twoReadingPresenters() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.present(2, of: 2, "a")
        play.claim(1, of: 1, [("a", .read)], purpose: 1001, presenter: 1, handling: 1)
        #expect(play.said == ["ask 2 for 1: relinquish to reader"])
        play.claim(2, of: 2, [("a", .read)], purpose: 1002, presenter: 2, handling: 2)
        #expect(play.said == ["ask 1 for 2: relinquish to reader", "1 granted a"])
        play.release(1)
        #expect(play.said == ["2 reacquires from 1"])
        play.answer(1, for: 2)
        play.answer(1, for: 2)
        #expect(play.said == ["2 granted a"])
        play.release(2)
        #expect(play.said == ["1 reacquires from 2"])
    }

    @Test("3: a presenter that never answers is named, then passed, and hears of it when it wakes")
    func silentPresenter() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        play.wait(9 * second)
        #expect(play.said == ["1 waits for presenter 1"])
        play.wait(second)
        #expect(play.said == ["presenter 1 revoked", "1 granted a"])
        play.release(1)
        #expect(play.said == ["1 reacquires from 1"])
        play.claim(2, of: 2, [("a", .write)])
        #expect(play.said == ["2 granted a"])
        play.release(2)
        play.answer(1, for: 1)  // It is back, and asked again.
        play.claim(3, of: 2, [("a", .write)])
        #expect(play.said == ["ask 1 for 3: relinquish to writer"])
    }

    @Test("4: a slow handler of events delays no answer: events are not the arbiter's") func slowEventHandler() {
        // Here a question does not wait for another to be answered. That it waits for no handler in the client is shown
        // by ClientPresenterTests, and for operation queues by QuestionOrderTests.
        var play = Play()
        play.present(1, of: 1, "a")
        play.present(2, of: 1, "b")
        play.claim(1, of: 2, [("a", .write)])
        play.claim(2, of: 3, [("b", .write)])
        #expect(play.said == ["ask 2 for 2: relinquish to writer"])
        play.answer(2, for: 2)
        #expect(play.said == ["2 granted b"])
    }

    @Test("5: nested claims, the other way round: the youngest fails and learns the ring") func crossedNesting() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)])
        play.claim(2, of: 2, [("b", .write)])
        play.claim(3, of: 1, [("b", .write)], within: [1])
        #expect(play.said == [])
        play.claim(4, of: 2, [("a", .write)], within: [2])
        #expect(play.said == ["4 failed: deadlock 4 1 3 2"])
        play.release(2)
        #expect(play.said == ["3 granted b"])
    }

    @Test("5: three in a ring, and two that both want to write what both read") func longerRings() {
        var play = Play()
        for client: UInt64 in 1...3 { play.claim(client, of: client, [("f\(client)", .write)]) }
        play.claim(11, of: 1, [("f2", .read)], within: [1])
        play.claim(12, of: 2, [("f3", .read)], within: [2])
        #expect(play.said == [])
        play.claim(13, of: 3, [("f1", .read)], within: [3])
        #expect(play.said == ["13 failed: deadlock 13 1 11 2 12 3"])
        play = Play()
        play.claim(1, of: 1, [("a", .read)])
        play.claim(2, of: 2, [("a", .read)])
        play.claim(3, of: 1, [("a", .write)], purpose: 1, within: [1])
        #expect(play.said == [])
        play.claim(4, of: 2, [("a", .write)], purpose: 2, within: [2])
        #expect(play.said == ["4 failed: deadlock 4 1 3 2"])
        play.release(2)
        #expect(play.said == ["3 granted a"])
    }

    @Test("6: a nested claim on the same item is its holder's, though others wait between") func nestedOnOneItem() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)], purpose: 7)
        play.claim(2, of: 2, [("a", .write)])
        play.claim(3, of: 1, [("a", .read)], purpose: 7, within: [1])
        #expect(play.said == ["3 granted a"])
        play.release(1)
        #expect(play.said == [])
        play.release(3)
        #expect(play.said == ["2 granted a"])
    }

    @Test("6: the same with another purpose is a ring of one, and fails") func nestedWithAnotherPurpose() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)], purpose: 7)
        play.claim(3, of: 1, [("a", .read)], purpose: 8, within: [1])
        #expect(play.said == ["3 failed: deadlock 3 1"])
    }

    @Test("7: moving away or giving up a content inside a coordinated write uses that write")
    func evictingInsideWrite() {
        var play = Play()
        play.claim(1, of: 1, [("d/a", .write)], purpose: 7)
        play.claim(2, of: 1, [("d/a", .move), ("e/a", .replace)], purpose: 7, within: [1])
        #expect(play.said == ["2 granted d/a, e/a"])
    }

    @Test("8: two documents of one process on one file") func twoDocuments() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.present(2, of: 1, "a")
        play.claim(1, of: 1, [("a", .write)], purpose: 1001, presenter: 1, handling: 1)
        #expect(play.said == ["ask 2 for 1: relinquish to writer"])
        play.claim(2, of: 1, [("a", .write)], purpose: 1002, presenter: 2, handling: 2)
        // Each is blocked in what it has asked for: the first is not waited for.
        #expect(play.said == ["ask 1 for 2: relinquish to writer", "1 granted a"])
        play.release(1)
        #expect(play.said == ["2 reacquires from 1"])
        play.answer(1, for: 2)
        #expect(play.said == ["2 granted a"])
    }

    @Test("9: a presenter has its item back before it is asked for it again") func quickSuccession() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        play.claim(2, of: 3, [("a", .write)])
        play.answer(1, for: 1)
        play.release(1)
        #expect(play.said == ["1 reacquires from 1", "ask 1 for 2: relinquish to writer"])
    }

    @Test("10: who reads a whole directory holds up nobody in it") func backupOfSubtree() {
        var play = Play()
        play.claim(1, of: 1, [("", .read)])
        play.claim(2, of: 2, [("d/a", .write)])
        #expect(play.said == ["2 granted d/a"])
        play.claim(3, of: 3, [("d/a", .reading(.forUploading))])
        #expect(play.said == [])
    }

    @Test("11: a service that forgets its purpose shuts out itself, and hears so") func providerWithoutPurpose() {
        var play = Play()
        play.claim(1, of: 1, [("a", .read)], purpose: 7)
        play.claim(2, of: 1, [("a", .write)], purpose: 8, within: [1])
        #expect(play.said == ["2 failed: deadlock 2 1"])
        play.claim(3, of: 1, [("a", .write)], purpose: 7, within: [1])
        #expect(play.said == ["3 granted a"])
    }

    @Test("12: two programs in one directory") func sharedDirectory() {
        var play = Play()
        play.claim(1, of: 1, [("d", .write)])
        play.claim(2, of: 2, [("d/a", .write)], within: [])
        #expect(play.said == ["2 granted d/a"])
        play.claim(3, of: 1, [("d/a", .write)], purpose: 1, within: [1])
        #expect(play.said == [])
        play.claim(4, of: 2, [("d", .write)], purpose: 2, within: [2])
        #expect(play.said == ["4 failed: deadlock 4 1 3 2"])
        play.claim(5, of: 2, [("d/b", .delete)], purpose: 2, within: [2])
        #expect(play.said == ["5 granted d/b"])
    }

    @Test("13: what is begun while a file is being accessed, and waits for that access") func activityInsideAccess() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .write)])
        play.answer(1, for: 1)
        // Its own writer waits for an activity of the presenter that waits for the writer.
        play.claim(2, of: 2, [("b", .write)], within: [1])
        play.claim(3, of: 1, [("b", .write)], purpose: 1001, presenter: 1)
        play.claim(4, of: 1, [("a", .read)], purpose: 1001, presenter: 1, within: [3])
        #expect(play.said == [])
        play.release(2)
        play.release(1)
        #expect(play.said.contains("4 granted a"))
    }

    @Test("14: a presenter that is asked to save writes as a plain program does") func plainSave() {
        var play = Play()
        play.present(1, of: 1, "a")
        play.claim(1, of: 2, [("a", .read)])
        play.answer(1, for: 1)
        play.open(2, by: 1, "a", .write)
        #expect(play.said == ["2 granted a"])
        play.answer(1, for: 1)
        #expect(play.said == [])
        play.release(2)
        #expect(play.said == ["1 granted a"])
    }

    @Test("a stopped holder holds up nobody longer than the deadline, one that runs as long as it likes")
    func stoppedHolder() {
        var play = Play()
        play.claim(1, of: 1, [("a", .write)])
        play.claim(2, of: 2, [("a", .write)])
        play.wait(second)
        #expect(play.said == ["2 waits for claim 1", "probe 1"])
        play.pulse(1)
        play.wait(second)
        #expect(play.said == ["probe 1"])
        play.wait(9 * second - 1)
        #expect(play.said == [])
        play.wait(1)
        #expect(play.said == ["1 revoked", "2 granted a"])
        play.release(1)
        #expect(play.said == [])
    }
}
