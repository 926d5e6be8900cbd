// The check of the rows: what they refer to is there.

internal import GRDB
import Lineage
import VersionModel

/// | a row of | must have |
/// |---|---|
/// | `name` | its place, its program, its document's first row, no later row before it; one file for a document |
/// | `version` | its row, that row's document, its program, no parent that goes back to it |
///
/// What was given up may be missing elsewhere: a parent, a loser, the row before.
extension FactCheck {
    /// A damaged row, and the first condition for that which it meets.
    private struct Fault {
        var number: UInt64
        var condition: Int
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
                ).rows { Fault(number: $0.number(0), condition: Int($0.integer(1)), document: $0.number(2)) }
                return (end, found)
            }
            for fault in found { try body(fault) }
            guard let end else { return }
            last = end
        }
    }

    // MARK: Names

    private static let nameFaults: [(condition: String, kind: Finding.Kind, text: String)] = [
        (
            "NOT EXISTS (SELECT 1 FROM place WHERE number = name.place)", .pathUnknown,
            "the name's place is not recorded"
        ),
        (
            "how NOT BETWEEN 0 AND 8", .catalogDamaged,
            "the way in which the name came or went is none that there is"
        ),
        (
            "actor IS NOT NULL AND NOT EXISTS (SELECT 1 FROM actor WHERE number = name.actor)", .catalogDamaged,
            "the program that has made the name is not recorded"
        ),
        (
            "NOT EXISTS (SELECT 1 FROM name own WHERE own.seq = name.item AND own.item = own.seq)", .catalogDamaged,
            "the first name of its document is not recorded"
        ),
        ("file IS NOT NULL AND other >= seq", .catalogDamaged, "the name goes back to a later one"),
        (
            """
            file IS NOT NULL AND flags & 2 = 0 AND \(FactTables.isLast) AND EXISTS (
                SELECT 1 FROM name twin WHERE twin.item = name.item AND twin.file IS NOT NULL
                    AND twin.file <> name.file AND twin.place <> name.place AND NOT EXISTS (
                        SELECT 1 FROM name later WHERE later.place = twin.place AND later.seq > twin.seq))
            """, .severalCurrents, "the document has several files"
        ),
        (
            """
            origin IS NOT NULL AND \(FactTables.isLast)
                AND NOT EXISTS (SELECT 1 FROM version WHERE seq = name.origin AND flags & 16 = 0)
                AND NOT EXISTS (
                    SELECT 1 FROM version WHERE version.item = name.item AND flags & 16 = 0 AND flags & 3 = 0)
            """, .currentMissing, "what the document began with is not recorded"
        ),
    ]

    func checkNames() throws(StoreError) {
        try faults(in: "name", Self.nameFaults.map(\.condition)) { fault throws(StoreError) in
            let (_, kind, text) = Self.nameFaults[fault.condition]
            guard kind == .severalCurrents || kind == .currentMissing else {
                return report(kind, "name \(fault.number) of \(FactCatalog.fileName)", text)
            }
            let document = DocumentNumber(fault.document)
            let hex = try facts.lists.id(of: document)?.hex ?? "\(document)"
            report(kind, hex, path: try path(of: document), text)
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
        "max(ifnull(first, 0), ifnull(second, 0)) >= seq",
    ]

    func checkVersions() throws(StoreError) {
        try faults(in: "version", Self.versionFaults) { fault throws(StoreError) in
            let number = VersionNumber(fault.number)
            guard let version = facts.facts().version(number) else { return }
            switch fault.condition {
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

    /// A version that is amended may get a parent with a larger number. In a circle there is such a one.
    private func reportCircle(_ version: VersionRow) throws(StoreError) {
        let (number, log) = (version.number, facts.facts())
        let parents = version.parents.filter { $0 < number || !Self.goesBack(from: $0, to: number, log) }
        if let failure = log.failure { throw CatalogConnection.storeError(failure) }
        guard parents != version.parents else { return }
        try report(
            .parentsInACircle, hex(number), path: path(of: number),
            "the version goes back to itself, so that nothing has a base",
            repair: "name no version as its parent that came after it"
        ) { () throws(StoreError) in
            var mended = version
            mended.parents = parents
            mended.base = version.base.flatMap { $0 < number ? $0 : nil }
            try amend(mended)
        }
    }

    private static func goesBack(from first: VersionNumber, to last: VersionNumber, _ log: StoredFacts) -> Bool {
        var (seen, left): (Set<VersionNumber>, [VersionNumber]) = ([], [first])
        while let next = left.popLast() {
            if next == last { return true }
            guard seen.insert(next).inserted, let parents = log.version(next)?.parents else { continue }
            left += [parents.first, parents.second].compactMap(\.self)
        }
        return false
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
