import Lineage
import VersionModel

/// A log of facts in lists, which a walk answers: the model of the engine's tables.
public final class ListedFacts: FactLog {
    let rows: [NameRow]
    let versions: [VersionRow]
    private let settled: [VersionNumber]
    private let purged: [Facts.Purged]

    /// - Parameter facts: all there are, without a log.
    init(_ facts: Facts) {
        (rows, versions, settled, purged) = (facts.rows, facts.versions, facts.settled, facts.purged)
    }

    /// - Parameter recorded: all facts from the beginning, or those that listeners were told.
    public init(recorded: [Fact]) {
        var rows: [RowNumber: NameRow] = [:]
        var versions: [VersionNumber: VersionRow] = [:]
        var settled: [VersionNumber] = []
        var purged: [Facts.Purged] = []
        for fact in recorded {
            switch fact {
            case .row(let row): rows[row.number] = row
            case .version(let version): versions[version.number] = version
            case .amend(let version): if versions[version.number] != nil { versions[version.number] = version }
            case .settle(let version): settled.append(version)
            case .forget(let version): versions[version]?.isForgotten = true
            case .purge(let removal):
                let last = max(rows.keys.map(\.number).max() ?? 0, versions.keys.map(\.number).max() ?? 0)
                purged.removeAll { $0.removal == removal }
                purged.append(Facts.Purged(removal: removal, last: last))
            case .publish(let row): rows[row]?.maker = nil
            }
        }
        self.rows = rows.values.sorted { $0.number < $1.number }
        self.versions = versions.values.sorted { $0.number < $1.number }
        (self.settled, self.purged) = (settled, purged)
    }

    public var lastNumber: UInt64 { max(rows.last?.number.number ?? 0, versions.last?.number.number ?? 0) }

    public func row(_ number: RowNumber) -> NameRow? { rows.first { $0.number == number } }

    public func version(_ number: VersionNumber) -> VersionRow? { versions.first { $0.number == number } }

    public func isSettled(_ version: VersionNumber) -> Bool { settled.contains(version) }

    public func purge(of removal: RowNumber) -> Facts.Purged? { purged.first { $0.removal == removal } }

    // MARK: Places

    public func lastRow(at place: PlaceNumber) -> NameRow? { rows.last { $0.place == place } }

    public func lastOccupant(of place: PlaceNumber, before number: RowNumber) -> NameRow? {
        rows.last { $0.place == place && $0.file != nil && $0.number < number }
    }

    public func firstRow(at place: PlaceNumber, after number: RowNumber) -> NameRow? {
        rows.first { $0.place == place && $0.number > number }
    }

    public func successors(of number: RowNumber) -> [NameRow] { rows.filter { $0.from == number } }

    // MARK: Files

    private var living: [NameRow] { rows.filter { $0.file != nil && lastRow(at: $0.place)?.number == $0.number } }

    public func names(of file: FileID) -> [NameRow] { living.filter { $0.file == file } }

    public func namesOfFiles(from file: FileID) -> [NameRow] {
        living.filter { name in
            if name.hasNoVersions { return false }
            let stops = sequence(first: name) { stop in
                stop.from.flatMap { $0 < stop.number ? self.row($0) : nil }
            }
            return stops.contains { $0.file == file }
        }
    }

    public func lastRow(of file: FileID) -> NameRow? { rows.last { $0.file == file } }

    public func versions(in content: Content) -> [VersionRow] { unforgotten.filter { $0.content == content } }
    public func lastContent(of file: FileID) -> Content? {
        versions.map(\.content).filter { $0.file == file }.max { $0.generation < $1.generation }
    }

    // MARK: Documents

    private var unforgotten: [VersionRow] { versions.filter { !$0.isForgotten } }

    public func names(of document: DocumentNumber) -> [NameRow] { living.filter { $0.document == document } }

    public func rows(of document: DocumentNumber, after number: RowNumber) -> [NameRow] {
        rows.filter { $0.document == document && $0.file != nil && $0.number > number }
    }

    public func lastRow(of document: DocumentNumber) -> NameRow? {
        rows.last { $0.document == document && $0.file != nil }
    }

    public func lastDeparture(of document: DocumentNumber) -> NameRow? {
        rows(of: document, after: RowNumber(0)).compactMap { firstRow(at: $0.place, after: $0.number) }
            .max { $0.number < $1.number }
    }

    public func unpublishedRows(of document: DocumentNumber) -> [NameRow] {
        rows(of: document, after: RowNumber(0)).filter { $0.maker != nil }
    }

    public func documents(from version: VersionNumber) -> [DocumentNumber] {
        rows.filter { $0.origin == version }.map(\.document)
    }

    public func versions(of document: DocumentNumber) -> [VersionRow] {
        unforgotten.filter { self.row($0.row)?.document == document }
    }

    public func versions(of document: DocumentNumber, equalTo content: Fingerprint) -> [VersionRow] {
        versions(of: document).filter { $0.fingerprint == content }
    }

    public func newestVersion(of document: DocumentNumber, until number: UInt64, isShown: Bool) -> VersionRow? {
        versions(of: document).last { $0.number.number <= number && (!isShown || $0.beside == .no) }
    }

    public func rivals(of document: DocumentNumber) -> [VersionRow] {
        versions(of: document).filter { $0.loser != nil || $0.beside == .conflict }
    }

    public func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Bool {
        versions(of: document).contains { $0.isAtHome && $0.row > row }
    }
}

extension ListedFacts {
    /// All rows that gave a file a name, oldest first.
    public func rows(of file: FileID) -> [NameRow] { rows.filter { $0.file == file } }

    /// The versions in all contents of a file, also forgotten ones, oldest first.
    public func versions(from file: FileID) -> [VersionRow] { versions.filter { $0.content.file == file } }
}
