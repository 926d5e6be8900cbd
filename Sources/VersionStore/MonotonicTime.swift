// Waits on pthread conditions until a time of a clock that no program sets.

import CLinux
import Glibc

/// Nanoseconds of CLOCK_MONOTONIC.
enum MonotonicTime {
    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Makes a condition whose timed waits use this clock.
    static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    /// Called with `mutex` held.
    static func wait(
        on condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
        until deadline: Int
    ) {
        var time = timespec(tv_sec: deadline / 1_000_000_000, tv_nsec: deadline % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &time)
    }
}
