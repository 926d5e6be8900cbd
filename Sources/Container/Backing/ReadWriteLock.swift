// A lock that many may read and one may write under. Swift's Synchronization has none.

import Glibc

/// Guards the names of the live tree: look-ups share it, whatever changes a name holds it alone.
/// Order: before every other lock of the module; never held while contents are copied.
final class ReadWriteLock: @unchecked Sendable {
    // The pthread object may not move, hence the allocation; it is only touched through the functions below.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_rwlock_t())
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    func reading<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    func writing<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// As ``writing(_:)`` if nobody has the lock, this thread included; nil otherwise.
    func writingIfFree<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result? {
        guard pthread_rwlock_trywrlock(lock) == 0 else { return nil }
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }
}
