// Times as text: RFC 3339 in UTC with nanoseconds for programs, and the forms that people type (DESIGN 3.3).

import Glibc

/// Writes and reads moments given in nanoseconds since 1970-01-01T00:00:00Z; needs no calendar library.
public enum TimeText {
    private static let second: Int64 = 1_000_000_000

    /// `2026-11-21T10:33:12.345678901Z`.
    public static func rfc3339(nanoseconds: Int64) -> String {
        let (seconds, fraction) = split(nanoseconds)
        let (year, month, day) = civil(daysSinceEpoch: floorDivide(seconds, 86_400))
        let rest = seconds - floorDivide(seconds, 86_400) * 86_400
        let date = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
        return "\(date)T\(pad(rest / 3600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2)).\(pad(fraction, 9))Z"
    }

    /// Reads RFC 3339 with `Z` or an offset, and a fraction of any length (nanoseconds count); nil for anything else.
    public static func parseRFC3339(_ text: some StringProtocol) -> Int64? {
        var scanner = Scanner(text)
        guard let wall = scanner.wallClock(separators: [84, 116, 32]) else { return nil }
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

    /// Reads what people type: RFC 3339, `2026-11-21 10:33` (local; seconds, `T` and the time of day are optional), or
    /// an age such as `2h` (units s, m, h, d, w; before `now`). Nil for anything else.
    public static func parse(_ text: some StringProtocol, now: Int64) -> Int64? {
        if let moment = parseRFC3339(text) { return moment }
        if let age = parseDuration(text) {
            let (moment, over) = now.subtractingReportingOverflow(age)
            return over ? nil : moment
        }
        return parseLocal(text)
    }

    /// Reads `90s`, `15m`, `2h`, `30d` or `4w` as nanoseconds; nil for anything else.
    public static func parseDuration(_ text: some StringProtocol) -> Int64? {
        let units: [UInt8: Int64] = [115: 1, 109: 60, 104: 3600, 100: 86_400, 119: 604_800]
        let bytes = Array(text.utf8)
        guard let last = bytes.last, let unit = units[last], bytes.count > 1,
            bytes.dropLast().allSatisfy({ (48...57).contains($0) }),
            let count = Int64(String(decoding: bytes.dropLast(), as: UTF8.self))
        else { return nil }
        let (seconds, over) = count.multipliedReportingOverflow(by: unit)
        let (result, more) = seconds.multipliedReportingOverflow(by: second)
        return over || more ? nil : result
    }

    /// The moment as the local clock shows it: `2026-11-21 10:33:12`.
    public static func local(nanoseconds: Int64) -> String {
        var clock = time_t(split(nanoseconds).seconds)
        var parts = tm()
        guard localtime_r(&clock, &parts) != nil else { return rfc3339(nanoseconds: nanoseconds) }
        let date =
            "\(pad(Int64(parts.tm_year) + 1900, 4))-\(pad(Int64(parts.tm_mon) + 1, 2))-\(pad(Int64(parts.tm_mday), 2))"
        return "\(date) \(pad(Int64(parts.tm_hour), 2)):\(pad(Int64(parts.tm_min), 2)):\(pad(Int64(parts.tm_sec), 2))"
    }

    // MARK: - Parts

    private static func parseLocal(_ text: some StringProtocol) -> Int64? {
        var scanner = Scanner(text)
        guard let wall = scanner.wallClock(separators: [84, 116, 32], timeIsOptional: true), scanner.isAtEnd
        else { return nil }
        var parts = tm()
        parts.tm_year = Int32(truncatingIfNeeded: wall.year - 1900)
        parts.tm_mon = Int32(truncatingIfNeeded: wall.month - 1)
        parts.tm_mday = Int32(truncatingIfNeeded: wall.day)
        parts.tm_hour = Int32(truncatingIfNeeded: wall.secondOfDay / 3600)
        parts.tm_min = Int32(truncatingIfNeeded: wall.secondOfDay / 60 % 60)
        parts.tm_sec = Int32(truncatingIfNeeded: wall.secondOfDay % 60)
        parts.tm_isdst = -1
        return nanoseconds(seconds: Int64(mktime(&parts)), fraction: wall.fraction)
    }

    private static func split(_ nanoseconds: Int64) -> (seconds: Int64, fraction: Int64) {
        let seconds = floorDivide(nanoseconds, second)
        // Wrapping is right at the low end of Int64, where `seconds * second` itself would overflow.
        return (seconds, nanoseconds &- seconds &* second)
    }

    private static func nanoseconds(seconds: Int64, fraction: Int64) -> Int64? {
        let (product, over) = seconds.multipliedReportingOverflow(by: second)
        let (sum, more) = product.addingReportingOverflow(fraction)
        return over || more ? nil : sum
    }

    fileprivate static func floorDivide(_ left: Int64, _ right: Int64) -> Int64 {
        left >= 0 ? left / right : -((-(left + 1)) / right) - 1
    }

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Howard Hinnant's `civil_from_days`.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

    /// A date and a time of day as written, of no particular zone.
    fileprivate struct WallClock {
        var year: Int64
        var month: Int64
        var day: Int64
        var secondOfDay: Int64 = 0
        var fraction: Int64 = 0

        /// Howard Hinnant's `days_from_civil`.
        var secondsAsUTC: Int64 {
            let shiftedYear = month <= 2 ? year - 1 : year
            let era = TimeText.floorDivide(shiftedYear, 400)
            let yearOfEra = shiftedYear - era * 400
            let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
            let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            return (era * 146_097 + dayOfEra - 719_468) * 86_400 + secondOfDay
        }
    }

    /// Reads fixed-width numbers from ASCII text.
    fileprivate struct Scanner {
        private var rest: ArraySlice<UInt8>

        init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy({ (48...57).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return part.reduce(0) { $0 * 10 + Int64($1 - 48) }
        }

        mutating func sign() -> Int64? {
            if take(43) { return 1 }
            return take(45) ? -1 : nil
        }

        mutating func wallClock(separators: [UInt8], timeIsOptional: Bool = false) -> WallClock? {
            guard let year = number(4), take(45), let month = number(2), take(45), let day = number(2),
                (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
            else { return nil }
            var clock = WallClock(year: year, month: month, day: day)
            if timeIsOptional, isAtEnd { return clock }
            guard let first = rest.first, separators.contains(first) else { return nil }
            rest = rest.dropFirst()
            guard let hour = number(2), take(58), let minute = number(2), hour < 24, minute < 60 else { return nil }
            clock.secondOfDay = hour * 3600 + minute * 60
            if take(58) {
                guard let seconds = number(2), seconds <= 60 else { return nil }
                clock.secondOfDay += min(seconds, 59)  // A leap second has no number of its own.
                if take(46) {
                    guard let fraction = fraction() else { return nil }
                    clock.fraction = fraction
                }
            } else if !timeIsOptional {
                return nil
            }
            return clock
        }

        private mutating func fraction() -> Int64? {
            let digits = rest.prefix { (48...57).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            var value = digits.prefix(9).reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
            for _ in digits.prefix(9).count..<9 { value *= 10 }
            return value
        }

        private static func days(in month: Int64, of year: Int64) -> Int64 {
            switch month {
            case 4, 6, 9, 11: 30
            case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
            default: 31
            }
        }
    }
}
