import Lineage

/// A listener of the change feed, and what it makes of that.
struct Listener: Sendable {
    /// The last row of each place, in the order in which the places were heard of.
    private(set) var rows: [NameRow] = []
    /// The versions, in the order of their numbers.
    private(set) var versions: [VersionRow] = []

    mutating func hear(_ told: [Fact]) {
        for fact in told {
            switch fact {
            case .row(let row): put(row)
            case .version(let version), .amend(let version):
                versions.removeAll { $0.number == version.number }
                versions.insert(version, at: versions.firstIndex { $0.number > version.number } ?? versions.endIndex)
            case .forget(let version): versions.removeAll { $0.number == version }
            case .settle, .publish, .purge: continue
            }
        }
    }

    private mutating func put(_ row: NameRow) {
        guard let index = rows.firstIndex(where: { $0.place == row.place }) else { return rows.append(row) }
        if rows[index].number < row.number { rows[index] = row }
    }
}

extension World {
    /// The feed, replayed, gives the names that everyone sees, and their versions.
    func feedProblems() -> [String] {
        var problems: [String] = []
        for place in Set(listener.rows.map(\.place) + disk.names.map(\.place)).sorted() {
            let heard = listener.rows.first { $0.place == place }?.file
            let occupant = facts.occupant(of: place)
            if heard != (occupant.map { $0.maker == nil } ?? true ? disk.file(at: place) : nil) {
                problems.append("the feed does not give the file of \(place)")
            }
        }
        let shown = facts.versions.filter { !$0.isForgotten && facts.isTold($0) }
        if shown != listener.versions { problems.append("the feed does not give the versions") }
        return problems
    }
}
