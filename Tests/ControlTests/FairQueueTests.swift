// The queue in front of a pool of threads: turns, the thread that is left for others, and the end.

import Dispatch
import NIOPosix
import Synchronization
import Testing

@testable import ControlService

/// A pool with its queue, and what has run.
private final class Bench: Sendable {
    let queue: FairQueue
    private let pool: NIOThreadPool
    private let names = Mutex<[String]>([])
    var ran: [String] { names.withLock { $0 } }

    init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        queue = FairQueue(on: pool, threads: threads)
        pool.start()
    }

    /// Submits work that notes its name.
    func submit(_ name: String, user: UInt32, connection: UInt64, isTrusted: Bool = false) {
        queue.submit(from: WorkSource(user: user, isTrusted: isTrusted, connection: connection)) {
            self.names.withLock { $0.append(name) }
        }
    }

    /// Submits work that holds its thread, and waits until it does.
    /// - Returns: the signal that lets it end.
    func hold(user: UInt32, connection: UInt64) -> DispatchSemaphore {
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        queue.submit(from: WorkSource(user: user, isTrusted: false, connection: connection)) {
            begun.signal()
            end.wait()
        }
        begun.wait()
        return end
    }

    /// Submits work and waits until it has run.
    /// - Returns: false if it does not within ten seconds.
    func runs(user: UInt32, connection: UInt64, isTrusted: Bool = false) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.submit(from: WorkSource(user: user, isTrusted: isTrusted, connection: connection)) { done.signal() }
        return done.wait(timeout: .now() + 10) == .success
    }

    func shutDown() throws { try pool.syncShutdownGracefully() }
}

@Suite("The queue of a pool of threads", .timeLimit(.minutes(2)))
struct FairQueueTests {
    @Test("users take turns, and so do the connections of one user")
    func turns() throws {
        let bench = Bench(threads: 1)
        let end = bench.hold(user: 9, connection: 9)
        for name in ["a1", "a2", "a3"] { bench.submit(name, user: 1, connection: 1) }
        bench.submit("b1", user: 1, connection: 2)
        for name in ["c1", "c2"] { bench.submit(name, user: 2, connection: 3) }
        let done = DispatchSemaphore(value: 0)
        bench.queue.submit(from: WorkSource(user: 1, isTrusted: false, connection: 1)) { done.signal() }
        end.signal()
        #expect(done.wait(timeout: .now() + 10) == .success)
        #expect(bench.ran == ["a1", "c1", "b1", "c2", "a2", "a3"])
        try bench.shutDown()
    }

    @Test("one thread is left for other users, and for other connections of a trusted user")
    func threadLeft() throws {
        let bench = Bench(threads: 2)
        let end = bench.hold(user: 1, connection: 1)
        bench.submit("waits", user: 1, connection: 2)
        #expect(bench.runs(user: 2, connection: 3) && bench.runs(user: 2, connection: 3))
        #expect(bench.runs(user: 3, connection: 4, isTrusted: true))
        #expect(bench.ran.isEmpty)
        end.signal()
        #expect(bench.runs(user: 1, connection: 1))
        #expect(bench.ran == ["waits"])
        try bench.shutDown()
    }

    @Test("once it is stopped, what waits does not run, nor what comes after")
    func stop() throws {
        let bench = Bench(threads: 2)
        let end = bench.hold(user: 1, connection: 1)
        for name in ["a1", "a2"] { bench.submit(name, user: 1, connection: 1) }
        bench.queue.stop()
        bench.submit("late", user: 2, connection: 2)
        end.signal()
        // Waits for all that the threads have.
        try bench.shutDown()
        #expect(bench.ran.isEmpty, "\(bench.ran)")
    }
}
