// Between moments and what the clock on the wall shows, by the time zone of this process.

import Glibc

/// The local clock. Its seconds are those of a day on the wall, counted as if it hung in UTC.
enum LocalClock {
    /// Seconds that the wall is ahead of UTC at a moment; 0 where the system cannot tell.
    static func offset(at seconds: Int64) -> Int64 {
        var clock = time_t(seconds)
        var parts = tm()
        guard localtime_r(&clock, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    /// The moment at which the wall shows a time. A time that it shows twice is the earlier one; for a time that it
    /// skips, it shows the same time past the gap (2:30 is 3:30 where the clock goes from 2:00 to 3:00).
    static func seconds(wall: Int64) -> Int64? {
        let day: Int64 = 86_400
        guard wall > .min + 2 * day, wall < .max - 2 * day else { return nil }
        let before = offset(at: wall - day)
        let after = offset(at: wall + day)
        let early = wall - before
        if before == after || offset(at: early) == before { return early }
        let late = wall - after
        return offset(at: late) == after ? late : early
    }
}
