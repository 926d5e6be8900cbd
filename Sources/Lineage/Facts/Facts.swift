import VersionModel

/// The facts that rules read: those that a plan records, over those that are recorded already (``FactLog``). Everything
/// that is not a fact is derived from them by functions (facts.md 1).
///
/// In the enumerator and after a crash there is no log: all facts are in the arrays. A plan adds few facts to the
/// engine's log. So the arrays are in the order of the facts' numbers, and are looked through by walking along them:
/// that needs no tables, whose order might decide something.
public struct Facts: Hashable, Sendable {
    public private(set) var rows: [NameRow] = []
    public private(set) var versions: [VersionRow] = []
    /// The conflict versions that a later save has settled, in that order.
    public private(set) var settled: [VersionNumber] = []
    /// The removals whose deleted entries are gone for good, in that order.
    public private(set) var purged: [Purged] = []
    /// The facts that are recorded already; all their numbers are smaller.
    let log: RecordedFacts?
    /// Versions of the log, as they were amended or forgotten since.
    private(set) var amended: [VersionRow] = []
    /// Rows of the log that were published since.
    private var published: [RowNumber] = []

    /// A removal, and the largest number that a fact had when its entry went.
    public struct Purged: Hashable, Sendable {
        public var removal: RowNumber
        public var last: UInt64

        public init(removal: RowNumber, last: UInt64) { (self.removal, self.last) = (removal, last) }
    }

    public init() { log = nil }

    /// - Parameter log: the facts that are recorded already.
    public init(over log: any FactLog) { self.log = RecordedFacts(log) }

    /// Records a fact. A number that is not known changes nothing.
    public mutating func apply(_ fact: Fact) {
        switch fact {
        case .row(let row): rows.append(row)
        case .version(let version): versions.append(version)
        case .amend(let version): change(version.number) { $0 = version }
        case .settle(let version):
            if !isSettled(version) { settled.append(version) }
        case .forget(let version): change(version) { $0.isForgotten = true }
        case .publish(let row):
            if let index = index(of: row) { rows[index].maker = nil } else if log != nil { published.append(row) }
        case .purge(let row):
            purged.removeAll { $0.removal == row }
            purged.append(Purged(removal: row, last: lastNumber))
        }
    }

    private mutating func change(_ number: VersionNumber, _ change: (inout VersionRow) -> Void) {
        if let index = index(of: number) { return change(&versions[index]) }
        guard var version = self[number] else { return }
        change(&version)
        amended.removeAll { $0.number == number }
        amended.append(version)
    }

    /// The largest number that a fact has; 0 if there is none.
    public var lastNumber: UInt64 {
        let last = max(rows.last?.number.number ?? 0, versions.last?.number.number ?? 0)
        return log.map { max($0.log.lastNumber, last) } ?? last
    }

    public subscript(_ number: RowNumber) -> NameRow? {
        index(of: number).map { rows[$0] } ?? log.flatMap { $0.log.row(number) }.map(now)
    }

    public subscript(_ number: VersionNumber) -> VersionRow? {
        index(of: number).map { versions[$0] } ?? log.flatMap { $0.log.version(number) }.map(now)
    }

    /// Whether a row of the log was published since.
    var hasPublished: Bool { !published.isEmpty }

    /// A row of the log, as it is now.
    func now(_ row: NameRow) -> NameRow {
        guard published.contains(row.number) else { return row }
        var row = row
        row.maker = nil
        return row
    }

    /// A version of the log, as it is now.
    func now(_ version: VersionRow) -> VersionRow { amended.last { $0.number == version.number } ?? version }

    /// The content of a version.
    public func fingerprint(_ version: VersionNumber) -> Fingerprint? {
        index(of: version).map { versions[$0].fingerprint } ?? (log == nil ? nil : self[version]?.fingerprint)
    }

    /// The document of a version.
    public func document(of version: VersionNumber) -> DocumentNumber? { self[version].flatMap { document(of: $0) } }

    /// The document of a version: that of its row, as the row has recorded it.
    public func document(of version: VersionRow) -> DocumentNumber? {
        index(of: version.row).map { rows[$0].document } ?? (log == nil ? nil : self[version.row]?.document)
    }

    /// Whether a conflict version was settled by a later save.
    public func isSettled(_ version: VersionNumber) -> Bool {
        settled.contains(version) || log.map { $0.log.isSettled(version) } ?? false
    }

    func index(of number: RowNumber) -> Int? {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].number == number ? low : nil
    }

    func index(of number: VersionNumber) -> Int? {
        var (low, high) = (0, versions.count)
        while low < high {
            let middle = (low + high) / 2
            if versions[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < versions.count && versions[low].number == number ? low : nil
    }
}

/// A log, which is equal to itself alone.
struct RecordedFacts: Hashable, Sendable {
    let log: any FactLog

    init(_ log: any FactLog) { self.log = log }

    static func == (left: Self, right: Self) -> Bool { left.log === right.log }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(log)) }
}
