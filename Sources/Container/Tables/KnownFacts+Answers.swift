// The questions of ``FactLog``, each answered from memory, or with the facts that are missing there.

import Lineage
import VersionModel

extension KnownFacts {
    enum Answer<Value: Sendable>: Sendable {
        case known(Value)
        case missing(Missing)
    }

    func row(_ number: RowNumber) -> Answer<NameRow?> {
        if let row = rows[number] { return .known(row) }
        return absent.contains(.row(number)) ? .known(nil) : .missing(.row(number))
    }

    func version(_ number: VersionNumber) -> Answer<VersionRow?> {
        if let version = versions[number] { return .known(version) }
        return absent.contains(.version(number)) ? .known(nil) : .missing(.version(number))
    }

    func isSettled(_ version: VersionNumber) -> Answer<Bool> {
        isKnown(version) ? .known(settled.contains(version)) : .missing(.version(version))
    }

    func purge(of removal: RowNumber) -> Answer<Facts.Purged?> {
        let isKnown = rows[removal] != nil || absent.contains(.row(removal))
        return isKnown ? .known(purged[removal]) : .missing(.row(removal))
    }

    private func isKnown(_ version: VersionNumber) -> Bool {
        versions[version] != nil || absent.contains(.version(version))
    }

    // MARK: Places

    func lastRow(at place: PlaceNumber) -> Answer<NameRow?> {
        last(places[place], .place(place)) { _ in true }
    }

    func lastOccupant(of place: PlaceNumber, before number: RowNumber) -> Answer<NameRow?> {
        last(places[place], .place(place)) { $0.number < number && $0.file != nil }
    }

    func firstRow(at place: PlaceNumber, after number: RowNumber) -> Answer<NameRow?> {
        guard let tail = places[place], isAfter(tail, number.number) else { return .missing(.place(place)) }
        return .known(tail.numbers.first { $0 > number }.flatMap { rows[$0] })
    }

    func successors(of number: RowNumber) -> Answer<[NameRow]> { all(successors[number], .successors(number)) }

    // MARK: Files

    func names(of file: FileID) -> Answer<[NameRow]> {
        fileNames[file].map { .known($0.compactMap { rows[$0.number] }) } ?? .missing(.namesOfFile(file))
    }

    func countOfNames(of file: FileID) -> Answer<Int> {
        fileNames[file].map { .known($0.count) } ?? .missing(.namesOfFile(file))
    }

    func documents(of file: FileID) -> Answer<[DocumentNumber]> {
        fileNames[file].map { .known(Self.distinct($0) { $0.document }) } ?? .missing(.namesOfFile(file))
    }

    /// Most names of one file are of one document, and the other way round. Of few values no table is made.
    private static func distinct<Value: Hashable>(_ names: [Name], _ value: (Name) -> Value?) -> [Value] {
        var (found, table): ([Value], Set<Value>) = ([], [])
        for name in names {
            guard let value = value(name), value != found.last else { continue }
            if found.count < 16 {
                if !found.contains(value) { found.append(value) }
                continue
            }
            if table.isEmpty { table = Set(found) }
            if table.insert(value).inserted { found.append(value) }
        }
        return found
    }

    func namesOfFiles(from file: FileID) -> Answer<[NameRow]> {
        guard let known = namesFrom[file], known.last == lastRow else { return .missing(.namesFromFile(file)) }
        // The catalog does not know those that are not published.
        var names = known.names
        for name in unpublished.sorted() where rows[name]?.hasNoVersions == false && !names.contains(name) {
            switch goesBack(name, to: file) {
            case .known(let goesBack): if goesBack { names.append(name) }
            case .missing(let missing): return .missing(missing)
            }
        }
        return .known(names.sorted().compactMap { rows[$0] })
    }

    /// Whether a row goes back, each to the one before, to a row that gave a file a name.
    private func goesBack(_ number: RowNumber, to file: FileID) -> Answer<Bool> {
        var next: RowNumber? = number
        while let number = next {
            guard let row = rows[number] else {
                if absent.contains(.row(number)) { break }
                return .missing(.row(number))
            }
            if row.file == file { return .known(true) }
            next = row.from.flatMap { $0 < number ? $0 : nil }
        }
        return .known(false)
    }

    func lastRow(of file: FileID) -> Answer<NameRow?> { last(fileRows[file], .lastRowOfFile(file)) { _ in true } }

    func versions(in content: Content) -> Answer<[VersionRow]> {
        if let tail = contents[content], tail.isComplete { return .known(unforgotten(tail.numbers)) }
        return isBehindLast(content) ? .known([]) : .missing(.content(content))
    }

    func countOfVersions(in content: Content) -> Answer<Int> {
        if let tail = contents[content], tail.isComplete {
            return .known(tail.numbers.count { versions[$0]?.isForgotten == false })
        }
        return isBehindLast(content) ? .known(0) : .missing(.content(content))
    }

    func lastContent(of file: FileID) -> Answer<Content?> {
        lastContents[file].map { .known($0) } ?? .missing(.lastContent(file))
    }

    // MARK: Documents

    func names(of document: DocumentNumber) -> Answer<[NameRow]> {
        guard let names = documentNames[document] else { return .missing(.namesOfDocument(document)) }
        return .known(names.compactMap { rows[$0.number] })
    }

    func files(of document: DocumentNumber) -> Answer<[FileID]> {
        documentNames[document].map { .known(Self.distinct($0) { $0.file }) } ?? .missing(.namesOfDocument(document))
    }

    func rows(of document: DocumentNumber, after number: RowNumber) -> Answer<[NameRow]> {
        guard let tail = documentRows[document], isAfter(tail, number.number) else {
            return .missing(.rowsOfDocument(document))
        }
        return .known(tail.numbers.filter { $0 > number }.compactMap { rows[$0] })
    }

    func lastRow(of document: DocumentNumber) -> Answer<NameRow?> {
        last(documentRows[document], .lastRowOfDocument(document)) { _ in true }
    }

    func lastDeparture(of document: DocumentNumber) -> Answer<NameRow?> {
        departures[document].map { .known($0.flatMap { rows[$0] }) } ?? .missing(.departure(document))
    }

    /// Unpublished names are in memory in any case.
    func unpublishedRows(of document: DocumentNumber) -> [NameRow] {
        (unpublishedOf[document] ?? []).sorted().compactMap { rows[$0] }
    }

    func documents(from version: VersionNumber) -> Answer<[DocumentNumber]> {
        guard let tail = origins[version], tail.isComplete else { return .missing(.origin(version)) }
        return .known(tail.numbers)
    }

    func versions(of document: DocumentNumber) -> Answer<[VersionRow]> {
        guard let tail = documentVersions[document], tail.isComplete else { return .missing(.versions(document)) }
        return .known(unforgotten(tail.numbers))
    }

    /// If any of those that are known has the bytes, no older one matters.
    func versions(of document: DocumentNumber, equalTo content: Fingerprint) -> Answer<[VersionRow]> {
        let missing = Missing.equal(document, content)
        let tail = documentVersions[document]
        let known = unforgotten(tail?.numbers ?? []).filter { $0.fingerprint == content }
        if tail?.isComplete ?? false || !known.isEmpty { return .known(known) }
        return equals[missing].map { .known(unforgotten($0).filter { $0.fingerprint == content }) } ?? .missing(missing)
    }

    func newestVersion(of document: DocumentNumber, until number: UInt64, isShown: Bool) -> Answer<VersionRow?> {
        guard let tail = documentVersions[document] else { return .missing(.newestVersion(document)) }
        for version in tail.numbers.reversed() where version.number <= number {
            guard let version = versions[version], !version.isForgotten, !isShown || version.beside == .no else {
                continue
            }
            return .known(version)
        }
        return tail.isComplete ? .known(nil) : .missing(.newestVersion(document))
    }

    func rivals(of document: DocumentNumber) -> Answer<[VersionRow]> {
        guard let tail = rivals[document], tail.isComplete else { return .missing(.rivals(document)) }
        return .known(unforgotten(tail.numbers))
    }

    func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Answer<Bool> {
        guard let tail = documentVersions[document], isAfter(tail, row.number) else {
            return .missing(.versions(document))
        }
        let later = tail.numbers.reversed().prefix { $0.number > row.number }
        let others = moved.isEmpty ? [] : tail.numbers.filter(moved.contains)
        return .known(unforgotten(later + others).contains { $0.isAtHome && $0.row > row })
    }

    // MARK: Tails

    /// The last of those that are known; if there is none, an older one may be.
    private func last(
        _ tail: Tail<RowNumber>?, _ missing: Missing, _ fits: (NameRow) -> Bool
    ) -> Answer<NameRow?> {
        guard let tail else { return .missing(missing) }
        for number in tail.numbers.reversed() {
            if let row = rows[number], fits(row) { return .known(row) }
        }
        return tail.isComplete ? .known(nil) : .missing(missing)
    }

    private func all(_ tail: Tail<RowNumber>?, _ missing: Missing) -> Answer<[NameRow]> {
        guard let tail, tail.isComplete else { return .missing(missing) }
        return .known(tail.numbers.compactMap { rows[$0] })
    }

    /// Whether all facts after a number are known.
    private func isAfter<Number>(_ tail: Tail<Number>, _ number: UInt64) -> Bool {
        tail.since <= number || tail.since == number &+ 1
    }

    private func unforgotten(_ numbers: [VersionNumber]) -> [VersionRow] {
        numbers.compactMap { number in versions[number].flatMap { $0.isForgotten ? nil : $0 } }
    }
}
