// A container's state, claims, settings and check reports as text.

import ControlProtocol
import VersionModel

/// What the commands about a container print for people.
struct StatusText: Sendable {
    var style: Style
    var now: Timestamp

    /// First what people ask, then what they should know, then the particulars.
    func status(_ status: ContainerStatus, root: Path) -> String {
        let cells = answers(status) + details(status, root: root)
        var table = Table()
        for row in cells { table.add([Table.Cell(row.name, .dim), row.value]) }
        // Lines of one table, so that both parts line up.
        let lines = table.text(style).split(separator: "\n", omittingEmptySubsequences: false)
        let notes = status.notes.map { note in
            // Without a terminal each is one line, for programs that look for words in it.
            let text = WrappedText.lines(Style.printable(note), label: "note: ", columns: style.width ?? .max)
            return style.paint("note: ", .yellow) + text.dropFirst(6)
        }
        let first = lines.prefix(answers(status).count).map(String.init)
        return (first + notes + lines.dropFirst(first.count).map(String.init)).joined(separator: "\n")
    }

    private struct Row {
        var name: String
        var value: Table.Cell

        init(_ name: String, _ value: Table.Cell) {
            self.name = name
            self.value = value
        }
    }

    private func answers(_ status: ContainerStatus) -> [Row] {
        let place = status.mountpoint.map { Table.Cell("at " + Style.printable($0), .green) }
        let conflicts = status.conflicts == 0 ? "none" : Table.Cell("\(status.conflicts) unresolved", .red)
        let history = "\(Words.size(status.space.history)), \(Words.count(status.versions, "version")) of "
            + Words.count(status.items, "document")
        return [
            Row("mounted", place ?? Table.Cell("no", .yellow)), Row("conflicts", conflicts),
            Row("deleted", "\(Words.count(status.deleted.count, "entry")), \(Words.size(status.deleted.bytes))"),
            Row("history", Table.Cell(history)),
        ]
    }

    private func details(_ status: ContainerStatus, root: Path) -> [Row] {
        let place = "\(Style.printable(root))  (\(status.container.short), device \(Style.printable(status.device)))"
        var rows = [
            Row("container", Table.Cell(place)), Row("files", "\(Words.size(status.space.live))"),
        ]
        if let file = status.ignoreFile {
            let text = Style.printable(file.path) + (file.counts ? "" : ", which does not count")
            rows.append(Row("ignores by", Table.Cell(text)))
        }
        rows.append(Row("hub", Table.Cell(status.hub.map { Style.printable($0) } ?? "none")))
        rows.append(Row("log", Table.Cell(Style.printable(status.log))))
        rows.append(Row("version", Table.Cell(status.version)))
        for system in status.fileSystems {
            let place = system.path.bytes.isEmpty ? "file system" : Style.printable(system.path)
            let can = system.can.isEmpty ? "no versions" : system.can.joined(separator: ", ")
            rows.append(Row(place, "\(system.type): \(can)"))
        }
        let parts = [("passthrough", status.transport.passthrough), ("io_uring", status.transport.ring)]
        let transport = parts.map { "\($0.0) \($0.1 ? "on" : "off")" }.joined(separator: ", ")
        return rows + [Row("transport", Table.Cell(transport))]
    }

    func space(_ space: SpaceUse) -> String {
        "\(Words.size(space.live)) live, \(Words.size(space.history)) history, \(Words.size(space.deleted)) deleted"
    }

    func claims(_ claims: [ClaimInfo], shown: (Path) -> Path) -> String {
        guard !claims.isEmpty else { return "No claims.\n" }
        var table = Table(
            header: ["ID", "KIND", "SINCE", "BY", "", "PATHS"],
            yielding: [(3, .end(10)), (5, .start(16)), (2, .whole), (1, .end(5)), (5, .start(8))])
        for claim in claims {
            table.add([
                Table.Cell(claim.id), Table.Cell(([claim.kind] + claim.options).joined(separator: " ")),
                Table.Cell(Words.age(claim.since, now: now)),
                Table.Cell(Words.program(claim.program, claim.pid), shorter: [Words.program(claim.program, 0)]),
                claim.waiting ? Table.Cell("waiting", .yellow) : Table.Cell("holds", .green),
                Table.Cell(claim.paths.map { Style.printable(shown($0)) }.joined(separator: " ")),
            ])
        }
        return table.text(style)
    }

    func presenters(_ presenters: [PresenterInfo], shown: (Path) -> Path) -> String {
        guard !presenters.isEmpty else { return "No presenters.\n" }
        var table = Table(header: ["ID", "BY", "", "PATH"], yielding: [(3, .start(16)), (1, .end(5))])
        for presenter in presenters {
            table.add([
                Table.Cell(presenter.id),
                Table.Cell(
                    Words.program(presenter.program, presenter.pid), shorter: [Words.program(presenter.program, 0)]),
                presenter.silent ? Table.Cell("silent", .yellow) : Table.Cell("answers", .green),
                Table.Cell(presenter.path.map { Style.printable(shown($0)) } ?? "nothing yet"),
            ])
        }
        return table.text(style)
    }

    func removed(_ removed: Removed, dryRun: Bool = false) -> String {
        guard let amount = amount(removed) else {
            return ("Nothing to remove.\n") + pinned(removed)
        }
        return "\(dryRun ? "Would remove" : "Removed") \(amount).\n" + pinned(removed)
    }

    /// How much has gone, or would go; nil for nothing.
    func amount(_ removed: Removed) -> String? {
        var parts: [String] = []
        if removed.versionCount > 0 { parts.append(Words.count(removed.versionCount, "version")) }
        if removed.deletedCount > 0 { parts.append(Words.count(removed.deletedCount, "deleted entry")) }
        return parts.isEmpty ? nil : "\(parts.joined(separator: " and ")), \(Words.size(removed.bytes))"
    }

    /// The pinned versions that stay, as a line; empty if none does.
    func pinned(_ removed: Removed) -> String {
        guard let count = removed.pinnedCount else { return "" }
        return "\(Words.count(count, "pinned version")) \(count == 1 ? "stays" : "stay"): purge --force removes "
            + "\(count == 1 ? "it" : "them"), too.\n"
    }

    func report(_ report: CheckReport, shown: (Path) -> Path) -> String {
        let lines = report.findings.map { finding in
            let place = finding.document.map { Style.printable(shown($0)) } ?? String(finding.subject.prefix(8))
            let mended = finding.repaired ? style.paint("repaired", .green) : style.paint("found", .red)
            let repair = finding.repair.map { finding.repaired ? ": \($0)" : ": --repair would \($0)" } ?? ""
            return "\(mended)  \(place): \(finding.problem)\(repair)\n"
        }
        let sum = report.findings.isEmpty ? "clean" : Words.count(report.findings.count, "finding")
        // The current versions are the files themselves.
        let read = Words.count(report.contents, "older version") + " read and compared with what was saved"
        return lines.joined() + "\(sum): \(read); kept contents take \(Words.size(report.bytes)) on the disk\n"
    }

    func event(_ event: WatchEvent, shown: (Path) -> Path) -> String {
        let color: Style.Color? =
            switch event.event {
            case .conflict, .versionLost: .red
            case .deleted: .yellow
            case .created, .undeleted, .resolved: .green
            case .saved, .renamed, .attributes: nil
            }
        let word = event.event.rawValue
        let padded = style.paint(word, color) + String(repeating: " ", count: max(1, 13 - word.count))
        let path = Style.printable(shown(event.path))
        let from = event.from.map { Style.printable(shown($0)) + " -> " } ?? ""
        let user = event.user.map { Style.printable($0) + " " } ?? ""
        let by = event.program.map { "  " + style.paint(user + Words.program($0, event.pid ?? 0), .dim) } ?? ""
        return "\(style.paint(Words.exact(event.time), .dim))  \(padded)\(from)\(path)\(by)\n"
    }
}
