// Times as text: RFC 3339 in UTC with nanoseconds for programs, and local time for users.

import Glibc

/// Writes and reads moments given in nanoseconds since 1970-01-01T00:00:00Z; needs no calendar library.
public enum TimeText {
    static let second: Int64 = 1_000_000_000

    /// `2026-11-21T10:33:12.345678901Z`.
    public static func rfc3339(nanoseconds: Int64) -> String {
        let (seconds, fraction) = split(nanoseconds)
        let (year, month, day) = civil(daysSinceEpoch: floorDivide(seconds, 86_400))
        let rest = seconds - floorDivide(seconds, 86_400) * 86_400
        let date = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
        return "\(date)T\(pad(rest / 3600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2)).\(pad(fraction, 9))Z"
    }

    /// Reads RFC 3339 with `Z` or an offset, and a fraction of any length (in nanosecond precision); nil for other
    /// text.
    public static func parseRFC3339(_ text: some StringProtocol) -> Int64? {
        var scanner = TimeScanner(text)
        guard let wall = scanner.wallTime() else { return nil }
        let offset: Int64
        if scanner.take(90) || scanner.take(122) {
            offset = 0
        } else {
            guard let sign = scanner.sign(), let hours = scanner.number(2), scanner.take(58),
                let minutes = scanner.number(2), hours < 24, minutes < 60
            else { return nil }
            offset = sign * (hours * 3600 + minutes * 60)
        }
        guard scanner.isAtEnd else { return nil }
        return nanoseconds(seconds: wall.secondsAsUTC - offset, fraction: wall.fraction)
    }

    /// Reads a user's time: RFC 3339, or a form of ``TypedMoment``. Nil for other text.
    /// - Parameter now: in nanoseconds; ages and words such as `yesterday` are relative to it.
    public static func parse(_ text: some StringProtocol, now: Int64) -> Int64? {
        parseRFC3339(text) ?? TypedMoment(now: now).nanoseconds(of: text)
    }

    /// The moment in local time: `2026-11-21 10:33:12`.
    public static func local(nanoseconds: Int64) -> String {
        var clock = time_t(split(nanoseconds).seconds)
        var parts = tm()
        guard localtime_r(&clock, &parts) != nil else { return rfc3339(nanoseconds: nanoseconds) }
        let date =
            "\(pad(Int64(parts.tm_year) + 1900, 4))-\(pad(Int64(parts.tm_mon) + 1, 2))-\(pad(Int64(parts.tm_mday), 2))"
        return "\(date) \(pad(Int64(parts.tm_hour), 2)):\(pad(Int64(parts.tm_min), 2)):\(pad(Int64(parts.tm_sec), 2))"
    }

    // MARK: - Parts

    static func split(_ nanoseconds: Int64) -> (seconds: Int64, fraction: Int64) {
        let seconds = floorDivide(nanoseconds, second)
        // Wrapping is right at the low end of Int64, where `seconds * second` itself would overflow.
        return (seconds, nanoseconds &- seconds &* second)
    }

    static func nanoseconds(seconds: Int64, fraction: Int64) -> Int64? {
        let (product, over) = seconds.multipliedReportingOverflow(by: second)
        let (sum, more) = product.addingReportingOverflow(fraction)
        return over || more ? nil : sum
    }

    static func floorDivide(_ left: Int64, _ right: Int64) -> Int64 {
        left >= 0 ? left / right : -((-(left + 1)) / right) - 1
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Howard Hinnant's `civil_from_days`.
    static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
