import Lineage
import VersionModel

/// A log of facts in lists, each question answered by a walk: what the engine's tables have to answer, too.
final class ListedFacts: FactLog {
    private let facts: Facts

    /// - Parameter facts: all there are, without a log.
    init(_ facts: Facts) { self.facts = facts }

    var lastNumber: UInt64 { facts.lastNumber }

    func row(_ number: RowNumber) -> NameRow? { facts.rows.first { $0.number == number } }

    func version(_ number: VersionNumber) -> VersionRow? { facts.versions.first { $0.number == number } }

    func isSettled(_ version: VersionNumber) -> Bool { facts.settled.contains(version) }

    func purge(of removal: RowNumber) -> Facts.Purged? { facts.purged.first { $0.removal == removal } }

    // MARK: Places

    func lastRow(at place: PlaceNumber) -> NameRow? { facts.rows.last { $0.place == place } }

    func lastOccupant(of place: PlaceNumber, before number: RowNumber) -> NameRow? {
        facts.rows.last { $0.place == place && $0.file != nil && $0.number < number }
    }

    func firstRow(at place: PlaceNumber, after number: RowNumber) -> NameRow? {
        facts.rows.first { $0.place == place && $0.number > number }
    }

    func successors(of number: RowNumber) -> [NameRow] { facts.rows.filter { $0.from == number } }

    // MARK: Files

    private var living: [NameRow] { facts.rows.filter { $0.file != nil && lastRow(at: $0.place)?.number == $0.number } }

    func names(of file: FileID) -> [NameRow] { living.filter { $0.file == file } }

    func namesOfFiles(from file: FileID) -> [NameRow] {
        living.filter { name in
            if name.isDirectory { return false }
            let stops = sequence(first: name) { stop in
                stop.from.flatMap { $0 < stop.number ? self.row($0) : nil }
            }
            return stops.contains { $0.file == file }
        }
    }

    func lastRow(of file: FileID) -> NameRow? { facts.rows.last { $0.file == file } }

    func versions(in content: Content) -> [VersionRow] { unforgotten.filter { $0.content == content } }

    // MARK: Documents

    private var unforgotten: [VersionRow] { facts.versions.filter { !$0.isForgotten } }

    func names(of document: DocumentNumber) -> [NameRow] { living.filter { $0.document == document } }

    func rows(of document: DocumentNumber, after number: RowNumber) -> [NameRow] {
        facts.rows.filter { $0.document == document && $0.file != nil && $0.number > number }
    }

    func lastRow(of document: DocumentNumber) -> NameRow? {
        facts.rows.last { $0.document == document && $0.file != nil }
    }

    func lastDeparture(of document: DocumentNumber) -> NameRow? {
        rows(of: document, after: RowNumber(0)).compactMap { firstRow(at: $0.place, after: $0.number) }
            .max { $0.number < $1.number }
    }

    func unpublishedRows(of document: DocumentNumber) -> [NameRow] {
        rows(of: document, after: RowNumber(0)).filter { $0.maker != nil }
    }

    func documents(from version: VersionNumber) -> [DocumentNumber] {
        facts.rows.filter { $0.origin == version }.map(\.document)
    }

    func versions(of document: DocumentNumber) -> [VersionRow] {
        unforgotten.filter { self.row($0.row)?.document == document }
    }

    func versions(of document: DocumentNumber, equalTo content: Fingerprint) -> [VersionRow] {
        versions(of: document).filter { $0.fingerprint == content }
    }

    func newestVersion(of document: DocumentNumber, until number: UInt64, isShown: Bool) -> VersionRow? {
        versions(of: document).last { $0.number.number <= number && (!isShown || $0.beside == .no) }
    }

    func rivals(of document: DocumentNumber) -> [VersionRow] {
        versions(of: document).filter { $0.loser != nil || $0.beside == .conflict }
    }

    func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Bool {
        versions(of: document).contains { $0.isAtHome && $0.row > row }
    }
}
