import Lineage

/// A listener that has heard the change feed from the beginning.
struct Listener: Sendable {
    /// In the order of their numbers.
    private(set) var rows: [NameRow] = []
    private(set) var versions: [VersionRow] = []
    private(set) var settled: [VersionNumber] = []
    private(set) var purged: [RowNumber] = []

    init() {}

    /// - Parameter facts: all that are recorded.
    init(_ facts: Facts) {
        rows = facts.rows.filter(facts.isTold)
        versions = facts.versions.filter { !$0.isForgotten && facts.isTold($0) }
        settled = facts.settled.filter { facts[$0].map(facts.isTold) ?? false }
        purged = facts.purged.map(\.removal)
    }

    mutating func hear(_ told: [Fact]) {
        for fact in told {
            switch fact {
            case .row(let row): rows.insert(row, at: rows.firstIndex { $0.number > row.number } ?? rows.endIndex)
            case .version(let version):
                versions.insert(version, at: versions.firstIndex { $0.number > version.number } ?? versions.endIndex)
            case .amend(let version):
                if let index = versions.firstIndex(where: { $0.number == version.number }) { versions[index] = version }
            case .forget(let version): versions.removeAll { $0.number == version }
            case .settle(let version): if !settled.contains(version) { settled.append(version) }
            case .purge(let removal):
                purged.removeAll { $0 == removal }
                purged.append(removal)
            case .publish: continue
            }
        }
    }
}

extension World {
    /// The feed gives every fact that everyone sees, as it is now.
    func feedProblems() -> [String] {
        var problems: [String] = []
        let wanted = Listener(facts)
        if listener.rows != wanted.rows { problems.append("the feed does not give the rows") }
        if listener.versions != wanted.versions { problems.append("the feed does not give the versions") }
        if Set(listener.settled) != Set(wanted.settled) { problems.append("the feed does not give what is settled") }
        if listener.purged != wanted.purged { problems.append("the feed does not give the purges") }
        return problems
    }
}
