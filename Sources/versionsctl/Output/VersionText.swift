// Versions, conflicts and deleted entries as text.

import ControlProtocol
import VersionModel

/// What the listing commands print for people; pure, so that tests can look at it.
struct VersionText: Sendable {
    var style: Style
    var now: Timestamp
    /// Says a path of the container as it was typed.
    var shown: @Sendable (Path) -> Path

    func history(_ history: DocumentHistory) -> String {
        let title = "\(name(history.path))  \(Words.count(history.versions.count, "version"))\n"
        return title + versions(history.versions)
    }

    func conflicts(_ documents: [ConflictedDocument]) -> String {
        guard !documents.isEmpty else { return "No conflicts.\n" }
        return documents.map { document in
            var listed = [document.current] + document.versions
            // The base may be one of them: the current version itself, say.
            if let base = document.base, !listed.contains(where: { $0.id == base.id }) { listed.append(base) }
            return "\(name(document.path))  \(Words.count(document.versions.count, "unresolved loser"))\n"
                + versions(listed, base: document.base)
        }.joined(separator: "\n")
    }

    func deleted(_ entries: [DeletedEntry]) -> String {
        guard !entries.isEmpty else { return "Nothing deleted here.\n" }
        var table = Table(header: ["ID", "DELETED", "", Table.Cell("SIZE", right: true), "BY", "PATH"])
        for entry in entries {
            table.add([
                Table.Cell(entry.id.short), Table.Cell(Words.age(entry.deleted, now: now)),
                Table.Cell(Words.exact(entry.deleted), .dim),
                Table.Cell(entry.type == .file ? Words.size(entry.size) : entry.type.rawValue, right: true),
                Table.Cell("\(Style.printable(entry.user)) \(Words.program(entry.program, 0))"),
                Table.Cell(name(entry.path) + (entry.type == .directory ? "/" : "")),
            ])
        }
        return table.text(style)
    }

    func versions(_ versions: [VersionInfo], base: VersionInfo? = nil) -> String {
        var table = Table(header: ["ID", "SAVED", "", Table.Cell("SIZE", right: true), "BY", ""])
        for version in versions {
            let (word, colour) = kind(version, isBase: version.id == base?.id)
            table.add([
                Table.Cell(version.id.short), Table.Cell(Words.age(version.saved, now: now)),
                Table.Cell(Words.exact(version.saved), .dim), Table.Cell(Words.size(version.size), right: true),
                Table.Cell("\(Style.printable(version.user)) \(Words.program(version.program, version.pid))"),
                Table.Cell(word, colour),
            ])
        }
        return table.text(style, indent: "  ")
    }

    private func name(_ path: Path) -> String { style.paint(Style.printable(shown(path)), .bold) }

    private func kind(_ version: VersionInfo, isBase: Bool) -> (String, Style.Colour?) {
        var words = version.kind == .history ? [] : [version.kind.rawValue]
        if isBase { words.append("base") }
        if version.pinned { words.append("pinned") }
        if version.unfinished { words.append("unfinished") }
        if version.lost { words.append("content lost") }
        if !version.local { words.append("not on this device") }
        let colour: Style.Colour? =
            switch version.kind {
            case .current: .green
            case .conflict: .red
            case .history: version.lost ? .red : .dim
            }
        return (words.joined(separator: ", "), colour)
    }
}
