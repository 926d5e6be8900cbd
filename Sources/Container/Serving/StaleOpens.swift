// Threads that were sent back to look a name up.

import Glibc
import Synchronization

/// The threads whose last open was answered with ESTALE. Lock order: last.
final class StaleOpens: Sendable {
    private static let most = 256
    private let threads = RankedMutex<[pid_t: Int64]>([:])

    /// The kernel looks the name up again after the first ESTALE, and hands the second to the program.
    /// - Parameter patience: how long the open may have waited since, in nanoseconds as `now`, which only goes forward.
    /// - Returns: whether it is the second of this thread.
    func isSecond(_ thread: pid_t, now: Int64, patience: Int64) -> Bool {
        threads.withLock { threads in
            if let first = threads.removeValue(forKey: thread), now - first < patience { return true }
            if threads.count >= Self.most { threads = [:] }
            threads[thread] = now
            return false
        }
    }

    /// The thread has opened the file that it has looked up.
    func settled(_ thread: pid_t) { threads.withLock { if !$0.isEmpty { $0[thread] = nil } } }
}
