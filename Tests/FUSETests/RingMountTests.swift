// The ring against the real kernel: what parks, what blocks, what ends.

import CFuse3
import CRing
@testable import FUSE
import Foundation
import Glibc
import SystemPackage
import Testing

/// Whether mounts of tests use the ring where they can: not with VERSIONSFS_TEST_RING=no.
let testsUseRing = ProcessInfo.processInfo.environment["VERSIONSFS_TEST_RING"] != "no"
/// Whether this machine has all that a ring takes; then tests insist on it.
let ringIsPossible = geteuid() == 0 && RingSwitch() != nil

extension MountTests {
    @Test("The ring is used where it can be and is wanted, and never else")
    func ringIsNegotiated() throws {
        for wanted in [true, false] {
            try withMount(passthrough: true, ring: wanted) { mount, _, system in
                _ = try names(in: mount)
                #expect(try #require(system.features).ring == (wanted && ringIsPossible))
                #expect((try ringThreads() == 0) == !(wanted && ringIsPossible))
            }
            #expect(try leftovers() == [])
        }
    }

    @Test("Many opens may wait at once, are answered in any order, and cost no more threads each time")
    func manyOpensWait() throws {
        try withMount(passthrough: false, ring: true) { mount, backing, system in
            let count = 40
            for number in 0..<count { try write([UInt8(number)], to: backing + "/held-\(number)") }
            var threads: [Int] = []
            for _ in 0..<6 {
                let results = Monitor<[Int: [UInt8]]>([:])
                let readers = (0..<count).map { number in
                    RunningThread {
                        let read = (try? contents(mount + "/held-\(number)")) ?? []
                        results.with { $0[number] = read }
                    }
                }
                var held = (0..<count).map { _ in system.nextHeld() }
                // The mount serves others meanwhile, on every processor.
                try forEachProcessor { number in
                    try write([1, 2], to: mount + "/other-\(number)")
                    try expectSuccess(unlink(mount + "/other-\(number)"))
                }
                #expect(results.with { $0.isEmpty })
                held.reverse()
                for open in held {
                    let opened = try system.open(open.node, flags: open.flags)
                    #expect(open.deferred.complete(.success(opened)))
                }
                for reader in readers { reader.join() }
                for number in 0..<count { #expect(results.with { $0[number] } == [UInt8(number)]) }
                // Their answers came late, and their entries go on serving: each gets a request.
                try forEachProcessor { number in
                    for turn in 0..<200 {
                        var status = statvfs()
                        try expectSuccess(statvfs(mount, &status))
                        if turn % 50 == 0 { try write([3], to: mount + "/after-\(number)") }
                    }
                }
                threads.append(try ringThreads())
            }
            // As many as were at work at a time (each reader, and its RELEASE in the background), eight for each
            // processor that are free, and the keeper.
            let most = 2 * count + 8 * (ProcessorList.possible ?? 1) + 1
            #expect(threads.allSatisfy { $0 <= most }, "\(threads), not over \(most)")
        }
        #expect(try leftovers() == [])
    }

    @Test("A request that takes long holds up no other of its processor", arguments: [false, true])
    func slowRequestsHoldNobodyUp(ring: Bool) throws {
        try withMount(passthrough: false, ring: ring) { mount, backing, system in
            try expectSuccess(mkdir(mount + "/apart", 0o755))
            let slow = (0..<3).map { number in
                RunningThread {
                    _ = ring_pin_thread(0)
                    var status = stat()
                    // In a directory of its own, which the kernel has locked meanwhile.
                    _ = stat(mount + "/apart/slow-\(number)", &status)
                }
            }
            system.state.wait { $0.slow == 3 ? () : nil }
            let served = Monitor(false)
            let other = RunningThread {
                _ = ring_pin_thread(0)
                for turn in 0..<100 {
                    try? write([1], to: mount + "/quick-\(turn)")
                    unlink(mount + "/quick-\(turn)")
                }
                served.with { $0 = true }
            }
            // Nothing else lets the slow ones go, so without this the test would
            // never end: its time limit is the bound.
            served.wait { $0 ? () : nil }
            #expect(system.state.with { $0.slow } == 3)
            system.state.with { $0.slowMayGo = true }
            other.join()
            for thread in slow { thread.join() }
        }
        #expect(try leftovers() == [])
    }

    @Test("An abort with requests in every stage ends all of them", .enabled(if: geteuid() == 0, "aborting needs root"))
    func abortsEndEverything() throws {
        for turn in 0..<5 {
            try withMount(passthrough: false, ring: true) { mount, backing, system in
                try expectSuccess(mkdir(mount + "/apart", 0o755))
                for number in 0..<4 { try write([1], to: backing + "/held-\(number)") }
                let waiting = (0..<4).map { number in
                    RunningThread {
                        let file = open(mount + "/held-\(number)", O_RDONLY)
                        if file >= 0 { close(file) }
                    }
                }
                let held = (0..<4).map { _ in system.nextHeld() }
                let slow = RunningThread {
                    var status = stat()
                    _ = stat(mount + "/apart/slow", &status)
                }
                system.state.wait { $0.slow == 1 ? () : nil }
                let isOver = Monitor(false)
                let busy = (0..<8).map { number in
                    RunningThread {
                        // Nothing that opens files: an aborted mount sends no RELEASE for them.
                        let own = mount + "/busy-\(number)"
                        var value = [UInt8](repeating: 1, count: 30_000)
                        while !isOver.with({ $0 }) {
                            mkdir(own, 0o755)
                            setxattr(own, "user.x", value, 3_000, 0)
                            getxattr(own, "user.x", &value, value.count)
                            symlink("elsewhere", own + "/s")
                            unlink(own + "/s")
                            rmdir(own)
                        }
                    }
                }
                // Somewhere in the middle, elsewhere each time.
                var pause = timespec(tv_sec: 0, tv_nsec: 3_000_000 * (turn + 1))
                nanosleep(&pause, nil)
                try expectSuccess(umount2(mount, Int32(MNT_FORCE) | Int32(MNT_DETACH)))
                isOver.with { $0 = true }
                for thread in waiting + busy { thread.join() }
                slow.join()
                // The handler itself is still at work; its answer goes nowhere.
                system.state.with { $0.slowMayGo = true }
                withExtendedLifetime(held) {}
            }
            #expect(try leftovers() == [])
        }
    }

    @Test("64 threads do everything at once, on the ring and without it", arguments: [false, true])
    func manyThreadsWork(ring: Bool) throws {
        try withMount(passthrough: false, ring: ring) { mount, backing, system in
            let failures = Monitor<[String]>([])
            let threads = (0..<64).map { number in
                RunningThread {
                    let own = mount + "/t\(number)"
                    do {
                        try expectSuccess(mkdir(own, 0o755))
                        for turn in 0..<20 {
                            let bytes = [UInt8](repeating: UInt8(turn), count: turn * 20_000 + number)
                            try write(bytes, to: own + "/a")
                            if try contents(own + "/a") != bytes { throw Errno.ioError }
                            try expectSuccess(rename(own + "/a", own + "/b"))
                            try expectSuccess(symlink("b", own + "/s"))
                            try expectSuccess(setxattr(own + "/b", "user.x", bytes, min(bytes.count, 2_000), 0))
                            try expectSuccess(chmod(own + "/b", 0o600))
                            if try names(in: own).sorted() != ["b", "s"] { throw Errno.badFileDescriptor }
                            for name in ["/b", "/s"] { try expectSuccess(unlink(own + name)) }
                        }
                        try expectSuccess(rmdir(own))
                    } catch {
                        failures.with { $0.append("\(own): \(error)") }
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(failures.with { $0 } == [])
            let left = try names(in: backing)
            #expect(left == [])
            system.state.wait { $0.openHandles == 0 ? () : nil }
        }
        #expect(try leftovers() == [])
    }

    @Test("A session that never runs leaves nothing of its ring behind")
    func unusedSessionsEnd() throws {
        var template = Array("/var/tmp/versionsfs-fuse-XXXXXX".utf8CString)
        let directory = mkdtemp(&template).map { String(cString: $0) } ?? ""
        defer { rmdir(directory) }
        do {
            let session = try MountedSession(
                fileSystem: try Loopback(root: "/var/tmp", usesPassthrough: false), mountpoint: FilePath(directory),
                fsname: "unused")
            withExtendedLifetime(session) {}
        }
        #expect(try leftovers() == [])
    }

    private func ringThreads() throws -> Int {
        try names(in: "/proc/self/task").count { thread in
            let name = (try? contents("/proc/self/task/\(thread)/comm")) ?? []
            return name.starts(with: Array("fuse-ring".utf8))
        }
    }

    /// Runs something on each processor in turn.
    private func forEachProcessor(_ body: @escaping @Sendable (Int) throws -> Void) throws {
        for number in 0..<(ProcessorList.possible ?? 1) {
            let failure = Monitor<(any Error)?>(nil)
            let thread = RunningThread {
                _ = ring_pin_thread(UInt32(number))
                do { try body(number) } catch { failure.with { $0 = error } }
            }
            thread.join()
            if let error = failure.with({ $0 }) { throw error }
        }
    }
}
