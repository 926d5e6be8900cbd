// The check of the rows: what they refer to is there.

internal import GRDB
import Lineage
import VersionModel

/// | a row of | must have |
/// |---|---|
/// | `name` | its place, its program, its document's first row, no later row before it; one file for a document |
/// | `version` | its row, that row's document, its program, no parent that came after it |
///
/// What was given up may be missing elsewhere: a parent, a loser, the row before.
extension FactCheck {
    /// A row, and which of some conditions it does not meet.
    private struct Fault {
        var number: UInt64
        var kind: Int64
        var document: UInt64
    }

    /// Looks at all rows of a table, some in each access. Facts come in whole transactions, so that an access sees what
    /// its rows refer to.
    ///
    /// - Parameter faults: conditions of rows that are damaged; of a row the first counts.
    private func faults(
        in table: String, _ faults: [String], _ body: (Fault) throws(StoreError) -> Void
    ) throws(StoreError) {
        let cases = faults.enumerated().map { "WHEN \($1) THEN \($0)" }.joined(separator: " ")
        var last: UInt64 = 0
        while true {
            let (end, found) = try facts.read { database in
                let end = try SQLStatement(
                    database, "SELECT max(seq) FROM (SELECT seq FROM \(table) WHERE seq > ? ORDER BY seq LIMIT ?)",
                    .bound(last), .integer(Int64(Self.portion))
                ).first { $0.optional(0) } ?? nil
                guard let end else { return (UInt64?.none, [Fault]()) }
                let found = try SQLStatement(
                    database,
                    """
                    SELECT seq, CASE \(cases) END AS fault, item FROM \(table)
                    WHERE seq > ? AND seq <= ? AND fault IS NOT NULL ORDER BY seq
                    """, .bound(last), .bound(end)
                ).rows { Fault(number: $0.number(0), kind: $0.integer(1), document: $0.number(2)) }
                return (end, found)
            }
            for fault in found { try body(fault) }
            guard let end else { return }
            last = end
        }
    }

    // MARK: Names

    private static let nameFaults = [
        "NOT EXISTS (SELECT 1 FROM place WHERE number = name.place)",
        "how NOT BETWEEN 0 AND 8",
        "actor IS NOT NULL AND NOT EXISTS (SELECT 1 FROM actor WHERE number = name.actor)",
        "NOT EXISTS (SELECT 1 FROM name own WHERE own.seq = name.item AND own.item = own.seq)",
        "file IS NOT NULL AND other >= seq",
        """
        file IS NOT NULL AND flags & 2 = 0 AND \(FactTables.isLast) AND EXISTS (
            SELECT 1 FROM name twin WHERE twin.item = name.item AND twin.file IS NOT NULL AND twin.file <> name.file
                AND twin.place <> name.place AND NOT EXISTS (
                    SELECT 1 FROM name later WHERE later.place = twin.place AND later.seq > twin.seq))
        """,
        """
        origin IS NOT NULL AND \(FactTables.isLast)
            AND NOT EXISTS (SELECT 1 FROM version WHERE seq = name.origin AND flags & 16 = 0)
            AND NOT EXISTS (SELECT 1 FROM version WHERE version.item = name.item AND flags & 16 = 0 AND flags & 3 = 0)
        """,
    ]

    func checkNames() throws(StoreError) {
        try faults(in: "name", Self.nameFaults) { fault throws(StoreError) in
            let row = "name \(fault.number) of \(FactCatalog.fileName)"
            switch fault.kind {
            case 0: report(.pathUnknown, row, "the name's place is not recorded")
            case 1: report(.catalogDamaged, row, "the way in which the name came or went is none that there is")
            case 2: report(.catalogDamaged, row, "the program that has made the name is not recorded")
            case 3: report(.catalogDamaged, row, "the first name of its document is not recorded")
            case 4: report(.catalogDamaged, row, "the name goes back to a later one")
            default:
                let document = DocumentNumber(fault.document)
                let hex = try facts.lists.id(of: document)?.hex ?? "\(document)"
                let path = try path(of: document)
                if fault.kind == 5 {
                    report(.severalCurrents, hex, path: path, "the document has several files")
                } else {
                    report(.currentMissing, hex, path: path, "what the document began with is not recorded")
                }
            }
        }
    }

    private func path(of document: DocumentNumber) throws(StoreError) -> TreePath? {
        guard let name = try facts.lists.names(of: document).first else { return nil }
        return try history.path(of: name.place.directory)?.appending(name.place.name)
    }

    // MARK: Versions

    private static let versionFaults = [
        "NOT EXISTS (SELECT 1 FROM name WHERE name.seq = ifnull(version.row, version.item))",
        "item <> (SELECT name.item FROM name WHERE name.seq = ifnull(version.row, version.item))",
        "author IS NOT NULL AND NOT EXISTS (SELECT 1 FROM actor WHERE number = version.author)",
        "max(ifnull(base, 0), ifnull(first, 0), ifnull(second, 0), ifnull(loser, 0)) >= seq",
    ]

    func checkVersions() throws(StoreError) {
        try faults(in: "version", Self.versionFaults) { fault throws(StoreError) in
            let number = VersionNumber(fault.number)
            guard let version = facts.facts().version(number) else { return }
            switch fault.kind {
            case 0: try reportHomeless(version)
            case 1:
                try report(
                    .versionWithoutItem, hex(number), path: path(of: number),
                    "the version is listed for another document than that of its name",
                    repair: "list it for the document of its name"
                ) { () throws(StoreError) in try amend(version) }
            case 2:
                try report(
                    .catalogDamaged, hex(number), path: path(of: number),
                    "the program that has saved the version is not recorded")
            default: try reportCircle(version)
            }
        }
    }

    private func amend(_ version: VersionRow) throws(StoreError) {
        try record(aboutFile: version.content.file, count: 0) { _ in FactTransaction([.amend(version)]) }
    }

    /// The name of a version is not recorded: it becomes history of what its file was last.
    private func reportHomeless(_ version: VersionRow) throws(StoreError) {
        let (subject, text) = (try hex(version.number), "the version belongs to a name that is not recorded")
        let label = label(of: version)
        guard let home = try home(of: version.content.file, at: label?.place) else {
            return report(.versionWithoutItem, subject, path: label?.path, text)
        }
        try report(
            .versionWithoutItem, subject, path: label?.path, text,
            repair: "record it as history of the document that has its file, or had its name last"
        ) { () throws(StoreError) in
            var mended = version
            mended.row = home
            if mended.beside == .no { mended.beside = .history }
            try amend(mended)
        }
    }

    private func label(of version: VersionRow) -> ContentStore.Label? {
        let id = facts.id(of: version.number, nil)
        return ((try? store.contents.labels(of: ContentID(version.content))) ?? []).first { $0.version.id == id }
    }

    private func reportCircle(_ version: VersionRow) throws(StoreError) {
        let number = version.number
        try report(
            .parentsInACircle, hex(number), path: path(of: number),
            "the version goes back to one that came after it, so that nothing has a base",
            repair: "name no version as its parent that came after it"
        ) { () throws(StoreError) in
            var mended = version
            mended.parents = version.parents.filter { $0 < number }
            mended.base = version.base.flatMap { $0 < number ? $0 : nil }
            mended.loser = version.loser.flatMap { $0 < number ? $0 : nil }
            try amend(mended)
        }
    }

    /// The row of a document that a content without one belongs to: of its file, or of what had its name last.
    func home(of file: FileID, at place: Place?) throws(StoreError) -> RowNumber? {
        let log = facts.facts()
        if let row = log.lastRow(of: file), !row.hasNoVersions { return row.number }
        guard let place else { return nil }
        let number = try facts.number(of: place)
        return log.lastOccupant(of: number, before: RowNumber(.max)).flatMap { $0.hasNoVersions ? nil : $0.number }
    }
}
