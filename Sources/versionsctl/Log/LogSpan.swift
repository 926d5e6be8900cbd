// Spans of time that a log is read in: what happened last can be printed before the rest is read.

import VersionModel

/// A span of a log, from a moment on and up to another one, which belongs to the span before.
struct LogSpan: Hashable, Sendable {
    /// nil for all that is older.
    var from: Timestamp?
    /// nil for all that is newer, up to what was asked for.
    var to: Timestamp?

    /// The events of one save or deletion lie no further apart, nearly always; those of a whole span and so much around
    /// it tell all of the span.
    static let margin: Int64 = 30_000_000_000
    private static let hour: Int64 = 3_600_000_000_000

    /// The spans of a log, the newest first. A page of a log is in no order of time, and a span is read with all of its
    /// pages.
    /// - Parameters:
    ///   - since: nothing older is wanted.
    ///   - until: nothing newer is wanted.
    static func all(now: Timestamp, since: Timestamp?, until: Timestamp?) -> [LogSpan] {
        let end = min(now, until ?? now)
        var spans: [LogSpan] = []
        var border: Timestamp?
        for age in [hour, 24 * hour, 7 * 24 * hour] {
            let next = end.advanced(byNanoseconds: -age)
            if let since, next <= since { break }
            spans.append(LogSpan(from: next, to: border))
            border = next
        }
        return spans + [LogSpan(to: border)]
    }

    /// What is asked of the daemon for a span of a log.
    func request(since: Timestamp?, until: Timestamp?) -> (since: Timestamp?, until: Timestamp?) {
        let first = from?.advanced(byNanoseconds: -Self.margin)
        let last = to?.advanced(byNanoseconds: Self.margin)
        return ([first, since].compactMap { $0 }.max(), [last, until].compactMap { $0 }.min())
    }

    func contains(_ time: Timestamp) -> Bool {
        if let from, time < from { return false }
        if let to, time >= to { return false }
        return true
    }
}
