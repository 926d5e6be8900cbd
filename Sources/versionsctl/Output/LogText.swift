// A log as text: a paragraph for each run of a program.

import ControlProtocol
import VersionModel

/// What `log` prints for people; pure, so that tests can look at it.
struct LogText: Sendable {
    var style: Style
    var now: Timestamp
    /// Whether all events of a run are listed, however many there are.
    var showsAll = false
    /// Says a path of the container as it was typed.
    var shown: @Sendable (Path) -> Path

    /// So many events of a run are listed, unless all are asked for.
    private static let most = 10

    func log(_ entries: [LogEntry]) -> String {
        guard !entries.isEmpty else { return Self.nothing }
        return entries.map { entry($0) }.joined(separator: "\n")
    }

    static let nothing = "No history.\n"

    /// The events of a run that are shown, and how many of each kind are not.
    func listed(_ entry: LogEntry) -> (events: [LogEntry.Event], left: [(ChangeEvent, Int)]) {
        let events = Self.condensed(entry.events)
        // "1 more" takes the line that the event would.
        guard !showsAll, events.count > Self.most + 1 else { return (events, []) }
        let rest = events.dropFirst(Self.most)
        let left = ChangeEvent.allCases.map { kind in (kind, rest.count { $0.event == kind }) }
        return (Array(events.prefix(Self.most)), left.filter { $0.1 > 0 })
    }

    /// A file that is made and saved at once is one line; so are changes of attributes one after the other.
    static func condensed(_ events: [LogEntry.Event]) -> [LogEntry.Event] {
        var result: [LogEntry.Event] = []
        for event in events {
            guard let newer = result.last, newer.path == event.path else {
                result.append(event)
                continue
            }
            switch (newer.event, event.event) {
            case (.saved, .created): result[result.count - 1].event = .created
            case (.attributes, .attributes): continue
            default: result.append(event)
            }
        }
        return result
    }

    /// One paragraph.
    func entry(_ entry: LogEntry) -> String {
        let (events, left) = listed(entry)
        var lines = title(entry) + "\n"
        // A difference stands under its line, so the columns of a run line up without it.
        let table = self.table(events).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, event) in events.enumerated() {
            lines += table[index] + "\n"
            guard let text = event.difference?.text, !text.isEmpty else { continue }
            lines += text + (text.hasSuffix("\n") ? "" : "\n") + (index == events.count - 1 ? "" : "\n")
        }
        if !left.isEmpty {
            let sum = left.reduce(0) { $0 + $1.1 }
            let kinds = left.map { "\($0.1) \($0.0.rawValue)" }.joined(separator: ", ")
            lines += style.paint("  and \(sum) more: \(kinds) (--all lists them)", .dim) + "\n"
        }
        return lines + statistics(events)
    }

    private func title(_ entry: LogEntry) -> String {
        let isOwn = entry.user.isEmpty && entry.program.isEmpty
        let who = isOwn ? "VersionsFS" : "\(Style.printable(entry.user)) \(Words.program(entry.program, entry.pid))"
        var span = Words.exact(entry.began)
        let end = Words.exact(entry.time)
        // The date of the end is said only if it is another day.
        if end != span { span += " to " + (end.prefix(10) == span.prefix(10) ? String(end.dropFirst(11)) : end) }
        return style.paint(who, .bold) + "  " + Words.age(entry.time, now: now) + style.paint("  \(span)", .dim)
    }

    private func table(_ events: [LogEntry.Event]) -> String {
        var table = Table(yielding: [(3, .start(16)), (2, .whole)])
        for event in events {
            let path = Style.printable(shown(event.path)) + (event.type == .directory ? "/" : "")
            let from = event.from.map { Style.printable(shown($0)) + " -> " } ?? ""
            table.add([
                Table.Cell(String(Words.exact(event.time).dropFirst(11)), .dim), word(event),
                Table.Cell(event.version.map(\.short) ?? ""), Table.Cell(from + path),
            ])
        }
        return table.text(style, indent: "  ")
    }

    private func word(_ event: LogEntry.Event) -> Table.Cell {
        let color: Style.Color? =
            switch event.event {
            case .conflict, .versionLost: .red
            case .deleted: .yellow
            case .created, .undeleted, .resolved: .green
            case .saved, .renamed, .attributes: nil
            }
        return Table.Cell(event.event.rawValue, color)
    }

    // MARK: The size of changes

    /// The lines that were added and removed, for each file that was saved, as git has them.
    private func statistics(_ events: [LogEntry.Event]) -> String {
        var order: [Path] = []
        var sums: [Path: LogDifference] = [:]
        for event in events {
            guard let difference = event.difference, difference.text == nil else { continue }
            if sums[event.path] == nil { order.append(event.path) }
            let sum = sums[event.path] ?? LogDifference(added: 0, removed: 0)
            sums[event.path] = LogDifference(
                added: Self.sum(sum.added, difference.added), removed: Self.sum(sum.removed, difference.removed))
        }
        guard !order.isEmpty else { return "" }
        var table = Table(yielding: [(0, .start(16))])
        for path in order {
            let sum = sums[path] ?? LogDifference()
            table.add([
                Table.Cell(Style.printable(shown(path))), Table.Cell("|"),
                Table.Cell(sum.added.map { "+\($0)" } ?? "binary", .green),
                Table.Cell(sum.removed.map { "-\($0)" } ?? "", .red),
            ])
        }
        return table.text(style, indent: "    ")
    }

    private static func sum(_ one: Int?, _ other: Int?) -> Int? {
        guard let one, let other else { return nil }
        return one + other
    }
}
