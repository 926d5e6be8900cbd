import VersionModel

/// The facts that rules read: all of them in the enumerator and after a crash, those of the files and places concerned
/// in the engine. Everything that is not a fact is derived from them by functions (facts.md 1).
///
/// Rows and versions are in the order of their numbers. Rules see few of them, so they are looked for by walking along
/// the arrays: that needs no tables, whose order might decide something.
public struct Facts: Hashable, Sendable {
    public private(set) var rows: [NameRow] = []
    public private(set) var versions: [VersionRow] = []
    /// The conflict versions that a later save has settled, in that order.
    public private(set) var settled: [VersionNumber] = []
    /// The removals whose deleted entries are gone for good, in that order.
    public private(set) var purged: [Purged] = []

    /// A removal, and the largest number that a fact had when its entry went.
    public struct Purged: Hashable, Sendable {
        public var removal: RowNumber
        public var last: UInt64
    }

    public init() {}

    /// Records a fact. A number that is not known changes nothing.
    public mutating func apply(_ fact: Fact) {
        switch fact {
        case .row(let row): rows.append(row)
        case .version(let version): versions.append(version)
        case .amend(let version):
            if let index = index(of: version.number) { versions[index] = version }
        case .settle(let version):
            if !settled.contains(version) { settled.append(version) }
        case .forget(let version):
            if let index = index(of: version) { versions[index].isForgotten = true }
        case .publish(let row):
            if let index = index(of: row) { rows[index].maker = nil }
        case .purge(let row):
            purged.removeAll { $0.removal == row }
            purged.append(Purged(removal: row, last: lastNumber))
        }
    }

    /// The largest number that a fact has; 0 if there is none.
    public var lastNumber: UInt64 { max(rows.last?.number.number ?? 0, versions.last?.number.number ?? 0) }

    public subscript(_ number: RowNumber) -> NameRow? { index(of: number).map { rows[$0] } }

    public subscript(_ number: VersionNumber) -> VersionRow? { index(of: number).map { versions[$0] } }

    /// The content of a version.
    public func fingerprint(_ version: VersionNumber) -> Fingerprint? {
        index(of: version).map { versions[$0].fingerprint }
    }

    /// The document of a version.
    public func document(of version: VersionNumber) -> DocumentNumber? { self[version].flatMap { document(of: $0) } }

    /// The document of a version: that of its row, as the row has recorded it.
    public func document(of version: VersionRow) -> DocumentNumber? { index(of: version.row).map { rows[$0].document } }

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
