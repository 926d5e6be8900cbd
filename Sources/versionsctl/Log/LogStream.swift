// From spans of a log, the newest first, to runs that are complete: the same runs that the whole log makes at once.

import ControlProtocol
import VersionModel

/// Takes span after span; pure, so that tests can look at it.
struct LogStream {
    /// Only events by this user, program or process.
    var by: String?
    /// Whether any event was told, of whichever program.
    private(set) var hasEvents = false
    /// Versions that newer spans have told.
    private var told: Set<VersionID> = []
    private var runs = LogRuns()

    init(by: String?) { self.by = by }

    /// Versions of which a span has only the rows: they are gone, or older than the span. The log differs.
    func unclear(_ pages: [LoggedEvent], _ span: LogSpan) -> Set<VersionID> {
        guard span.from != nil else { return [] }
        var (named, here): (Set<VersionID>, Set<VersionID>) = ([], [])
        for event in pages {
            guard event.event == .saved, let version = event.version else { continue }
            if event.sequence == nil { here.insert(version) } else { named.insert(version) }
        }
        return named.subtracting(here).subtracting(told)
    }

    /// Takes the pages of the next span.
    /// - Parameter older: the versions of ``unclear(_:_:)`` that exist.
    /// - Returns: the runs that are complete now, newest first.
    mutating func add(_ pages: [LoggedEvent], _ span: LogSpan, older: Set<VersionID> = []) -> [LogEntry] {
        var rows: [LoggedEvent] = []
        for var event in pages {
            if event.sequence != nil, event.event == .saved, let version = event.version {
                // The version has its place in a newer span; or it is saved again, with the content that it has.
                if told.contains(version) { continue }
                if older.contains(version) { event.version = nil }
            }
            rows.append(event)
        }
        let events = LogTimeline.events(rows).filter { span.contains($0.time) }
        hasEvents = hasEvents || !events.isEmpty
        told.formUnion(events.compactMap(\.version))
        for event in events where by.map({ LogTimeline.isBy($0, event) }) ?? true { runs.add(event) }
        return runs.complete(before: span.from)
    }
}

/// Runs of programs, from their events.
struct LogRuns {
    private struct Run: Hashable {
        var user: String
        var program: String
        var pid: Int32
    }

    /// A process that does nothing for so long has ended, perhaps, and another one has its number.
    private static let longestPause: Int64 = 3_600_000_000_000

    private var entries: [LogEntry] = []
    /// How many were given away.
    private var gone = 0
    private var open: [Run: Int] = [:]

    /// Adds an event that is older than those before it.
    mutating func add(_ event: LoggedEvent) {
        let run = Run(user: event.user, program: event.program, pid: event.pid)
        if let number = open[run], entries[number - gone].began.since(event.time) <= Self.longestPause {
            entries[number - gone].events.append(LogEntry.Event(event))
        } else {
            open[run] = gone + entries.count
            entries.append(
                LogEntry(
                    time: event.time, user: event.user, program: event.program, pid: event.pid,
                    events: [LogEntry.Event(event)]))
        }
    }

    /// The first entries that get no further events, if these come from before a moment; all of them for nil.
    mutating func complete(before moment: Timestamp?) -> [LogEntry] {
        let count = entries.prefix { entry in
            moment.map { entry.began.since($0) > Self.longestPause } ?? true
        }.count
        let complete = Array(entries.prefix(count))
        entries.removeFirst(count)
        gone += count
        open = open.filter { $0.value >= gone }
        return complete
    }
}
