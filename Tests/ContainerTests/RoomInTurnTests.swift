// What keeps the room of something that goes is waited for: another thread that gives it up, or reads it for its hash.

import Foundation
import Glibc
import Support
import Synchronization
import Testing

@testable import Container

@Suite(.timeLimit(.minutes(1))) struct RoomInTurnTests {
    @Test("what another thread is giving up is waited for, where no lock is held, and is room then")
    func givenUpByAnother() throws {
        let tree = try BrowsedContainer()
        let container = tree.container
        #expect(container.space.state.givingUp.begin(mayWait: true))
        #expect(!container.space.making.canHave(4096, mayWait: false, mustSucceed: false) { 0 })
        let (asked, answered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isFree = Atomic<Bool>(false)
        let canHave = Atomic<Bool>(false)
        Thread.detachNewThread { [container] in
            let answer = container.space.making.canHave(4096, mayWait: true, mustSucceed: false) {
                defer { asked.signal() }
                return isFree.exchange(true, ordering: .sequentiallyConsistent) ? 8192 : 0
            }
            canHave.store(answer, ordering: .sequentiallyConsistent)
            answered.signal()
        }
        asked.wait()
        container.space.state.givingUp.end()
        answered.wait()
        let isHad = canHave.load(ordering: .sequentiallyConsistent)
        #expect(isHad)
    }

    @Test("a file that loses its name is read no further for its hash, and its room is free")
    func removedWhileRead() throws {
        let hashes = PendingHashes()
        let path = try Workplace.fresh("read") + "/file"
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        var (before, after) = (stat(), stat())
        try #require(fstat(file, &before) == 0)
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let _: Bool? = hashes.reading({ SharedDescriptor(file) }) { _, isWanted in
                begun.signal()
                while isWanted() { sched_yield() }
                return true
            }
        }
        begun.wait()
        // While it has its name, it is not waited for.
        hashes.closeRemoved()
        unlink(path)
        hashes.closeRemoved()
        // The number may be another file's by now.
        #expect(fstat(file, &after) != 0 || (after.st_dev, after.st_ino) != (before.st_dev, before.st_ino))
    }
}
