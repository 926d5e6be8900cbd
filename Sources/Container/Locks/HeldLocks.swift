// Checks that each thread takes its locks in the order of docs/locks.md: in debug builds, and in the release build that
// Tests/run makes (Package.swift).

#if CHECKS_LOCKS
import Glibc

/// The locks that a thread holds, in the order of taking.
final class HeldLocks {
    /// A lock with the place in the sources where it was taken.
    struct Taking {
        var rank: LockRank
        /// What the lock guards, or the lock itself.
        var type: Any.Type
        /// Whether no other thread shares it.
        var isAlone: Bool
        var file: StaticString
        var line: UInt

        var description: String { "\(String(reflecting: type)) (rank \(rank)), taken at \(file):\(line)" }
    }

    /// Whether a lock may be taken under those that are held.
    enum Order {
        case checked
        /// For an exception, with the reason in docs/locks.md: or for a lock that is taken only if it is free.
        case unchecked
    }

    private var takings: [Taking] = []

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key) { Unmanaged<HeldLocks>.fromOpaque($0!).release() } == 0)
        return key
    }()

    /// Those of the calling thread.
    static var ofThread: HeldLocks {
        if let known = pthread_getspecific(key) { return Unmanaged.fromOpaque(known).takeUnretainedValue() }
        let new = HeldLocks()
        pthread_setspecific(key, Unmanaged.passRetained(new).toOpaque())
        return new
    }

    /// Before the thread waits for a lock: one that would wait for ever is reported, too.
    func take(_ taking: Taking, _ order: Order) {
        if order == .checked, let held = takings.first(where: { !mayTake(taking, under: $0) }) {
            Self.end("\(taking.description), is taken under \(held.description): see docs/locks.md for the order")
        }
        takings.append(taking)
    }

    /// After the last lock that was taken was let go, or was not free.
    func drop() { takings.removeLast() }

    /// Ends the process. A test that has ended the daemon itself would not notice, so tests name a file for the report.
    private static func end(_ report: String) -> Never {
        let file = getenv("VERSIONSFS_LOCK_REPORTS").map { open($0, O_WRONLY | O_APPEND | O_CLOEXEC) } ?? -1
        if file >= 0 {
            let line = Array((report + "\n").utf8)
            _ = write(file, line, line.count)
        }
        // Unlike a failed precondition, this says why in release builds, too.
        fatalError(report)
    }

    private func mayTake(_ taking: Taking, under held: Taking) -> Bool {
        if held.rank < taking.rank { return true }
        // Two documents at once: no other thread can be between the two.
        let isSecondDocument = taking.rank == .document && held.rank == .document
        return isSecondDocument && takings.contains { $0.rank == .names && $0.isAlone }
    }
}
#endif
