// Times in the forms that users type: ages, days and times of day (DESIGN 3.3).

/// Reads `10m`, `5 minutes ago`, `yesterday 17:00`, `monday`, `17:00` or `2026-11-21 10:33`, in local time.
///
/// - Seconds to weeks are elapsed time; months and years follow the calendar.
/// - `yesterday` and the name of a day mean the present time on that day; `today` and a date mean the start of the day.
/// - The name of a day is the last such day before today. A time of day alone is its last occurrence.
struct TypedMoment {
    private let now: Int64
    private let fraction: Int64
    /// The present local time.
    private let wall: Int64

    private static let day: Int64 = 86_400

    /// - Parameter now: in nanoseconds since 1970.
    init(now: Int64) {
        self.now = now
        let (seconds, fraction) = TimeText.split(now)
        self.fraction = fraction
        wall = seconds + LocalClock.offset(at: seconds)
    }

    /// The moment in nanoseconds; nil for invalid text.
    func nanoseconds(of text: some StringProtocol) -> Int64? {
        var words = Self.words(text)
        guard !words.isEmpty else { return nil }
        if words == ["now"] { return now }
        return age(words) ?? dayAndTime(&words)
    }

    // MARK: - Words

    /// The lower-case words. Digits and letters in one word are separate words: `10m`, `5pm`.
    private static func words(_ text: some StringProtocol) -> [String] {
        text.lowercased().split { $0 == " " || $0 == "\t" }.flatMap { word -> [String] in
            let bytes = Array(word.utf8)
            // A date and a time in one: `2026-11-21t10:33`.
            if bytes.count > 11, bytes[10] == 116 {
                return [bytes.prefix(10), bytes.dropFirst(11)].map { String(decoding: $0, as: UTF8.self) }
            }
            var parts: [[UInt8]] = []
            for byte in bytes {
                if let last = parts.last?.last, isLetter(last) == isLetter(byte) {
                    parts[parts.count - 1].append(byte)
                } else {
                    parts.append([byte])
                }
            }
            return parts.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte) }

    private static func number(_ word: String) -> Int64? {
        if word == "a" || word == "an" || word == "one" { return 1 }
        guard word.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(word)
    }

    // MARK: - Ages

    private enum Unit {
        case seconds(Int64)
        case months(Int64)

        init?(_ word: String) {
            switch word {
            case "s", "sec", "secs", "second", "seconds": self = .seconds(1)
            case "m", "min", "mins", "minute", "minutes": self = .seconds(60)
            case "h", "hr", "hrs", "hour", "hours": self = .seconds(3600)
            case "d", "day", "days": self = .seconds(TypedMoment.day)
            case "w", "week", "weeks": self = .seconds(7 * TypedMoment.day)
            case "month", "months": self = .months(1)
            case "year", "years": self = .months(12)
            default: return nil
            }
        }
    }

    /// `10m`, `1h 30m`, `5 minutes ago`, `an hour ago`, `last week`.
    private func age(_ words: [String]) -> Int64? {
        var words = words[...]
        if words.count == 2, words.first == "last" {
            words = ["1", words[1]]
        } else if words.count > 2, words.last == "ago" {
            words = words.dropLast()
        }
        var (seconds, months): (Int64, Int64) = (0, 0)
        guard words.count.isMultiple(of: 2) else { return nil }
        while let first = words.popFirst(), let second = words.popFirst() {
            guard let number = Self.number(first), let unit = Unit(second) else { return nil }
            switch unit {
            case .seconds(let length): guard Self.add(number, length, to: &seconds) else { return nil }
            case .months(let length): guard Self.add(number, length, to: &months) else { return nil }
            }
        }
        let (elapsed, over) = seconds.multipliedReportingOverflow(by: TimeText.second)
        guard !over, let start = months == 0 ? now : before(months: months) else { return nil }
        let (moment, isTooFar) = start.subtractingReportingOverflow(elapsed)
        return isTooFar ? nil : moment
    }

    private static func add(_ number: Int64, _ length: Int64, to sum: inout Int64) -> Bool {
        let (product, over) = number.multipliedReportingOverflow(by: length)
        let (total, more) = sum.addingReportingOverflow(product)
        sum = total
        return !over && !more
    }

    /// The present time on the same day some months ago, or on the last day of a shorter month.
    private func before(months: Int64) -> Int64? {
        let today = TimeText.civil(daysSinceEpoch: TimeText.floorDivide(wall, Self.day))
        let (sum, over) = (today.year * 12 + today.month - 1).subtractingReportingOverflow(months)
        guard !over, sum > -1_000_000 else { return nil }
        let year = TimeText.floorDivide(sum, 12)
        let month = sum - year * 12 + 1
        let day = min(today.day, TimeScanner.days(in: month, of: year))
        let past = WallTime(year: year, month: month, day: day, secondOfDay: secondOfDay)
        return moment(wall: past.secondsAsUTC, fraction: fraction)
    }

    // MARK: - Days and times of day

    private var secondOfDay: Int64 { wall - TimeText.floorDivide(wall, Self.day) * Self.day }

    /// The start of the day in local time, and the default time of day.
    private typealias Day = (start: Int64, standard: (seconds: Int64, fraction: Int64))

    /// `yesterday`, `17:00`, or both in either order.
    private func dayAndTime(_ words: inout [String]) -> Int64? {
        var rest = words[...]
        let early = takeTime(&rest)
        let day = takeDay(&rest)
        if day != nil, early == nil, rest.first == "at" { rest = rest.dropFirst() }
        let time = early ?? takeTime(&rest)
        guard rest.isEmpty else { return nil }
        if let day {
            let (seconds, fraction) = time ?? day.standard
            return moment(wall: day.start + seconds, fraction: fraction)
        }
        guard let time else { return nil }
        let today = wall - secondOfDay + time.seconds
        guard let moment = moment(wall: today, fraction: time.fraction) else { return nil }
        return moment <= now ? moment : self.moment(wall: today - Self.day, fraction: time.fraction)
    }

    private func takeDay(_ words: inout ArraySlice<String>) -> Day? {
        guard let first = words.first else { return nil }
        let today = wall - secondOfDay
        var scanner = TimeScanner(first)
        if let date = scanner.date(), scanner.isAtEnd {
            words = words.dropFirst()
            return (date.secondsAsUTC, (0, 0))
        }
        let isLast = first == "last" && words.count > 1
        let word = isLast ? words[words.startIndex + 1] : first
        let result: Day
        if let weekday = Self.weekday(word) {
            // 1 January 1970 was a Thursday.
            let days = TimeText.floorDivide(today, Self.day)
            let weekdayToday = days + 4 - TimeText.floorDivide(days + 4, 7) * 7
            let back = (weekdayToday - weekday + 6) % 7 + 1
            result = (today - back * Self.day, (secondOfDay, fraction))
        } else if word == "today", !isLast {
            result = (today, (0, 0))
        } else if word == "yesterday", !isLast {
            result = (today - Self.day, (secondOfDay, fraction))
        } else {
            return nil
        }
        words = words.dropFirst(isLast ? 2 : 1)
        return result
    }

    /// 0 for Sunday.
    private static func weekday(_ word: String) -> Int64? {
        let names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
        let short = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        return (names.firstIndex(of: word) ?? short.firstIndex(of: word)).map { Int64($0) }
    }

    /// `9:15`, `17:00:30.5`, `5pm`, `5:30 pm`, `noon`, `midnight`.
    private func takeTime(_ words: inout ArraySlice<String>) -> (seconds: Int64, fraction: Int64)? {
        guard let first = words.first else { return nil }
        if first == "noon" || first == "midnight" {
            words = words.dropFirst()
            return (first == "noon" ? Self.day / 2 : 0, 0)
        }
        let half = words.dropFirst().first.flatMap { $0 == "am" ? 0 : $0 == "pm" ? Self.day / 2 : nil }
        var scanner = TimeScanner(first)
        guard var hour = scanner.shortNumber() else { return nil }
        var (minute, rest): (Int64, (seconds: Int64, fraction: Int64)) = (0, (0, 0))
        if scanner.take(58) {
            guard let number = scanner.number(2), number < 60 else { return nil }
            minute = number
            if scanner.take(58) {
                guard let seconds = scanner.secondsAndFraction() else { return nil }
                rest = seconds
            }
        } else if half == nil {
            return nil
        }
        guard scanner.isAtEnd, half == nil ? hour < 24 : (1...12).contains(hour) else { return nil }
        if half != nil { hour %= 12 }
        words = words.dropFirst(half == nil ? 1 : 2)
        return (hour * 3600 + minute * 60 + rest.seconds + (half ?? 0), rest.fraction)
    }

    private func moment(wall: Int64, fraction: Int64) -> Int64? {
        LocalClock.seconds(wall: wall).flatMap { TimeText.nanoseconds(seconds: $0, fraction: fraction) }
    }
}
