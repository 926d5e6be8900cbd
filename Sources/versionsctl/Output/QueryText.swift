// Results of a query as text, and the objects of a live one.

import ControlProtocol
import VersionModel
import VersionsClient

/// One line of a live query.
struct QueryLine: Encodable {
    /// What happened to an entry, or that the first set is complete.
    enum Event: String { case added, changed, removed, gathered }

    var event: Event
    var item: QueryItem?
    /// For an entry that was renamed, the path before it.
    var from: Path?
    /// How many there are, once the first set is complete.
    var count: Int?
    /// The last change that was taken into account.
    var sequence: UInt64?

    /// What a step changed; removals first, so that a name may come again.
    static func lines(of step: QueryStep, count: Int) -> [QueryLine] {
        var lines = step.removed.map { QueryLine(event: .removed, item: $0) }
        lines += step.changed.map { QueryLine(event: .changed, item: $0.item, from: $0.from) }
        lines += step.added.map { QueryLine(event: .added, item: $0) }
        if step.isGathered { lines.append(QueryLine(event: .gathered, count: count, sequence: step.sequence)) }
        return lines
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(event.rawValue, forKey: "event")
        try container.encodeIfPresent(item, forKey: "item")
        try container.encodeIfPresent(path: from, forKey: "from")
        try container.encodeIfPresent(count, forKey: "count")
        try container.encodeIfPresent(sequence, forKey: "sequence")
    }
}

/// What `query` prints for people; pure, so that tests can look at it.
struct QueryText: Sendable {
    var style: Style
    var now: Timestamp
    /// Says a path of the container as it was typed.
    var shown: @Sendable (Path) -> Path

    func table(_ items: [QueryItem]) -> String {
        guard !items.isEmpty else { return "Nothing found.\n" }
        var table = Table(
            header: [
                Table.Cell("SIZE", right: true), "MODIFIED", "", Table.Cell("VERSIONS", right: true), "BY", "PATH", "",
            ],
            yielding: [
                (2, .whole), (4, .middle(10)), (5, .middle(16)), (4, .whole), (5, .middle(8)), (1, .whole),
            ])
        for item in items {
            table.add([
                Table.Cell(size(item), right: true), Table.Cell(Words.age(item.modified, now: now)),
                Table.Cell(Words.exact(item.modified), .dim),
                Table.Cell(item.document.map { "\($0.versions)" } ?? "", right: true),
                Table.Cell(
                    item.document.map { by($0) } ?? "",
                    shorter: [item.document.map { Words.program($0.program, 0) } ?? ""]),
                Table.Cell(path(item), .bold),
                Table.Cell(remarks(item), .red),
            ])
        }
        return table.text(style)
    }

    func line(_ line: QueryLine) -> String {
        guard let item = line.item else {
            return style.paint("\(Words.count(line.count ?? 0, "result")) so far", .dim) + "\n"
        }
        let event = line.event.rawValue.padded(to: 9)
        let from = line.from.map { "  (was \(Style.printable(shown($0))))" } ?? ""
        let remarks = remarks(item).isEmpty ? "" : "  " + style.paint(remarks(item), .red)
        let color: Style.Color? = line.event == .removed ? .red : line.event == .added ? .green : nil
        let size = size(item)
        let padding = String(repeating: " ", count: max(0, 9 - size.count))
        return style.paint(event, color) + padding + size + "  " + style.paint(path(item), .bold) + from + remarks
            + "\n"
    }

    private func size(_ item: QueryItem) -> String { item.type == .file ? Words.size(item.size) : item.type.rawValue }

    private func by(_ document: QueryItem.Document) -> String {
        "\(Style.printable(document.user)) \(Words.program(document.program, 0))"
    }

    private func path(_ item: QueryItem) -> String {
        Style.printable(shown(item.path)) + (item.type == .directory ? "/" : "")
    }

    private func remarks(_ item: QueryItem) -> String {
        var words: [String] = []
        if let conflicts = item.document?.conflicts, conflicts > 0 { words.append(Words.count(conflicts, "conflict")) }
        if item.state != "current" { words.append(item.state) }
        return words.joined(separator: ", ")
    }
}

extension String {
    /// With blanks behind it, up to a width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
