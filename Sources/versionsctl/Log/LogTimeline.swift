// From the pages of a log to one time line: each save and each deletion once, grouped by run of a program.

import ControlProtocol
import VersionModel

/// The pages of a log, put together; pure, so that tests can look at it.
enum LogTimeline {
    /// The row of a deletion comes right after the entry: one request takes the time of both.
    private static let longestRequest: Int64 = 5_000_000_000

    // MARK: Events

    /// Every event once, newest first. A version tells its own time and author, and its row the path of that moment.
    static func events(_ pages: [LoggedEvent]) -> [LoggedEvent] {
        var (rows, versions, entries) = ([LoggedEvent](), [VersionID: LoggedEvent](), [DeletionID: LoggedEvent]())
        for event in pages {
            if event.sequence != nil {
                rows.append(event)
            } else if let deletion = event.deletion {
                entries[deletion] = event
            } else if let version = event.version {
                versions[version] = event
            }
        }
        rows = inOrder(rows)
        let others = withoutDeletions(withoutSaves(rows, &versions), &entries)
        return (others + versions.values + entries.values).sorted(by: isNewer)
    }

    /// The rows in their order, each with a number of its own: those of one call have the same.
    private static func inOrder(_ rows: [LoggedEvent]) -> [LoggedEvent] {
        var last: UInt64?
        return rows.enumerated().sorted { one, other in
            (one.element.sequence ?? 0, one.offset) < (other.element.sequence ?? 0, other.offset)
        }.map { _, row in
            var row = row
            if let last, let number = row.sequence, number <= last { row.sequence = last + 1 }
            last = row.sequence
            return row
        }
    }

    private static func isNewer(_ one: LoggedEvent, _ other: LoggedEvent) -> Bool {
        if one.time != other.time { return one.time > other.time }
        if one.sequence != other.sequence { return one.sequence ?? 0 > other.sequence ?? 0 }
        return (one.version?.hex ?? one.deletion?.hex ?? "") > (other.version?.hex ?? other.deletion?.hex ?? "")
    }

    /// The rows without those that tell of saves by which versions came to be; these have the place in the feed.
    ///
    /// A version that is amended has several rows, and a row behind its time tells that the document came back with the
    /// same content. Of a version that is gone only the rows tell: the last of them stays.
    private static func withoutSaves(
        _ rows: [LoggedEvent], _ versions: inout [VersionID: LoggedEvent]
    ) -> [LoggedEvent] {
        var settled: Set<VersionID> = []
        var last: [VersionID: UInt64] = [:]
        for row in rows where row.event == .saved {
            if let version = row.version { last[version] = row.sequence }
        }
        return rows.compactMap { row in
            guard row.event == .saved, let version = row.version else { return row }
            guard let saved = versions[version] else { return last[version] == row.sequence ? row : nil }
            if settled.contains(version), row.time > saved.time {
                var unchanged = row
                unchanged.version = nil
                return unchanged
            }
            if row.time >= saved.time { settled.insert(version) }
            versions[version]?.path = row.path
            versions[version]?.sequence = row.sequence
            return nil
        }
    }

    /// The rows without those that tell of deletions of which there is the entry.
    private static func withoutDeletions(
        _ rows: [LoggedEvent], _ entries: inout [DeletionID: LoggedEvent]
    ) -> [LoggedEvent] {
        var waiting = Dictionary(grouping: entries.values.sorted { $0.time < $1.time }, by: \.path)
        return rows.filter { row in
            guard row.event == .deleted, var list = waiting[row.path] else { return true }
            let index = list.firstIndex { entry in
                entry.item == row.item && (0..<longestRequest).contains(row.time.since(entry.time))
            }
            guard let index, let id = list[index].deletion else { return true }
            entries[id]?.sequence = row.sequence
            list.remove(at: index)
            waiting[row.path] = list
            return false
        }
    }

    // MARK: Runs

    /// Whether an event is by a user, a program of a name, or a process.
    static func isBy(_ who: String, _ event: LoggedEvent) -> Bool {
        event.user == who || ProgramName.mayMean(who, event.program) || (event.pid > 0 && "\(event.pid)" == who)
    }

    /// One entry for each run of a program.
    /// - Parameter events: newest first.
    static func entries(_ events: [LoggedEvent]) -> [LogEntry] {
        var runs = LogRuns()
        for event in events { runs.add(event) }
        return runs.complete(before: nil)
    }
}
