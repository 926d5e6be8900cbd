// Versions, conflicts and deleted entries as text.

import ControlProtocol
import VersionModel

/// What the listing commands print for people; pure, so that tests can look at it.
struct VersionText: Sendable {
    var style: Style
    var now: Timestamp
    /// Says a path of the container as it was typed.
    var shown: @Sendable (Path) -> Path

    /// - Parameter earlier: where the document had another name, and its older versions are.
    func history(_ history: DocumentHistory, earlier: Path? = nil) -> String {
        guard !history.versions.isEmpty else {
            return name(history.path)
                + "  no versions: not saved yet, or ignored by ignore.patterns or .versionsignore\n"
        }
        let isDeleted = history.versions.contains { $0.isLast }
        let count = Words.count(history.versions.count, "version") + (isDeleted ? ", deleted" : "")
        let title = "\(name(history.path))  \(count)\n"
        let list = title + versions(history.versions)
        guard let earlier else { return list }
        let command = "versionsctl history \(Style.printable(shown(earlier)))"
        return list + style.paint("  older versions, under its old name: \(command)", .dim) + "\n"
    }

    func conflicts(_ documents: [ConflictedDocument]) -> String {
        guard !documents.isEmpty else { return "No conflicts.\n" }
        return documents.map { document in
            var listed = [document.current] + document.versions
            // The base may be one of them: the current version itself, say.
            if let base = document.base, !listed.contains(where: { $0.id == base.id }) { listed.append(base) }
            return "\(name(document.path))  \(Words.count(document.versions.count, "other version"))\n"
                + versions(listed, base: document.base)
        }.joined(separator: "\n")
    }

    /// Versions that would go, a line each.
    func goingVersions(_ versions: [VersionInfo]) -> String {
        versions.map { going($0.id.short, $0.saved, $0.path) }.joined()
    }

    /// Entries of the deleted area that would go, a line each.
    func goingEntries(_ entries: [DeletedEntry]) -> String {
        entries.map { going($0.id.short, $0.deleted, $0.path) }.joined()
    }

    private func going(_ id: String, _ time: Timestamp, _ path: Path) -> String {
        "\(id)  \(Words.exact(time))  \(Style.printable(shown(path)))\n"
    }

    func versions(_ versions: [VersionInfo], base: VersionInfo? = nil) -> String {
        var table = Table(
            header: ["ID", "SAVED", "", Table.Cell("SIZE", right: true), "BY", ""],
            yielding: [(4, .middle(10)), (2, .whole), (4, .middle(6)), (1, .whole), (5, .end(5))])
        for version in versions {
            let (word, color) = kind(version, isBase: version.id == base?.id)
            table.add([
                Table.Cell(version.id.short), Table.Cell(Words.age(version.saved, now: now)),
                Table.Cell(Words.exact(version.saved), .dim), Table.Cell(Words.size(version.size), right: true),
                Table.Cell(
                    "\(Style.printable(version.user)) \(Words.program(version.program, version.pid))",
                    shorter: [
                        "\(Style.printable(version.user)) \(Words.program(version.program, 0))",
                        Words.program(version.program, 0),
                    ]),
                Table.Cell(word, color),
            ])
        }
        let lost = versions.count { $0.lost }
        let note = lost == 0
            ? "" : "  \(Words.count(lost, "version")) without content: `versionsctl show FILE --version ID` says why\n"
        return table.text(style, indent: "  ") + note
    }

    private func name(_ path: Path) -> String { style.paint(Style.printable(shown(path)), .bold) }

    private func kind(_ version: VersionInfo, isBase: Bool) -> (String, Style.Color?) {
        var words = version.kind == .history ? [] : [version.isLast ? "last" : version.kind.rawValue]
        if isBase { words.append("base") }
        if version.pinned { words.append("pinned") }
        if version.unfinished { words.append("unfinished") }
        if version.lost { words.append("content lost") }
        if !version.local { words.append("not on this device") }
        let color: Style.Color? =
            switch version.kind {
            case .current: .green
            case .conflict: .red
            case .history: version.lost ? .red : .dim
            }
        return (words.joined(separator: ", "), color)
    }
}

extension VersionInfo {
    /// Whether it is the last version of a deleted document: no file in the tree has it any more. Commands that select
    /// versions count it as the first one back, `~1`.
    var isLast: Bool {
        let names = file.bytes.split(separator: 47)
        let isBelow = zip(names, names.dropFirst()).contains { pair in
            pair.0.elementsEqual(".versions".utf8) && pair.1.elementsEqual(".deleted".utf8)
        }
        return kind == .current && isBelow
    }
}
