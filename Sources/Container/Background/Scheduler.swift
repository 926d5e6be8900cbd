// Runs actions later, on a separate thread that sleeps until the first of them is due.

import CLinux
import Collections
import Glibc
import HeapModule

/// A list of actions and their times. Lock order: last; no action runs under the lock.
final class Scheduler: @unchecked Sendable {
    fileprivate struct Entry: Comparable {
        var due: Int64
        var number: UInt64
        var work: @Sendable () -> Void
    }

    // A condition variable with a deadline needs pthread's own lock; `entries`, `next` and `isEnded` are used only
    // under it. The objects must not move, hence the allocations.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var entries = Heap<Entry>()
    private var next: UInt64 = 0
    private var isEnded = false
    private let isPatient: Bool
    private var thread: pthread_t?

    /// - Parameter isPatient: whether threads that serve requests have precedence over its thread.
    init(isPatient: Bool = false) {
        self.isPatient = isPatient
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        changed.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Nanoseconds of a clock that is never set.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Starts the thread. Balanced by ``end()``.
    func start() {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Scheduler>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        guard result == 0 else { return context.release() }
        self.thread = thread
    }

    /// Has something done after so many nanoseconds.
    func after(_ delay: Int64, _ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        guard !isEnded else { return }
        let entry = Entry(due: Self.now + max(0, delay), number: next, work: work)
        // Only what is due before all else changes how long the thread may sleep.
        let isFirst = entries.min.map { entry < $0 } ?? true
        entries.insert(entry)
        next += 1
        if isFirst { pthread_cond_signal(changed) }
    }

    /// Drops waiting actions and waits for the running one.
    func end() {
        pthread_mutex_lock(lock)
        isEnded = true
        entries = Heap()
        pthread_cond_signal(changed)
        pthread_mutex_unlock(lock)
        if let thread { pthread_join(thread, nil) }
        thread = nil
    }

    private func run() {
        if isPatient { linux_be_batch() }
        pthread_mutex_lock(lock)
        while !isEnded {
            guard let first = entries.min else {
                pthread_cond_wait(changed, lock)
                continue
            }
            if first.due > Self.now {
                var deadline = timespec(
                    tv_sec: Int(first.due / 1_000_000_000), tv_nsec: Int(first.due % 1_000_000_000))
                pthread_cond_timedwait(changed, lock, &deadline)
                continue
            }
            guard let work = entries.popMin()?.work else { continue }
            pthread_mutex_unlock(lock)
            work()
            pthread_mutex_lock(lock)
        }
        pthread_mutex_unlock(lock)
    }
}

extension Scheduler.Entry {
    fileprivate static func < (left: Self, right: Self) -> Bool { (left.due, left.number) < (right.due, right.number) }
    fileprivate static func == (left: Self, right: Self) -> Bool { left.number == right.number }
}
