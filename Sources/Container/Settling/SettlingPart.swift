// The facts that settling needs about few names and files.

import Lineage
import VersionModel

/// Gathers facts by keys, so that they stand for all of them where some places and files are settled.
///
/// | of | there are |
/// |---|---|
/// | a place to be looked at | its last row, its last occupant with all of its document |
/// | a file to be looked at | all its rows with all of their documents, all versions in it |
/// | a document | all its rows, each with its departure, all its versions, the document that it began with |
/// | any other place that one of these rows names | its last row: it counts as found so |
struct SettlingPart {
    private let log: any SettlingLog
    private var rows: [RowNumber: NameRow] = [:]
    private var versions: [VersionNumber: VersionRow] = [:]
    private var places: Set<PlaceNumber> = []
    private var documents: Set<DocumentNumber> = []
    /// The rows that have their departure and their document here, too.
    private var complete: Set<RowNumber> = []

    init(_ log: any SettlingLog) { self.log = log }

    mutating func add(_ place: PlaceNumber) {
        addLastRow(at: place)
        if let last = log.lastOccupant(of: place, before: RowNumber(.max)) { add(last) }
    }

    mutating func add(_ file: FileID) {
        for row in log.rows(of: file) { add(row) }
        for version in log.versions(from: file) { add(version) }
    }

    private mutating func add(_ row: NameRow) {
        guard complete.insert(row.number).inserted else { return }
        rows[row.number] = row
        addLastRow(at: row.place)
        if let departure = log.firstRow(at: row.place, after: row.number) { rows[departure.number] = departure }
        var former = row.from
        while let number = former, rows[number] == nil, let row = log.row(number) {
            rows[number] = row
            addLastRow(at: row.place)
            former = row.from.flatMap { $0 < number ? $0 : nil }
        }
        if !row.hasNoVersions { add(row.document) }
    }

    private mutating func addLastRow(at place: PlaceNumber) {
        guard places.insert(place).inserted, let last = log.lastRow(at: place) else { return }
        rows[last.number] = last
    }

    private mutating func add(_ document: DocumentNumber) {
        guard documents.insert(document).inserted else { return }
        for row in log.rows(of: document, after: RowNumber(0)) {
            add(row)
            if let origin = row.origin.flatMap({ log.version($0) }) { add(origin, withDocument: true) }
        }
        for version in log.versions(of: document) { add(version) }
    }

    private mutating func add(_ version: VersionRow, withDocument: Bool = false) {
        versions[version.number] = version
        guard let row = log.row(version.row) else { return }
        if withDocument { return add(row) }
        if rows[row.number] == nil {
            rows[row.number] = row
            addLastRow(at: row.place)
        }
    }

    /// The facts, in the order of their numbers.
    var facts: Facts {
        var ordered = rows.values.map { ($0.number.number, Fact.row($0)) }
        ordered += versions.values.map { ($0.number.number, .version($0)) }
        // A purge is of the moment at which it was recorded.
        let purges = rows.keys.compactMap { log.purge(of: $0) }.sorted { ($0.last, $0.removal) < ($1.last, $1.removal) }
        var rest = purges[...]
        var facts = Facts()
        for (number, fact) in ordered.sorted(by: { $0.0 < $1.0 }) {
            while let purge = rest.first, purge.last < number {
                facts.apply(.purge(purge.removal))
                rest.removeFirst()
            }
            facts.apply(fact)
        }
        for purge in rest { facts.apply(.purge(purge.removal)) }
        for number in versions.keys.sorted() where log.isSettled(number) { facts.apply(.settle(number)) }
        return facts
    }

    /// What the rows say that the places have.
    var names: [Lineage.Found.Name] {
        let facts = facts
        return places.sorted().compactMap { place in
            facts.occupant(of: place)?.file.map { Lineage.Found.Name(place: place, file: $0) }
        }
    }

    /// The files and documents of all this.
    var subjects: Subjects {
        let files = rows.values.compactMap(\.file) + versions.values.map(\.content.file)
        return Subjects(files: files, documents: Array(documents))
    }

    /// The directories among them.
    var directories: Set<FileID> { Set(rows.values.filter(\.hasNoVersions).compactMap(\.file)) }
}
