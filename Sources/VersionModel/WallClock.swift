// The source of the time: the system, or a test that sets the clock.

import Glibc

/// A source of wall-clock time.
public protocol WallClock: Sendable {
    /// The moment of the call.
    func now() -> Timestamp

    /// Nanoseconds of a clock that no program sets and that runs while the system sleeps.
    func uptime() -> Int64
}

extension WallClock {
    /// The system's (`CLOCK_BOOTTIME`).
    public func uptime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec).nanoseconds
    }
}

/// The system's clock (`CLOCK_REALTIME`).
public struct SystemClock: WallClock {
    public init() {}

    public func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}
