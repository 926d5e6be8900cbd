// Which entry of the deleted area a row of the feed tells of.

import VersionModel

struct DeletionMatches {
    /// One request takes the time of both, one after the other. A file's clock may run behind.
    private static let least: Int64 = -1_000_000_000
    private static let most: Int64 = 5_000_000_000

    private var deletions: [Int: Int32] = [:]
    private var matched: Set<Int32> = []

    init(_ records: FormerRecords) {
        var indexes: [Place: [Int32]] = [:]
        for (index, deletion) in records.deletions.enumerated() {
            indexes[deletion.place, default: []].append(Int32(index))
        }
        guard !indexes.isEmpty else { return }
        var pairs: [Pair] = []
        for index in records.changes.indices {
            let change = records.changes[index].change
            guard change.event == .deleted, let directory = change.directory, let name = change.path.name,
                let there = indexes[Place(directory: directory, name: name)]
            else { continue }
            for candidate in there {
                let deletion = records.deletions[Int(candidate)]
                let distance = change.time.since(deletion.deleted)
                guard change.item == nil || change.item == deletion.item,
                    distance >= Self.least && distance <= Self.most
                else { continue }
                pairs.append(Pair(change: index, deletion: candidate, distance: distance.magnitude))
            }
        }
        // The entry of an earlier row may be gone: the nearest two belong together, whichever row comes first.
        for pair in pairs.sorted() where deletions[pair.change] == nil && !matched.contains(pair.deletion) {
            deletions[pair.change] = pair.deletion
            matched.insert(pair.deletion)
        }
    }

    private struct Pair: Comparable {
        var change: Int
        var deletion: Int32
        var distance: UInt64

        static func < (left: Pair, right: Pair) -> Bool {
            (left.distance, right.change, left.deletion) < (right.distance, left.change, right.deletion)
        }
    }

    func deletion(ofChange index: Int) -> Int32? { deletions[index] }

    func isMatched(_ deletion: Int32) -> Bool { matched.contains(deletion) }
}
