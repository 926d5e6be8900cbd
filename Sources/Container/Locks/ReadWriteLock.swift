// A lock for many readers or one writer. Swift's Synchronization has none.

import Glibc

/// The proof that the names of the live tree are held alone. It cannot be copied, so it is not kept for longer than the
/// lock is. A function that needs the names held alone takes it as a parameter, instead of saying so.
struct NamesHeldAlone: ~Copyable {
    fileprivate init() {}
}

/// Guards the names of the live tree: look-ups share it, and a change of a name holds it alone. Order: before every
/// other lock of the module; never held during copies of contents.
final class ReadWriteLock: @unchecked Sendable {
    // The pthread object must not move, hence the allocation; only the functions below use it.
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

    @inline(__always)
    func reading<Result, Failure: Error>(
        file: StaticString = #fileID, line: UInt = #line, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        #if CHECKS_LOCKS
        let held = take(isAlone: false, file, line)
        defer { held.drop() }
        #endif
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    @inline(__always)
    func writing<Result, Failure: Error>(
        file: StaticString = #fileID, line: UInt = #line, _ body: (borrowing NamesHeldAlone) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        #if CHECKS_LOCKS
        let held = take(isAlone: true, file, line)
        defer { held.drop() }
        #endif
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(NamesHeldAlone())
    }

    /// The same as ``writing(_:)`` if no thread has the lock, this one included; nil otherwise.
    @inline(__always)
    func writingIfFree<Result, Failure: Error>(
        file: StaticString = #fileID, line: UInt = #line, _ body: (borrowing NamesHeldAlone) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard pthread_rwlock_trywrlock(lock) == 0 else { return nil }
        defer { pthread_rwlock_unlock(lock) }
        #if CHECKS_LOCKS
        let held = take(isAlone: true, file, line, .unchecked)
        defer { held.drop() }
        #endif
        return try body(NamesHeldAlone())
    }

    #if CHECKS_LOCKS
    private func take(
        isAlone: Bool, _ file: StaticString, _ line: UInt, _ order: HeldLocks.Order = .checked
    ) -> HeldLocks {
        let held = HeldLocks.ofThread
        held.take(.init(rank: .names, type: Self.self, isAlone: isAlone, file: file, line: line), order)
        return held
    }
    #endif
}
