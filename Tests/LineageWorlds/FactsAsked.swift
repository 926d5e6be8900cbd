// Every question that a plan may ask a log, compared.

import Lineage
import VersionModel

/// Facts that answer the questions of a log.
public protocol FactsAsked {
    func answer<Answer>(_ question: (any FactLog) -> Answer) -> Answer
}

extension ListedFacts {
    /// The questions that other facts answer differently, about all subjects of these.
    public func differences(from other: some FactsAsked) -> [String] {
        var comparison = Comparison(listed: self, other: other)
        comparison.compare("last number") { $0.lastNumber }
        // Numbers that no fact has are asked about, too, but where most are of that kind.
        let given = rows.map(\.number.number) + versions.map(\.number.number)
        let isDense = lastNumber < 4 * UInt64(given.count)
        for number in isDense ? Array(0...lastNumber + 1) : given.sorted() {
            comparison.compareRow(RowNumber(number))
            comparison.compareVersion(VersionNumber(number))
            comparison.compareDocument(DocumentNumber(number), last: lastNumber)
        }
        for row in rows { comparison.comparePlace(of: row) }
        for version in versions {
            comparison.compare("versions in \(version.content)") { $0.versions(in: version.content) }
            comparison.compare("last of \(version.content.file)") { $0.lastContent(of: version.content.file) }
        }
        return comparison.problems
    }
}

private struct Comparison<Other: FactsAsked> {
    let listed: ListedFacts
    let other: Other
    var problems: [String] = []

    mutating func compare<Answer: Equatable>(_ question: String, _ ask: (any FactLog) -> Answer) {
        let (found, wanted) = (other.answer(ask), ask(listed))
        if found != wanted { problems.append("\(question): \(found), not \(wanted)") }
    }

    mutating func compareRow(_ row: RowNumber) {
        compare("row \(row)") { $0.row(row) }
        compare("purge of \(row)") { $0.purge(of: row) }
        compare("successors of \(row)") { $0.successors(of: row) }
    }

    mutating func compareVersion(_ version: VersionNumber) {
        compare("version \(version)") { $0.version(version) }
        compare("settled \(version)") { $0.isSettled(version) }
        compare("documents from \(version)") { Set($0.documents(from: version)) }
    }

    mutating func compareDocument(_ document: DocumentNumber, last: UInt64) {
        compare("names of \(document)") { $0.names(of: document) }
        compare("last row of \(document)") { $0.lastRow(of: document) }
        compare("last departure of \(document)") { $0.lastDeparture(of: document) }
        compare("unpublished rows of \(document)") { $0.unpublishedRows(of: document) }
        for number in [last, last / 2, 0, .max] {
            let row = RowNumber(number)
            compare("\(document) at home after \(row)") { $0.isSavedAtHome(document, after: row) }
            for isShown in [false, true] {
                compare("newest of \(document) until \(number), shown \(isShown)") {
                    $0.newestVersion(of: document, until: number, isShown: isShown)
                }
            }
            compare("rows of \(document) after \(row)") { $0.rows(of: document, after: row) }
        }
        // The newest one is asked for.
        for content in Set(listed.versions(of: document).map(\.fingerprint)) {
            compare("versions of \(document) equal to \(content)") {
                $0.versions(of: document, equalTo: content).last
            }
        }
        compare("rivals of \(document)") { $0.rivals(of: document) }
        compare("versions of \(document)") { $0.versions(of: document) }
    }

    mutating func comparePlace(of row: NameRow) {
        let (place, file) = (row.place, row.file)
        compare("last row at \(place)") { $0.lastRow(at: place) }
        compare("occupant of \(place) before \(row.number)") { $0.lastOccupant(of: place, before: row.number) }
        compare("row at \(place) after \(row.number)") { $0.firstRow(at: place, after: row.number) }
        compare("last occupant of \(place)") { $0.lastOccupant(of: place, before: RowNumber(.max)) }
        guard let file else { return }
        compare("names of file \(file.number)") { $0.names(of: file) }
        compare("names from file \(file.number)") { $0.namesOfFiles(from: file) }
        compare("last row of file \(file.number)") { $0.lastRow(of: file) }
    }
}
