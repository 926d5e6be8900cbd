// Converts between moments and local time, in the time zone of this process.

import Glibc

/// The local clock. Local seconds count like UTC seconds of the same digits.
enum LocalClock {
    /// The seconds that local time is ahead of UTC at a moment; 0 if the system does not know.
    static func offset(at seconds: Int64) -> Int64 {
        var clock = time_t(seconds)
        var parts = tm()
        guard localtime_r(&clock, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    /// The moment of a local time. A time that occurs twice is the earlier one. A skipped time is moved past the gap
    /// (2:30 is 3:30 where the clock goes from 2:00 to 3:00).
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
