// The unresolved conflicts of format 1, as facts have them: by the version that won.

import VersionModel

struct Rivals {
    /// By the winner, its loser; by indexes of versions.
    private(set) var losers: [Int32: Int32] = [:]
    private(set) var winners: [Int32: Int32] = [:]
    /// Conflicts that no version won against as far as is known: they lie beside the document.
    private(set) var beside: Set<Int32> = []

    init(_ records: FormerRecords) {
        var documents: Set<Int32> = []
        for version in records.versions where version.kind == .conflict { documents.insert(version.document) }
        for document in documents.sorted() { find(in: document, records) }
    }

    /// The winner is the next version that the names showed and that does not go back to the loser.
    private mutating func find(in document: Int32, _ records: FormerRecords) {
        let own = records.versions(of: document)
        guard let current = records.current(of: document), let end = own.firstIndex(of: current) else { return }
        for (index, loser) in zip(own.indices, own)
        where records.versions[Int(loser)].kind == .conflict && loser != current {
            let isShown = index < end && !records.versions[Int(loser)].flags.contains(.beside)
            let winner = !isShown ? nil : own[(index + 1)...end].first { candidate in
                losers[candidate] == nil && !records.versions[Int(candidate)].flags.contains(.beside)
                    && !Self.goesBack(candidate, to: loser, records)
            }
            if let winner { (losers[winner], winners[loser]) = (loser, winner) } else { beside.insert(loser) }
        }
    }

    private static func goesBack(_ version: Int32, to ancestor: Int32, _ records: FormerRecords) -> Bool {
        var (seen, pending): (Set<Int32>, [Int32]) = ([version], [version])
        while let next = pending.popLast() {
            for parent in records.parents(of: next) {
                guard let parent = records.index(of: parent) else { continue }
                if parent == ancestor { return true }
                if seen.insert(parent).inserted { pending.append(parent) }
            }
        }
        return false
    }
}
