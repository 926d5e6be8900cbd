// Times as text, in both directions.

import ControlProtocol
import Glibc
import Testing

@Suite("Times as text")
struct TimeTextTests {
    @Test("RFC 3339 in UTC with nanoseconds", arguments: [
        (Int64(0), "1970-01-01T00:00:00.000000000Z"),
        (1_795_257_192_345_678_901, "2026-11-21T10:33:12.345678901Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
        (Int64.max, "2262-04-11T23:47:16.854775807Z"),
        (Int64.min, "1677-09-21T00:12:43.145224192Z"),
    ])
    func formats(nanoseconds: Int64, text: String) {
        #expect(TimeText.rfc3339(nanoseconds: nanoseconds) == text)
    }

    @Test("every moment survives the way to text and back, the ends of the range as well")
    func roundTrip() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let moment = Int64.random(in: (.min + 2_000_000_000)...Int64.max, using: &generator)
            #expect(TimeText.parseRFC3339(TimeText.rfc3339(nanoseconds: moment)) == moment)
        }
        #expect(TimeText.parseRFC3339(TimeText.rfc3339(nanoseconds: .max)) == .max)
    }

    @Test("offsets, short and long fractions are read", arguments: [
        ("2026-11-21T10:33:12Z", "2026-11-21T10:33:12.000000000Z"),
        ("2026-11-21t10:33:12.5z", "2026-11-21T10:33:12.500000000Z"),
        ("2026-11-21T10:33:12.1234567899+02:00", "2026-11-21T08:33:12.123456789Z"),
        ("2026-01-01T00:00:00-05:30", "2026-01-01T05:30:00.000000000Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000000000Z"),
    ])
    func parses(text: String, meaning: String) {
        #expect(TimeText.parseRFC3339(text).map { TimeText.rfc3339(nanoseconds: $0) } == meaning)
    }

    @Test("what is no time is refused", arguments: [
        "", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T10:33:12.Z", "2026-11-21T10:33:12+2", "9999-12-31T23:59:59Z", "2026-11-21T10:33:12Zjunk",
        "-1h", "h", "1y", "99999999999999999999s", "٢h", "21.11.2026",
    ])
    func refuses(text: String) {
        #expect(TimeText.parse(text, now: 0) == nil)
    }

    @Test("ages count back from now", arguments: [
        ("2h", Int64(7200)), ("90s", 90), ("15m", 900), ("30d", 2_592_000), ("1w", 604_800), ("0s", 0),
    ])
    func ages(text: String, seconds: Int64) {
        let now: Int64 = 1_795_257_192_345_678_901
        #expect(TimeText.parse(text, now: now) == now - seconds * 1_000_000_000)
    }

    @Test(
        "a time without a zone is local",
        arguments: ["2026-11-21 10:33", "2026-11-21T10:33:00", "2026-11-21 10:33:00.0"])
    func local(text: String) throws {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour, parts.tm_min) = (126, 10, 21, 10, 33)
        parts.tm_isdst = -1
        let expected = Int64(mktime(&parts)) * 1_000_000_000
        let moment = try #require(TimeText.parse(text, now: 0))
        #expect(moment == expected)
        #expect(TimeText.local(nanoseconds: moment) == "2026-11-21 10:33:00")
    }
}
