import Lineage
import VersionModel

/// The facts in memory, for all threads.
final class FactMemory: Sendable {
    /// Innermost; held for a look.
    private let known: RankedMutex<KnownFacts>

    /// - Parameter last: the largest number that a fact of the catalog has.
    init(after last: UInt64) { known = RankedMutex(KnownFacts(after: last)) }

    /// A memory of its own with the same facts.
    init(_ other: FactMemory) { known = RankedMutex(other.known.withLock { $0 }) }

    /// Adds the facts of a transaction, unpublished names included.
    func record(_ facts: [Fact]) { known.withLock { $0.record(facts) } }

    /// All is known of a file that was just made.
    func begin(_ file: FileID) { known.withLock { $0.begin(file) } }

    /// Nothing was recorded at a place that has just got its number.
    func begin(_ place: PlaceNumber) { known.withLock { $0.begin(place) } }

    /// Loads facts that a plan has missed. The catalog is read without any lock.
    ///
    /// - Parameters:
    ///   - log: the catalog, with all published facts that were recorded by now.
    ///   - isSound: whether its answers count.
    /// - Returns: false if they do not. Nothing is taken for a fact then.
    @discardableResult
    func load(
        _ missing: [Missing], from log: any FactLog, isSound: (any FactLog) -> Bool = { _ in true }
    ) -> Bool {
        for missing in missing {
            let since = known.withLock { $0.prepare(missing) }
            let loaded = LoadedFacts(missing, since: since, from: log)
            guard isSound(log) else { return false }
            known.withLock { $0.insert(loaded, for: missing) }
        }
        return true
    }

    /// How many facts there are.
    var count: Int { known.withLock { $0.rows.count + $0.versions.count } }

    /// Lets facts go that the catalog has. A plan that is being made may miss them then, and is made anew.
    /// - Parameters:
    ///   - open: the files that programs have open.
    ///   - recent: of so many rows, the newest ones, all stays.
    func trim(now: Timestamp, open: Set<FileID>, recent: Int = 0) {
        // Given back outside the lock.
        let former = known.withLock { known -> KnownFacts in
            let former = known
            known = known.trimmed(now: now, open: open, recent: recent)
            return former
        }
        withExtendedLifetime(former) {}
    }

    fileprivate func ask<Value: Sendable>(
        _ question: @Sendable (KnownFacts) -> KnownFacts.Answer<Value>
    ) -> KnownFacts.Answer<Value> {
        known.withLock { question($0) }
    }

    /// The names that are not published.
    var unpublishedNames: [NameRow] {
        known.withLock { known in known.unpublished.sorted().compactMap { known.rows[$0] } }
    }

    /// A row that was just recorded, or is known for another reason.
    func row(_ number: RowNumber) -> NameRow? { known.withLock { $0.rows[number] } }

    /// The place of a row that was just recorded or published.
    func place(of row: RowNumber) -> PlaceNumber? { known.withLock { $0.rows[row]?.place } }

    /// The documents of which files have names, as far as that is in memory.
    func documents(of files: [FileID]) -> [DocumentNumber] {
        known.withLock { known in
            var documents: [DocumentNumber] = []
            for file in files {
                guard case .known(let some) = known.documents(of: file) else { continue }
                for document in some where !documents.contains(document) { documents.append(document) }
            }
            return documents
        }
    }

    /// Whether a file is known to have a name.
    func hasName(_ file: FileID) -> Bool {
        known.withLock { if case .known(let count) = $0.countOfNames(of: file) { count > 0 } else { false } }
    }

    /// Whether no fact is known to tell of a place.
    func isUnused(_ place: PlaceNumber) -> Bool {
        known.withLock { if case .known(.none) = $0.lastRow(at: place) { true } else { false } }
    }

    /// Whether a place has a file that is recorded in memory alone.
    func isUnpublished(_ place: PlaceNumber) -> Bool {
        known.withLock { known in
            let last = known.places[place]?.numbers.last.flatMap { known.rows[$0] }
            return last.map { $0.file != nil && $0.maker != nil } ?? false
        }
    }

    /// A version of a name that its program has made up, and that was never published; nil for any other.
    func madeUp(_ version: VersionNumber) -> VersionRow? {
        known.withLock { known in
            known.versions[version].flatMap { known.rows[$0.row]?.maker == nil ? nil : $0 }
        }
    }

    /// Whether any version in memory is in a content: versions of unpublished names are here alone.
    func hasVersion(in content: Content) -> Bool {
        known.withLock { !($0.contents[content]?.numbers.isEmpty ?? true) }
    }

    /// The largest number that a fact has.
    var lastNumber: UInt64 { known.withLock { $0.lastNumber } }

    fileprivate func unpublishedRows(of document: DocumentNumber) -> [NameRow] {
        known.withLock { $0.unpublishedRows(of: document) }
    }
}

/// The log of one plan. Where the memory has no answer, the plan gets none, and is void: the engine loads the missing
/// facts, and plans the event anew.
final class PlanLog: FactLog {
    private let memory: FactMemory
    /// The number of the plan's first fact. Of what the plan itself makes, the log has nothing.
    private let next: UInt64
    private let noted = RankedMutex<[Missing]>([])

    init(_ memory: FactMemory, next: UInt64 = .max) { (self.memory, self.next) = (memory, next) }

    /// The facts that are missing; none if the plan counts.
    var missing: [Missing] { noted.withLock { $0 } }

    private func ask<Value: Sendable>(
        _ none: Value, _ question: @Sendable (KnownFacts) -> KnownFacts.Answer<Value>
    ) -> Value {
        switch memory.ask(question) {
        case .known(let value): return value
        case .missing(let missing):
            if missing.isAbout(next) { return none }
            noted.withLock { if !$0.contains(missing) { $0.append(missing) } }
            return none
        }
    }

    var lastNumber: UInt64 { memory.lastNumber }
    func row(_ number: RowNumber) -> NameRow? { ask(nil) { $0.row(number) } }
    func version(_ number: VersionNumber) -> VersionRow? { ask(nil) { $0.version(number) } }
    func isSettled(_ version: VersionNumber) -> Bool { ask(false) { $0.isSettled(version) } }
    func purge(of removal: RowNumber) -> Facts.Purged? { ask(nil) { $0.purge(of: removal) } }

    func lastRow(at place: PlaceNumber) -> NameRow? { ask(nil) { $0.lastRow(at: place) } }
    func lastOccupant(of place: PlaceNumber, before number: RowNumber) -> NameRow? {
        ask(nil) { $0.lastOccupant(of: place, before: number) }
    }
    func firstRow(at place: PlaceNumber, after number: RowNumber) -> NameRow? {
        ask(nil) { $0.firstRow(at: place, after: number) }
    }
    func successors(of number: RowNumber) -> [NameRow] { ask([]) { $0.successors(of: number) } }

    func names(of file: FileID) -> [NameRow] { ask([]) { $0.names(of: file) } }
    func countOfNames(of file: FileID) -> Int { ask(0) { $0.countOfNames(of: file) } }
    func documents(of file: FileID) -> [DocumentNumber] { ask([]) { $0.documents(of: file) } }
    func namesOfFiles(from file: FileID) -> [NameRow] { ask([]) { $0.namesOfFiles(from: file) } }
    func lastRow(of file: FileID) -> NameRow? { ask(nil) { $0.lastRow(of: file) } }
    func versions(in content: Content) -> [VersionRow] { ask([]) { $0.versions(in: content) } }
    func countOfVersions(in content: Content) -> Int { ask(0) { $0.countOfVersions(in: content) } }
    func lastContent(of file: FileID) -> Content? { ask(nil) { $0.lastContent(of: file) } }

    func names(of document: DocumentNumber) -> [NameRow] { ask([]) { $0.names(of: document) } }
    func files(of document: DocumentNumber) -> [FileID] { ask([]) { $0.files(of: document) } }
    func rows(of document: DocumentNumber, after number: RowNumber) -> [NameRow] {
        ask([]) { $0.rows(of: document, after: number) }
    }
    func lastRow(of document: DocumentNumber) -> NameRow? { ask(nil) { $0.lastRow(of: document) } }
    func lastDeparture(of document: DocumentNumber) -> NameRow? { ask(nil) { $0.lastDeparture(of: document) } }
    func unpublishedRows(of document: DocumentNumber) -> [NameRow] { memory.unpublishedRows(of: document) }
    func documents(from version: VersionNumber) -> [DocumentNumber] { ask([]) { $0.documents(from: version) } }
    func versions(of document: DocumentNumber) -> [VersionRow] { ask([]) { $0.versions(of: document) } }
    func versions(of document: DocumentNumber, equalTo content: Fingerprint) -> [VersionRow] {
        ask([]) { $0.versions(of: document, equalTo: content) }
    }
    func newestVersion(of document: DocumentNumber, until number: UInt64, isShown: Bool) -> VersionRow? {
        ask(nil) { $0.newestVersion(of: document, until: number, isShown: isShown) }
    }
    func rivals(of document: DocumentNumber) -> [VersionRow] { ask([]) { $0.rivals(of: document) } }
    func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Bool {
        ask(false) { $0.isSavedAtHome(document, after: row) }
    }
}

extension Missing {
    /// Whether the subject is one that a plan has made, whose facts begin with that number.
    fileprivate func isAbout(_ next: UInt64) -> Bool {
        switch self {
        case .row(let row), .successors(let row): row.number >= next
        case .version(let version), .origin(let version): version.number >= next
        case .lastRowOfDocument(let document), .rowsOfDocument(let document), .namesOfDocument(let document),
            .departure(let document), .newestVersion(let document), .versions(let document), .equal(let document, _),
            .rivals(let document):
            document.number >= next
        case .place, .lastRowOfFile, .namesOfFile, .namesFromFile, .content, .lastContent: false
        }
    }
}
