// Dates and times of day in digits.

/// A date and a time of day without a time zone.
struct WallTime {
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
struct TimeScanner {
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

    /// `2026-11-21T10:33:12.5`, or with a space instead of the `T`.
    mutating func wallTime() -> WallTime? {
        guard var wall = date(), take(84) || take(116) || take(32), let hour = number(2), take(58),
            let minute = number(2), hour < 24, minute < 60, take(58), let rest = secondsAndFraction()
        else { return nil }
        wall.secondOfDay = hour * 3600 + minute * 60 + rest.seconds
        wall.fraction = rest.fraction
        return wall
    }

    /// `2026-11-21`.
    mutating func date() -> WallTime? {
        guard let year = number(4), take(45), let month = number(2), take(45), let day = number(2),
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        return WallTime(year: year, month: month, day: day)
    }

    /// A number of one or two digits.
    mutating func shortNumber() -> Int64? { number(2) ?? number(1) }

    /// `12` or `12.5`.
    mutating func secondsAndFraction() -> (seconds: Int64, fraction: Int64)? {
        guard let seconds = number(2), seconds <= 60 else { return nil }
        // A leap second has no number of its own.
        guard take(46) else { return (min(seconds, 59), 0) }
        return fraction().map { (min(seconds, 59), $0) }
    }

    private mutating func fraction() -> Int64? {
        let digits = rest.prefix { (48...57).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        var value = digits.prefix(9).reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
        for _ in digits.prefix(9).count..<9 { value *= 10 }
        return value
    }

    static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }
}
