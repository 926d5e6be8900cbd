// The facts that are in memory, for plans.

import Lineage
import VersionModel

/// Facts by their subjects. Facts that were recorded since a subject came into memory are known. Older ones are loaded
/// when a plan asks for them.
///
/// Unpublished names and their versions are here alone.
struct KnownFacts: Sendable {
    /// The facts about a subject, in the order of their numbers.
    struct Tail<Number: Comparable & Sendable>: Sendable {
        /// All facts about the subject with this number or a larger one are there; 0 if all are.
        var since: UInt64
        var numbers: [Number] = []

        var isComplete: Bool { since == 0 }

        /// Adds a fact. It may come behind one with a larger number, which another event has recorded meanwhile.
        mutating func insert(_ number: Number) {
            if numbers.last.map({ $0 < number }) ?? true { return numbers.append(number) }
            guard !numbers.contains(number) else { return }
            numbers.insert(number, at: numbers.firstIndex { $0 > number } ?? numbers.endIndex)
        }
    }

    /// A name, with what plans ask of all names of a file or a document.
    struct Name: Sendable {
        var number: RowNumber
        var document: DocumentNumber
        var file: FileID?

        init(_ row: NameRow) { (number, document, file) = (row.number, row.document, row.file) }
    }

    var lastNumber: UInt64
    var rows: [RowNumber: NameRow] = [:]
    var versions: [VersionNumber: VersionRow] = [:]
    /// Versions that were amended under a later row than their first: those alone have a smaller number than their row.
    var moved: Set<VersionNumber> = []
    var settled: Set<VersionNumber> = []
    var purged: [RowNumber: Facts.Purged] = [:]

    var places: [PlaceNumber: Tail<RowNumber>] = [:]
    var fileRows: [FileID: Tail<RowNumber>] = [:]
    var documentRows: [DocumentNumber: Tail<RowNumber>] = [:]
    var documentVersions: [DocumentNumber: Tail<VersionNumber>] = [:]
    var rivals: [DocumentNumber: Tail<VersionNumber>] = [:]
    var contents: [Content: Tail<VersionNumber>] = [:]
    /// The last contents of files: all that matters, and what was recorded since the memory began.
    var lastContents: [FileID: Content?] = [:]
    var notedContents: [FileID: Content] = [:]
    var successors: [RowNumber: Tail<RowNumber>] = [:]
    var origins: [VersionNumber: Tail<DocumentNumber>] = [:]
    /// The names that documents and files have, where all are known.
    var documentNames: [DocumentNumber: [Name]] = [:]
    var fileNames: [FileID: [Name]] = [:]
    var departures: [DocumentNumber: RowNumber?] = [:]
    /// Versions that have some bytes, of those that were not known when they were asked for.
    var equals: [Missing: [VersionNumber]] = [:]
    /// Names of files that go back to one, and the last row then: a later row makes them void.
    var namesFrom: [FileID: (names: [RowNumber], last: RowNumber?)] = [:]
    var lastRow: RowNumber?
    /// The names that only this memory has, as long as they are there.
    var unpublished: Set<RowNumber> = []
    /// All rows that only this memory has, by their documents.
    var unpublishedOf: [DocumentNumber: [RowNumber]] = [:]
    /// Questions to which the catalog has no answer.
    var absent: Set<Missing> = []

    /// - Parameter last: the largest number that a fact of the catalog has.
    init(after last: UInt64) { lastNumber = last }

    // MARK: Recording

    /// Adds the facts of a transaction, unpublished names included.
    mutating func record(_ facts: [Fact]) {
        for fact in facts { record(fact) }
    }

    private mutating func record(_ fact: Fact) {
        switch fact {
        case .row(let row): add(row)
        case .version(let version): add(version)
        case .amend(let version): amend(version)
        case .settle(let version): settled.insert(version)
        case .forget(let version): versions[version]?.isForgotten = true
        case .publish(let row):
            rows[row]?.maker = nil
            unpublished.remove(row)
            guard let document = rows[row]?.document else { return }
            unpublishedOf[document]?.removeAll { $0 == row }
            if unpublishedOf[document]?.isEmpty ?? false { unpublishedOf[document] = nil }
        case .purge(let row): purged[row] = Facts.Purged(removal: row, last: lastNumber)
        }
    }

    private mutating func add(_ row: NameRow) {
        let number = row.number
        leave(row)
        rows[number] = row
        lastRow = number
        lastNumber = max(lastNumber, number.number)
        places[row.place, default: Tail(since: number.number)].insert(number)
        // No older fact goes back to it.
        successors[number] = Tail(since: 0)
        if let origin = row.origin { origins[origin, default: Tail(since: number.number)].insert(row.document) }
        guard let file = row.file else { return }
        if row.document.number == number.number { begin(row.document) }
        if row.maker != nil {
            unpublished.insert(number)
            unpublishedOf[row.document, default: []].append(number)
        }
        fileRows[file, default: Tail(since: number.number)].insert(number)
        documentRows[row.document, default: Tail(since: number.number)].insert(number)
        documentNames[row.document]?.append(Name(row))
        fileNames[file]?.append(Name(row))
        if let from = row.from { successors[from, default: Tail(since: number.number)].insert(number) }
    }

    /// The former occupant of a row's place leaves it.
    private mutating func leave(_ row: NameRow) {
        let tail = places[row.place]
        guard let last = tail?.numbers.last else {
            // The occupant may be one whose names were counted.
            if tail?.isComplete != true { (documentNames, fileNames, departures) = ([:], [:], [:]) }
            return
        }
        unpublished.remove(last)
        guard let former = rows[last], let file = former.file else { return }
        documentNames[former.document]?.removeAll { $0.number == last }
        fileNames[file]?.removeAll { $0.number == last }
        if departures[former.document] != nil { departures[former.document] = .some(row.number) }
    }

    /// All is known of a document that begins.
    private mutating func begin(_ document: DocumentNumber) {
        documentRows[document] = Tail(since: 0)
        documentVersions[document] = Tail(since: 0)
        rivals[document] = Tail(since: 0)
        documentNames[document] = []
        departures[document] = .some(nil)
    }

    private mutating func add(_ version: VersionRow) {
        let number = version.number
        versions[number] = version
        lastNumber = max(lastNumber, number.number)
        origins[number] = Tail(since: 0)
        let since = isBehindLast(version.content) ? 0 : number.number
        contents[version.content, default: Tail(since: since)].insert(number)
        noteLast(version.content)
        guard let document = rows[version.row]?.document else { return forgetPublishedVersions() }
        documentVersions[document, default: Tail(since: number.number)].insert(number)
        addRival(version, of: document)
    }

    /// A version of a row that is not in memory belongs to some document. That row is published, so the catalog has
    /// both.
    private mutating func forgetPublishedVersions() {
        let unpublished = documentRows.filter { $0.value.numbers.contains { rows[$0]?.maker != nil } }
        documentVersions = documentVersions.filter { unpublished[$0.key] != nil }
        rivals = rivals.filter { unpublished[$0.key] != nil }
        equals = [:]
    }

    private mutating func amend(_ version: VersionRow) {
        let isForgotten = versions[version.number]?.isForgotten ?? version.isForgotten
        if let former = versions[version.number], former.content != version.content {
            contents[former.content]?.numbers.removeAll { $0 == version.number }
        }
        versions[version.number] = version
        versions[version.number]?.isForgotten = isForgotten
        noteMoved(version)
        let since = isBehindLast(version.content) ? 0 : lastNumber + 1
        contents[version.content, default: Tail(since: since)].insert(version.number)
        noteLast(version.content)
        guard let document = rows[version.row]?.document else { return forgetPublishedVersions() }
        addRival(version, of: document)
    }

    /// All is known of a file that was just made.
    mutating func begin(_ file: FileID) {
        fileRows[file] = Tail(since: 0)
        fileNames[file] = []
        lastContents[file] = .some(nil)
    }

    /// Nothing was recorded at a place that has just got its number.
    mutating func begin(_ place: PlaceNumber) { if places[place] == nil { places[place] = Tail(since: 0) } }

    /// Whether a content comes behind the last one that a version of its file has.
    func isBehindLast(_ content: Content) -> Bool {
        guard let last = lastContents[content.file] else { return false }
        return last.map { $0.generation < content.generation } ?? true
    }

    private mutating func noteLast(_ content: Content) {
        let last = notedContents[content.file].map { $0.generation > content.generation ? $0 : content } ?? content
        notedContents[content.file] = last
        if let known = lastContents[content.file] { lastContents[content.file] = .some(later(known, last)) }
    }

    func later(_ one: Content?, _ other: Content?) -> Content? {
        guard let one, let other else { return one ?? other }
        return one.generation > other.generation ? one : other
    }

    mutating func noteMoved(_ version: VersionRow) {
        if version.row.number > version.number.number { moved.insert(version.number) }
    }

    private mutating func addRival(_ version: VersionRow, of document: DocumentNumber) {
        if version.loser != nil || version.beside == .conflict { rivals[document]?.insert(version.number) }
    }
}
