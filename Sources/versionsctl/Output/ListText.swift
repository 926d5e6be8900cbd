// The containers of a machine as text.

import ControlProtocol
import VersionModel

/// What `list` prints for people.
struct ListText: Sendable {
    var style: Style
    var now: Timestamp
    /// The version of this tool.
    var version = ProductVersion.current

    func list(_ containers: [ListedContainer]) -> String {
        guard !containers.isEmpty else { return "No containers: `versionsctl mount DIR` makes one.\n" }
        var table = Table(
            header: ["STATE", Table.Cell("CONFLICTS", right: true), "SINCE", "", "PATH"],
            yielding: [(4, .start(16)), (3, .whole), (2, .whole), (4, .start(8))])
        for container in containers {
            table.add([
                state(container.state),
                conflicts(container.conflicts),
                Table.Cell(container.since.map { Words.age($0, now: now) } ?? ""),
                Table.Cell(container.since.map { Words.exact($0) } ?? "", .dim),
                Table.Cell(path(container)),
            ])
        }
        return table.text(style)
    }

    private func state(_ state: ListedContainer.State) -> Table.Cell {
        switch state {
        case .mounted: Table.Cell("mounted", .green)
        case .unmounted: Table.Cell("not mounted", .yellow)
        case .silent: Table.Cell("not answering", .red)
        case .dead: Table.Cell("daemon gone", .red)
        case .gone: Table.Cell("gone", .dim)
        }
    }

    private func conflicts(_ count: Int?) -> Table.Cell {
        guard let count else { return Table.Cell("", right: true) }
        return Table.Cell("\(count)", count > 0 ? .red : nil, right: true)
    }

    private func path(_ container: ListedContainer) -> String {
        var text = Style.printable(container.directory)
        if let point = container.mountpoint, point != container.directory { text += " at " + Style.printable(point) }
        if let daemon = container.version, daemon != version {
            text += "  (version \(Style.printable(daemon)); mount it again for \(version))"
        }
        return text
    }
}
