// A mutex that knows its place in the order of locks.

import Synchronization

/// As `Mutex`, for a lock of docs/locks.md. In builds for tests it checks the order (``HeldLocks``); in others it is
/// its mutex and nothing more.
struct RankedMutex<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    #if CHECKS_LOCKS
    private let rank: LockRank
    #endif

    @inline(__always)
    init(_ value: consuming sending Value, _ rank: LockRank = .table) {
        mutex = Mutex(value)
        #if CHECKS_LOCKS
        self.rank = rank
        #endif
    }

    @inline(__always)
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        file: StaticString = #fileID, line: UInt = #line,
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if CHECKS_LOCKS
        let held = take(.checked, file, line)
        defer { held.drop() }
        #endif
        return try mutex.withLock(body)
    }

    /// For the exceptions to the order.
    /// - Parameter reason: why no thread can wait for this one, as docs/locks.md has it.
    @inline(__always)
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        outOfOrder reason: StaticString, file: StaticString = #fileID, line: UInt = #line,
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if CHECKS_LOCKS
        let held = take(.unchecked, file, line)
        defer { held.drop() }
        #endif
        return try mutex.withLock(body)
    }

    /// Only if it is free: without waiting, no order matters.
    @inline(__always)
    borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        file: StaticString = #fileID, line: UInt = #line,
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        #if CHECKS_LOCKS
        let held = take(.unchecked, file, line)
        defer { held.drop() }
        #endif
        return try mutex.withLockIfAvailable(body)
    }

    #if CHECKS_LOCKS
    private borrowing func take(_ order: HeldLocks.Order, _ file: StaticString, _ line: UInt) -> HeldLocks {
        let held = HeldLocks.ofThread
        held.take(.init(rank: rank, type: Value.self, isAlone: true, file: file, line: line), order)
        return held
    }
    #endif
}
