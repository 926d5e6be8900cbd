// Moments as text: RFC 3339, and the stamp in the names of versions. In UTC, without a library.

/// A moment's date and time of day in UTC, in the Gregorian calendar.
public struct CivilTime: Hashable, Sendable {
    public private(set) var year: Int64
    public private(set) var month: Int64
    public private(set) var day: Int64
    public private(set) var hour: Int64
    public private(set) var minute: Int64
    public private(set) var second: Int64
    public private(set) var nanosecond: Int64

    /// The date and time of a moment.
    public init(_ moment: Timestamp) {
        let (seconds, nanosecond) = Self.split(moment.nanoseconds, by: 1_000_000_000)
        let (days, rest) = Self.split(seconds, by: 86_400)
        (hour, minute, second, self.nanosecond) = (rest / 3600, rest / 60 % 60, rest % 60, nanosecond)
        // Counted from 1 March of year 0, so that the leap day is the last of a year; 146,097 days are 400 years.
        let (era, dayOfEra) = Self.split(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// A date and time from its fields; nil for an impossible moment, or one out of the range of ``Timestamp``.
    public init?(
        year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64, nanosecond: Int64 = 0
    ) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second, self.nanosecond) = (hour, minute, second, nanosecond)
        // A date that is not written the same way again is impossible: 31 June, hour 24.
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second), (0...999_999_999).contains(nanosecond),
            let moment = timestamp, CivilTime(moment) == self
        else { return nil }
    }

    /// The moment; nil outside the years 1677 to 2262.
    public var timestamp: Timestamp? {
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let (era, yearOfEra) = Self.split(month > 2 ? year : year - 1, by: 400)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        // Before 1970 the nanoseconds add the last second, so that the earliest moment does not overflow.
        let borrowed: Int64 = seconds < 0 ? 1 : 0
        let (product, over) = (seconds + borrowed).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, more) = product.addingReportingOverflow(nanosecond - borrowed * 1_000_000_000)
        return over || more ? nil : Timestamp(nanoseconds: sum)
    }

    /// Quotient and remainder, the remainder never negative.
    private static func split(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let remainder = value % divisor
        return remainder < 0 ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }

    fileprivate static func digits(_ value: Int64, _ width: Int) -> String {
        let text = String(max(0, value))
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

extension Timestamp {
    /// RFC 3339 in UTC with nanoseconds: `2026-11-21T10:33:12.345678901Z`.
    public var rfc3339: String {
        let time = CivilTime(self)
        return date(time) + "T"
            + [time.hour, time.minute, time.second].map { CivilTime.digits($0, 2) }.joined(separator: ":")
            + "." + CivilTime.digits(time.nanosecond, 9) + "Z"
    }

    /// The stamp in the names of versions, to the millisecond: `2026-11-21T10.33.12.345Z` (DESIGN 3.2).
    public var stamp: String {
        let time = CivilTime(self)
        return date(time) + "T"
            + [time.hour, time.minute, time.second].map { CivilTime.digits($0, 2) }.joined(separator: ".")
            + "." + CivilTime.digits(time.nanosecond / 1_000_000, 3) + "Z"
    }

    /// Reads a stamp; nil for other text.
    public init?(stamp: some StringProtocol) {
        var reader = DigitReader(stamp.utf8)
        guard let date = reader.takeDate(), reader.take("T"), let hour = reader.take(2), reader.take("."),
            let minute = reader.take(2), reader.take("."), let second = reader.take(2), reader.take("."),
            let millisecond = reader.take(3), reader.take("Z"), reader.isAtEnd,
            let time = CivilTime(
                year: date.year, month: date.month, day: date.day, hour: hour, minute: minute, second: second,
                nanosecond: millisecond * 1_000_000),
            let moment = time.timestamp
        else { return nil }
        self = moment
    }

    /// Reads RFC 3339: up to nine digits of a fraction, `Z` or an offset; a space may stand for the `T`. Leap seconds
    /// are refused.
    public init?(rfc3339 text: some StringProtocol) {
        var reader = DigitReader(text.utf8)
        guard let date = reader.takeDate(), reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.take(2), reader.take(":"), let minute = reader.take(2), reader.take(":"),
            let second = reader.take(2)
        else { return nil }
        var nanosecond: Int64 = 0
        if reader.take(".") {
            guard let fraction = reader.takeFraction() else { return nil }
            nanosecond = fraction
        }
        guard let offset = reader.takeOffset(), reader.isAtEnd,
            let time = CivilTime(
                year: date.year, month: date.month, day: date.day, hour: hour, minute: minute, second: second,
                nanosecond: nanosecond),
            let moment = time.timestamp
        else { return nil }
        self = moment.advanced(byNanoseconds: -offset * 60_000_000_000)
    }

    private func date(_ time: CivilTime) -> String {
        [CivilTime.digits(time.year, 4), CivilTime.digits(time.month, 2), CivilTime.digits(time.day, 2)]
            .joined(separator: "-")
    }
}

/// Takes digits and marks from the start of a text.
private struct DigitReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: some Sequence<UInt8>) { rest = Array(text)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: Character) -> Bool {
        guard let first = rest.first, first == mark.asciiValue else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func take(_ count: Int) -> Int64? {
        guard rest.count >= count, rest.prefix(count).allSatisfy(\.isDigit) else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 * 10 + Int64($1 - 48) }
    }

    mutating func takeDate() -> (year: Int64, month: Int64, day: Int64)? {
        guard let year = take(4), take("-"), let month = take(2), take("-"), let day = take(2) else { return nil }
        return (year, month, day)
    }

    /// One to nine digits after a point, as nanoseconds.
    mutating func takeFraction() -> Int64? {
        let count = rest.prefix { $0.isDigit }.count
        guard (1...9).contains(count), let digits = take(count) else { return nil }
        return (count..<9).reduce(digits) { value, _ in value * 10 }
    }

    /// `Z`, or hours and minutes east of Greenwich, as minutes.
    mutating func takeOffset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = take(2), take(":"), let minutes = take(2), hours < 24, minutes < 60
        else {
            return nil
        }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
