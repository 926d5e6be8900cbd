// Which directories the catalog has rows for, so that each is recorded once, when something in it is.

import Synchronization
import VersionModel
import VersionStore

/// The recorded directories with the places they are recorded at. Lock order: last.
final class RecordedDirectories: Sendable {
    private let places: RankedMutex<[FileID: Place]>

    init(_ directories: [Directory]) {
        places = RankedMutex(Dictionary(directories.map { ($0.id, $0.place) }, uniquingKeysWith: { $1 }))
    }

    /// The rows missing for a directory and its ancestors, given as ``NodeTable/chain(_:)``.
    func missing(of chain: [(node: Node, place: Place)]) -> [VersionStore.Mutation] {
        places.withLock { places in
            var mutations: [VersionStore.Mutation] = []
            for (node, place) in chain {
                if places[node.file] == place { continue }
                places[node.file] = place
                mutations.append(.directory(Directory(id: node.file, place: place)))
            }
            return mutations
        }
    }

    /// A directory was moved: the row to write if it has one.
    func moved(_ directory: FileID, to place: Place) -> [VersionStore.Mutation] {
        places.withLock { places in
            guard places[directory] != nil else { return [] }
            places[directory] = place
            return [.directory(Directory(id: directory, place: place))]
        }
    }

    /// A directory is gone; its row stays for the paths of what was deleted from it.
    func contains(_ directory: FileID) -> Bool { places.withLock { $0[directory] != nil } }
}

/// Deletions by one process within 10 s of one another are one group (DESIGN 3.2). Lock order: last.
final class DeletionGroups: Sendable {
    private static let windowNanoseconds: Int64 = 10_000_000_000
    private struct Group {
        var id: DeletionID
        var last: Timestamp
    }
    private let groups = RankedMutex<[ActorRef: Group]>([:])

    func group(of deletion: DeletionID, by actor: ActorRef, now: Timestamp) -> DeletionID {
        groups.withLock { groups in
            if groups.count > 1024 {
                groups = groups.filter { now.since($0.value.last) <= Self.windowNanoseconds }
            }
            if let group = groups[actor], now.since(group.last) <= Self.windowNanoseconds {
                groups[actor]?.last = now
                return group.id
            }
            groups[actor] = Group(id: deletion, last: now)
            return deletion
        }
    }
}
