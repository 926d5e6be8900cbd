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
        // The last first: it is told of the entry that is nearest to it.
        for index in records.changes.indices.reversed() {
            let change = records.changes[index].change
            guard change.event == .deleted, let directory = change.directory, let name = change.path.name,
                let there = indexes[Place(directory: directory, name: name)]
            else { continue }
            let fitting = there.filter { candidate in
                let deletion = records.deletions[Int(candidate)]
                let distance = change.time.since(deletion.deleted)
                return !matched.contains(candidate) && (change.item == nil || change.item == deletion.item)
                    && distance >= Self.least && distance <= Self.most
            }
            let nearest = fitting.min { left, right in
                distance(records.deletions[Int(left)], change) < distance(records.deletions[Int(right)], change)
            }
            guard let nearest else { continue }
            deletions[index] = nearest
            matched.insert(nearest)
        }
    }

    private func distance(_ deletion: Deletion, _ change: Change) -> UInt64 {
        change.time.since(deletion.deleted).magnitude
    }

    func deletion(ofChange index: Int) -> Int32? { deletions[index] }

    func isMatched(_ deletion: Int32) -> Bool { matched.contains(deletion) }
}
