// Opens that are answered later, interrupted or forgotten.

@testable import FUSE
import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing

extension MountTests {
    @Test("An open may be answered later, from another thread", arguments: [false, true])
    func opensCanWait(passthrough: Bool) throws {
        try withMount(passthrough: passthrough) { mount, backing, system in
            try write(Array("later".utf8), to: backing + "/held-1")
            let read = Monitor<[UInt8]?>(nil)
            let reader = RunningThread {
                let found = try? contents(mount + "/held-1")
                read.with { $0 = found ?? [] }
            }
            let held = system.nextHeld()
            // The mount serves others meanwhile.
            try write([1], to: mount + "/other")
            #expect(read.with { $0 } == nil)
            let opened = try system.open(held.node, flags: held.flags)
            #expect(held.deferred.complete(.success(opened)))
            #expect(!held.deferred.complete(.failure(.ioError)))
            #expect(read.wait { $0 } == Array("later".utf8))
            reader.join()
        }
        #expect(try leftovers() == [])
    }

    @Test("A killed caller interrupts its waiting open")
    func waitsCanBeInterrupted() throws {
        try withMount(passthrough: false) { mount, backing, system in
            try write([1], to: backing + "/held-2")
            let caller = Process()
            caller.executableURL = URL(filePath: "/bin/cat")
            caller.arguments = [mount + "/held-2"]
            try caller.run()
            let held = system.nextHeld()
            let interrupted = Monitor(false)
            held.deferred.onInterrupt { [deferred = held.deferred] in
                deferred.complete(.failure(.interrupted))
                interrupted.with { $0 = true }
            }
            // Not SIGTERM, which the child may have inherited as blocked.
            kill(caller.processIdentifier, SIGKILL)
            interrupted.wait { $0 ? () : nil }
            caller.waitUntilExit()
            #expect(caller.terminationReason == .uncaughtSignal)
            #expect(!held.deferred.complete(.success(Opened(handle: 0))))
        }
        #expect(try leftovers() == [])
    }

    @Test("An open whose answer is dropped fails with EIO")
    func droppedAnswersAreAnswers() throws {
        try withMount(passthrough: false) { mount, backing, system in
            try write([1], to: backing + "/held-3")
            let failure = Monitor<Int32?>(nil)
            let reader = RunningThread {
                let result = open(mount + "/held-3", O_RDONLY)
                let error = errno
                failure.with { $0 = result < 0 ? error : 0 }
            }
            _ = system.nextHeld()
            #expect(failure.wait { $0 } == EIO)
            reader.join()
        }
    }

    @Test("An aborted mount ends the waits of its callers", .enabled(if: geteuid() == 0, "aborting needs root"))
    func abortsEndWaits() throws {
        try withMount(passthrough: false) { mount, backing, system in
            try write([1], to: backing + "/held-4")
            let failure = Monitor<Int32?>(nil)
            let reader = RunningThread {
                let result = open(mount + "/held-4", O_RDONLY)
                let error = errno
                failure.with { $0 = result < 0 ? error : 0 }
            }
            let held = system.nextHeld()
            let told = Monitor(false)
            held.deferred.onInterrupt { told.with { $0 = true } }
            try expectSuccess(umount2(mount, Int32(MNT_FORCE) | Int32(MNT_DETACH)))
            #expect(failure.wait { $0 } != 0)
            told.wait { $0 ? () : nil }
            reader.join()
            // So that the fixture finds something to unmount.
            withExtendedLifetime(held) {}
        }
        #expect(try leftovers() == [])
    }

    @Test("Only the first answer counts, whenever it comes")
    func answersOnce() {
        let answers = Mutex<[String]>([])
        func make() -> Deferred<Int> {
            Deferred<Int> { result in answers.withLock { $0.append("\(result)") } }
        }
        let early = make()
        #expect(early.complete(.success(1)))
        #expect(!early.complete(.success(2)))
        #expect(answers.withLock { $0 } == [])
        early.park()
        #expect(answers.withLock { $0 } == ["success(1)"])
        let closed = make()
        closed.close()
        #expect(!closed.complete(.success(3)))
        #expect(answers.withLock { $0.count } == 1)
    }

    @Test("A handler set after the interrupt runs at once")
    func lateInterruptHandlersRun() {
        let deferred = Deferred<Int> { _ in }
        let runs = Mutex(0)
        deferred.interrupt()
        deferred.onInterrupt { runs.withLock { $0 += 1 } }
        deferred.interrupt()
        #expect(runs.withLock { $0 } == 1)
    }
}
