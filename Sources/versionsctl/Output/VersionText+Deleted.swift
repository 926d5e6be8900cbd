// Deleted entries as text.

import ControlProtocol
import VersionModel

extension VersionText {
    /// - Parameters:
    ///   - opened: what the listing is about, see ``DeletedNode/nodes(_:opened:)``.
    ///   - showsAll: whether the entries below a deleted directory have lines of their own.
    func deleted(
        _ entries: [DeletedEntry], opened: Path? = nil, order: DeletedOrder = .time, showsAll: Bool = false
    ) -> String {
        guard !entries.isEmpty else { return "Nothing deleted here.\n" }
        var table = Table(
            header: ["ID", "DELETED", "", Table.Cell("SIZE", right: true), "BY", "PATH"],
            yielding: [
                (2, .whole), (4, .middle(10)), (5, .middle(16)), (4, .middle(6)), (5, .middle(8)), (6, .whole),
                (1, .whole),
            ])
        let nodes = DeletedNode.listed(DeletedNode.nodes(entries, opened: opened), order, showsAll: showsAll)
        for node in nodes { table.add(cells(node)) }
        let isShort = !showsAll && nodes.contains { !$0.children.isEmpty }
        return table.text(style) + (isShort ? style.paint("--all lists the entries of directories", .dim) + "\n" : "")
    }

    private func cells(_ node: DeletedNode) -> [Table.Cell] {
        let entry = node.entry
        let size = entry.type == .file ? Words.size(entry.size) : node.count > 0 ? Words.size(node.size) : nil
        let program = Words.program(entry.program, 0)
        return [
            Table.Cell(entry.id.short), Table.Cell(Words.age(entry.deleted, now: now)),
            Table.Cell(Words.exact(entry.deleted), .dim), Table.Cell(size ?? entry.type.rawValue, right: true),
            Table.Cell("\(Style.printable(entry.user)) \(program)", shorter: [program]),
            Table.Cell(Style.printable(shown(entry.path)) + (entry.type == .directory ? "/" : ""), .bold),
            Table.Cell(node.count > 0 ? parts(node) : "", .dim),
        ]
    }

    /// All that the line stands for, the directory itself included, as undelete counts it.
    private func parts(_ node: DeletedNode) -> String {
        Words.parts(entries: node.count + 1, directories: node.directories + 1)
    }
}
