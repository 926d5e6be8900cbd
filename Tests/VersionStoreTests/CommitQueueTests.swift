// The queue in front of a catalog, with one that fails as a test wants it.

import Dispatch
import Lineage
import Support
import Synchronization
import Testing
import VersionModel

@testable import VersionStore

@Suite("The queue of transactions", .timeLimit(.minutes(1)))
struct CommitQueueTests {
    private struct Failure: Error {}

    /// Its first commit fails. Each time that it is given transactions from then on, another one comes.
    private final class BusyTarget: CommitTarget {
        typealias Call = FactTransaction

        let queue = Mutex<CommitQueue<BusyTarget>?>(nil)
        /// When the first commit failed; 0 before.
        private let failed = Atomic<Int>(0)
        private let triedAgain = Atomic<Int>(0)
        let hasTriedAgain = DispatchSemaphore(value: 0)

        /// The time between the failure and the next try.
        var pause: Int { triedAgain.load(ordering: .relaxed) - failed.load(ordering: .relaxed) }
        private static let longest = 3_000_000_000

        func stage(_ calls: ArraySlice<FactTransaction>, applied: UInt64) throws -> [Int] {
            let failed = failed.load(ordering: .relaxed)
            if failed != 0, triedAgain.load(ordering: .relaxed) == 0, MonotonicTime.now() < failed + Self.longest {
                queue.withLock(\.self)?.commit(CommitQueueTests.transaction)
            }
            return [calls.count]
        }

        func commitStaged() throws {
            guard failed.load(ordering: .relaxed) == 0 else { return }
            failed.store(MonotonicTime.now(), ordering: .relaxed)
            throw Failure()
        }

        func commitOrStage(
            _ calls: ArraySlice<FactTransaction>, applied: UInt64
        ) -> (failure: any Error, told: [Int]?)? {
            triedAgain.store(MonotonicTime.now(), ordering: .relaxed)
            hasTriedAgain.signal()
            return nil
        }

        func makeDurable() {}
        func settleLog(_ rows: Int) {}
    }

    fileprivate static let transaction = FactTransaction([.settle(VersionNumber(1))])

    @Test("A failed commit is tried again in time, though more comes all the while")
    func busy() {
        let target = BusyTarget()
        let told = Mutex(0)
        let queue = CommitQueue(catalog: target, redo: nil, applied: 0, logger: Fixture.quiet) { counts in
            told.withLock { $0 += counts.reduce(0, +) }
        }
        target.queue.withLock { $0 = queue }
        queue.start()
        queue.commit(Self.transaction)
        target.hasTriedAgain.wait()
        queue.stop()
        target.queue.withLock { $0 = nil }
        #expect(target.pause > 0 && target.pause < 2_000_000_000, "\(target.pause) ns")
        #expect(!queue.isStuck && !queue.isRefusing)
        #expect(told.withLock(\.self) > 0)
    }
}
