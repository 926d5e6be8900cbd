// Times as people write them, in several time zones: each zone in a process of its own, for it belongs to a process.

import ControlProtocol
import Glibc
import Testing

@Suite("Times as people write them")
struct TypedMomentTests {
    @Test("ages, days and times of day")
    func words() async {
        await #expect(processExitsWith: .success) { expectTimes(MomentTable.words, zone: MomentTable.berlin) }
    }

    @Test("the clock is put forward and back")
    func clockChanges() async {
        await #expect(processExitsWith: .success) { expectTimes(MomentTable.changes, zone: MomentTable.berlin) }
    }

    @Test("west of Greenwich, and where the day is another one than in UTC")
    func west() async {
        await #expect(processExitsWith: .success) { expectTimes(MomentTable.west, zone: "EST5EDT,M3.2.0,M11.1.0") }
    }

    @Test("what is no time is refused", arguments: [
        "", " ", "ago", "minutes", "5", "10", "5 parsecs ago", "five minutes ago", "-5m", "5m ago ago", "ago 5m", "m5",
        "yesterday-ish", "yestoday", "tomorrow", "yesterday yesterday", "yesterday today", "17:00 18:00", "25:00",
        "17:60", "17:0", "17:", ":30", "13pm", "0am", "pm", "5 pm pm", "noon pm", "last", "last yesterday",
        "last today", "monday ago", "2026-11-31", "2026-11-21 monday", "2026-11-21T", "2026-11-21t25:00", "26-11-21",
        "2026-1-1", "now 5m", "at 17:00", "17:00:61", "17:00:00.", "5m yesterday", "99999999999999999999m",
        "9999999999999999w", "9999999999999999 months ago", "400 years ago", "9223372036854775807 years", "9999-01-01",
        "½h", "1y",
    ])
    func refuses(text: String) {
        #expect(TimeText.parse(text, now: 1_795_257_192_345_678_901) == nil)
    }
}

/// A time that is typed at a moment, and the moment that it means.
struct TypedAt {
    var now: String
    var text: String
    var meaning: String

    init(_ now: String, _ text: String, _ meaning: String) {
        (self.now, self.text, self.meaning) = (now, text, meaning)
    }
}

enum MomentTable {
    static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    /// A Wednesday.
    static let words: [TypedAt] = [
        ("10m", "2026-11-25T16:32:10.5+01:00"), ("2h", "2026-11-25T14:42:10.5+01:00"),
        ("90s", "2026-11-25T16:40:40.5+01:00"), ("30d", "2026-10-26T16:42:10.5+01:00"),
        ("1w", "2026-11-18T16:42:10.5+01:00"), ("1h30m", "2026-11-25T15:12:10.5+01:00"),
        ("1h 30m", "2026-11-25T15:12:10.5+01:00"), ("2h ago", "2026-11-25T14:42:10.5+01:00"),
        ("5 minutes ago", "2026-11-25T16:37:10.5+01:00"), ("5minutes", "2026-11-25T16:37:10.5+01:00"),
        ("5 MIN AGO", "2026-11-25T16:37:10.5+01:00"), ("a minute ago", "2026-11-25T16:41:10.5+01:00"),
        ("an hour ago", "2026-11-25T15:42:10.5+01:00"), ("1 hour 5 minutes ago", "2026-11-25T15:37:10.5+01:00"),
        ("2 days ago", "2026-11-23T16:42:10.5+01:00"), ("last week", "2026-11-18T16:42:10.5+01:00"),
        ("last month", "2026-10-25T16:42:10.5+01:00"), ("9 months ago", "2026-02-25T16:42:10.5+01:00"),
        ("1 year ago", "2025-11-25T16:42:10.5+01:00"), ("11 months", "2025-12-25T16:42:10.5+01:00"),
        ("now", "2026-11-25T16:42:10.5+01:00"),
        ("today", "2026-11-25T00:00:00+01:00"), ("today 9:15", "2026-11-25T09:15:00+01:00"),
        ("today 23:00", "2026-11-25T23:00:00+01:00"), ("yesterday", "2026-11-24T16:42:10.5+01:00"),
        ("yesterday 17:00", "2026-11-24T17:00:00+01:00"), ("Yesterday at 17:00", "2026-11-24T17:00:00+01:00"),
        ("17:00 yesterday", "2026-11-24T17:00:00+01:00"), ("yesterday 5pm", "2026-11-24T17:00:00+01:00"),
        ("yesterday 5:30 pm", "2026-11-24T17:30:00+01:00"), ("yesterday noon", "2026-11-24T12:00:00+01:00"),
        ("12am", "2026-11-25T00:00:00+01:00"), ("12:05pm", "2026-11-25T12:05:00+01:00"),
        ("midnight", "2026-11-25T00:00:00+01:00"),
        // The last time that it was so.
        ("16:42", "2026-11-25T16:42:00+01:00"), ("17:00", "2026-11-24T17:00:00+01:00"),
        ("9:15", "2026-11-25T09:15:00+01:00"), ("09:15:30.25", "2026-11-25T09:15:30.25+01:00"),
        ("monday", "2026-11-23T16:42:10.5+01:00"), ("tue", "2026-11-24T16:42:10.5+01:00"),
        ("thursday", "2026-11-19T16:42:10.5+01:00"), ("sunday 8:00", "2026-11-22T08:00:00+01:00"),
        ("wednesday", "2026-11-18T16:42:10.5+01:00"), ("last monday 9:00", "2026-11-23T09:00:00+01:00"),
        ("2026-11-21", "2026-11-21T00:00:00+01:00"), ("2026-11-21 10:33", "2026-11-21T10:33:00+01:00"),
        ("2026-11-21 9:33", "2026-11-21T09:33:00+01:00"), ("2026-11-21T10:33", "2026-11-21T10:33:00+01:00"),
        ("2026-11-21 10:33:12.75", "2026-11-21T10:33:12.75+01:00"), ("2026-07-01 12:00", "2026-07-01T12:00:00+02:00"),
        (" 2026-11-21\t10:33 ", "2026-11-21T10:33:00+01:00"), ("2026-11-21T10:33:12Z", "2026-11-21T10:33:12Z"),
    ].map { TypedAt("2026-11-25T16:42:10.5+01:00", $0.0, $0.1) }

    /// In 2026 the clock is put forward on 29 March, and back on 25 October.
    static let changes = [
        // Yesterday's time of day is the same; an age is elapsed time.
        TypedAt("2026-03-29T12:00:00+02:00", "yesterday", "2026-03-28T12:00:00+01:00"),
        TypedAt("2026-03-29T12:00:00+02:00", "24h", "2026-03-28T11:00:00+01:00"),
        TypedAt("2026-03-29T12:00:00+02:00", "1 day ago", "2026-03-28T11:00:00+01:00"),
        TypedAt("2026-03-29T12:00:00+02:00", "today", "2026-03-29T00:00:00+01:00"),
        TypedAt("2026-03-29T12:00:00+02:00", "saturday 23:30", "2026-03-28T23:30:00+01:00"),
        TypedAt("2026-10-25T12:00:00+01:00", "yesterday", "2026-10-24T12:00:00+02:00"),
        TypedAt("2026-10-25T12:00:00+01:00", "today", "2026-10-25T00:00:00+02:00"),
        TypedAt("2026-10-25T12:00:00+01:00", "10h", "2026-10-25T02:00:00+01:00"),
        TypedAt("2026-11-25T12:00:00+01:00", "2 months ago", "2026-09-25T12:00:00+02:00"),
        TypedAt("2026-03-31T12:00:00+02:00", "1 month ago", "2026-02-28T12:00:00+01:00"),
        // The wall never shows 2:30, and shows it twice.
        TypedAt("2026-03-29T12:00:00+02:00", "2:30", "2026-03-29T03:30:00+02:00"),
        TypedAt("2026-03-30T02:30:00+02:00", "yesterday", "2026-03-29T03:30:00+02:00"),
        TypedAt("2026-03-29T12:00:00+02:00", "1:59", "2026-03-29T01:59:00+01:00"),
        TypedAt("2026-03-29T12:00:00+02:00", "3:00", "2026-03-29T03:00:00+02:00"),
        TypedAt("2026-10-25T12:00:00+01:00", "2:30", "2026-10-25T02:30:00+02:00"),
        TypedAt("2026-10-25T12:00:00+01:00", "3:00", "2026-10-25T03:00:00+01:00"),
        TypedAt("2026-11-25T12:00:00+01:00", "2026-10-25 2:30", "2026-10-25T02:30:00+02:00"),
        TypedAt("2026-11-25T12:00:00+01:00", "2026-03-29 02:30", "2026-03-29T03:30:00+02:00"),
        // Between the two, the earlier one has passed.
        TypedAt("2026-10-25T02:15:00+01:00", "2:30", "2026-10-25T02:30:00+02:00"),
        TypedAt("2026-10-25T02:15:00+02:00", "2:30", "2026-10-24T02:30:00+02:00"),
    ]

    static let west = [
        TypedAt("2026-11-25T02:00:00Z", "today", "2026-11-24T00:00:00-05:00"),
        TypedAt("2026-11-25T02:00:00Z", "yesterday", "2026-11-23T21:00:00-05:00"),
        TypedAt("2026-11-25T02:00:00Z", "tuesday", "2026-11-17T21:00:00-05:00"),
        TypedAt("2026-11-25T02:00:00Z", "22:00", "2026-11-23T22:00:00-05:00"),
        TypedAt("1970-01-01T03:00:00Z", "yesterday 12:00", "1969-12-30T12:00:00-05:00"),
        TypedAt("2026-03-08T12:00:00-04:00", "2:30", "2026-03-08T03:30:00-04:00"),
        TypedAt("2026-11-01T12:00:00-05:00", "1:30", "2026-11-01T01:30:00-04:00"),
    ]
}

private func expectTimes(_ table: [TypedAt], zone: String) {
    setenv("TZ", zone, 1)
    tzset()
    for row in table {
        guard let now = TimeText.parseRFC3339(row.now), let meaning = TimeText.parseRFC3339(row.meaning) else {
            Issue.record("\(row) is no row")
            continue
        }
        let found = TimeText.parse(row.text, now: now).map { TimeText.rfc3339(nanoseconds: $0) }
        #expect(found == TimeText.rfc3339(nanoseconds: meaning), "\(row.text) at \(row.now)")
    }
}
