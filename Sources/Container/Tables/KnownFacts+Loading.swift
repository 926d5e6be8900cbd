// Older facts come into memory from the catalog.

import Lineage
import VersionModel

/// The catalog's answer to a question about older facts.
struct LoadedFacts {
    var rows: [NameRow] = []
    var versions: [VersionRow] = []
    var documents: [DocumentNumber] = []
    var departure: NameRow?
    var settled: [VersionNumber] = []
    var purged: [Facts.Purged] = []
    var lastContent: Content?
    /// All facts about the subject are known from this number on; nil if the question is not about that.
    var since: UInt64?

    /// - Parameters:
    ///   - since: from which number on all facts about the subject are known.
    ///   - log: the catalog, with all that is published and recorded.
    init(_ missing: Missing, since: UInt64, from log: any FactLog) {
        func isOlder(_ row: NameRow) -> Bool { row.number.number < since }
        func isOlder(_ version: VersionRow) -> Bool { version.number.number < since }
        switch missing {
        case .row(let number): rows = log.row(number).map { [$0] } ?? []
        case .version(let number): versions = log.version(number).map { [$0] } ?? []
        case .place(let place): loadOccupant(of: place, since, log)
        case .lastRowOfFile(let file): loadLast(log.lastRow(of: file), since)
        case .lastRowOfDocument(let document): loadLast(log.lastRow(of: document), since)
        case .namesOfFile(let file): rows = log.names(of: file)
        case .namesFromFile(let file): rows = log.namesOfFiles(from: file)
        case .namesOfDocument(let document): rows = log.names(of: document)
        case .departure(let document):
            (rows, departure) = (log.names(of: document), log.lastDeparture(of: document))
        case .successors(let number): (rows, self.since) = (log.successors(of: number).filter(isOlder), 0)
        case .rowsOfDocument(let document):
            (rows, self.since) = (log.rows(of: document, after: RowNumber(0)).filter(isOlder), 0)
        case .newestVersion(let document):
            let version = log.newestVersion(of: document, until: since == 0 ? 0 : since - 1, isShown: false)
            (versions, self.since) = (version.map { [$0] } ?? [], version?.number.number ?? 0)
        case .versions(let document): (versions, self.since) = (log.versions(of: document).filter(isOlder), 0)
        case .equal(let document, let content): versions = log.versions(of: document, equalTo: content)
        case .rivals(let document): (versions, self.since) = (log.rivals(of: document).filter(isOlder), 0)
        case .content(let content): (versions, self.since) = (log.versions(in: content).filter(isOlder), 0)
        case .lastContent(let file): lastContent = log.lastContent(of: file)
        case .origin(let version):
            (documents, self.since) = (log.documents(from: version).filter { $0.number < since }, 0)
        }
        settled = versions.map(\.number).filter(log.isSettled)
        purged = ([departure].compactMap(\.self) + rows).filter { $0.file == nil }
            .compactMap { log.purge(of: $0.number) }
        // Also of a removal that only a memory of before knew.
        if case .row(let number) = missing, rows.isEmpty { purged += log.purge(of: number).map { [$0] } ?? [] }
    }

    private mutating func loadLast(_ row: NameRow?, _ since: UInt64) {
        guard let row, row.number.number < since else { return self.since = row == nil ? 0 : since }
        (rows, self.since) = ([row], row.number.number)
    }

    /// The last occupant before those that are known, and the rows until then.
    private mutating func loadOccupant(of place: PlaceNumber, _ since: UInt64, _ log: any FactLog) {
        guard var row = log.lastOccupant(of: place, before: RowNumber(since)) else { return self.since = 0 }
        self.since = row.number.number
        rows = [row]
        while let next = log.firstRow(at: place, after: row.number), next.number.number < since {
            rows.append(next)
            row = next
        }
    }
}

extension KnownFacts {
    /// From here on, each fact about a subject is noted. The catalog is read behind this.
    ///
    /// - Returns: from which number on all is known.
    mutating func prepare(_ missing: Missing) -> UInt64 {
        let next = lastNumber + 1
        func since<Number>(_ tail: inout Tail<Number>?) -> UInt64 {
            let known = tail ?? Tail(since: next)
            tail = known
            return known.since
        }
        switch missing {
        case .row, .version, .namesFromFile, .equal, .lastContent: return next
        case .place(let place): return since(&places[place])
        case .lastRowOfFile(let file), .namesOfFile(let file): return since(&fileRows[file])
        case .successors(let row): return since(&successors[row])
        case .lastRowOfDocument(let document), .rowsOfDocument(let document), .namesOfDocument(let document),
            .departure(let document):
            return since(&documentRows[document])
        case .newestVersion(let document), .versions(let document): return since(&documentVersions[document])
        case .rivals(let document): return since(&rivals[document])
        case .content(let content): return since(&contents[content])
        case .origin(let version): return since(&origins[version])
        }
    }

    /// Adds older facts. Facts that were recorded meanwhile stay.
    mutating func insert(_ loaded: LoadedFacts, for missing: Missing) {
        for row in [loaded.departure].compactMap(\.self) + loaded.rows where rows[row.number] == nil {
            rows[row.number] = row
        }
        for version in loaded.versions where versions[version.number] == nil {
            versions[version.number] = version
            noteMoved(version)
            if loaded.settled.contains(version.number) { settled.insert(version.number) }
        }
        for purge in loaded.purged where purged[purge.removal] == nil { purged[purge.removal] = purge }
        let (names, numbers) = (loaded.rows.map(\.number), loaded.versions.map(\.number))
        switch missing {
        case .row(let number): if rows[number] == nil { absent.insert(.row(number)) }
        case .version(let number): if versions[number] == nil { absent.insert(.version(number)) }
        case .place(let place): Self.extend(&places[place], names, loaded.since)
        case .lastRowOfFile(let file): Self.extend(&fileRows[file], names, loaded.since)
        case .lastRowOfDocument(let document), .rowsOfDocument(let document):
            Self.extend(&documentRows[document], names, loaded.since)
        case .successors(let row): Self.extend(&successors[row], names, loaded.since)
        case .newestVersion(let document), .versions(let document):
            Self.extend(&documentVersions[document], numbers, loaded.since)
        case .rivals(let document): Self.extend(&rivals[document], numbers, loaded.since)
        case .content(let content): Self.extend(&contents[content], numbers, loaded.since)
        case .origin(let version): Self.extend(&origins[version], loaded.documents, loaded.since)
        case .equal: equals[missing] = numbers
        case .lastContent(let file): lastContents[file] = .some(later(loaded.lastContent, notedContents[file]))
        case .namesOfFile(let file): fileNames[file] = living(names, fileRows[file]?.numbers ?? [])
        case .namesOfDocument(let document):
            documentNames[document] = living(names, documentRows[document]?.numbers ?? [])
        case .namesFromFile(let file):
            let all = living(names, fileRows[file]?.numbers ?? [])
            namesFrom[file] = (all.map(\.number).filter { rows[$0]?.hasNoVersions == false }, lastRow)
        case .departure(let document): setDeparture(of: document, names, loaded.departure)
        }
    }

    /// Older facts come before those that are known.
    private static func extend<Number: Comparable & Sendable>(
        _ tail: inout Tail<Number>?, _ older: [Number], _ since: UInt64?
    ) {
        guard let since, var known = tail, since < known.since else { return }
        let later = known.numbers
        known.numbers = older
        for number in later { known.insert(number) }
        known.since = since
        tail = known
    }

    /// Those of some rows that no later row has replaced, in their order.
    ///
    /// - Parameters:
    ///   - stored: rows that no later one of the catalog has replaced.
    ///   - known: rows in memory. One that was recorded since has a tail of its place.
    private func living(_ stored: [RowNumber], _ known: [RowNumber]) -> [Name] {
        func last(_ number: RowNumber) -> RowNumber? { rows[number].flatMap { places[$0.place]?.numbers.last } }
        let living = stored.filter { number in last(number).map { $0 <= number } ?? true }
        return Set(living + known.filter { last($0) == $0 }).sorted().compactMap { rows[$0].map(Name.init) }
    }

    /// A document's last departure: the catalog's, or a later row at one of its places.
    private mutating func setDeparture(of document: DocumentNumber, _ names: [RowNumber], _ stored: NameRow?) {
        let own = names + (documentRows[document]?.numbers ?? [])
        let recorded = own.compactMap { number -> RowNumber? in
            guard let row = rows[number], let tail = places[row.place] else { return nil }
            // A row behind a name that the catalog still has was recorded since.
            let isKnown = tail.since <= number.number + 1 || names.contains(number)
            return isKnown ? tail.numbers.first { $0 > number } : nil
        }
        departures[document] = .some((recorded + (stored.map { [$0.number] } ?? [])).max())
    }
}
