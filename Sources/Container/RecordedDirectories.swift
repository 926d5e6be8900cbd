// Which directories the catalog has rows for, so that each is recorded once, when something in it is.

import Synchronization
import VersionModel
import VersionStore

/// The recorded directories with the places they are recorded at. Lock order: last, held while
/// rows of directories are queued.
final class RecordedDirectories: Sendable {
    private let places: RankedMutex<[FileID: Place]>

    init(_ directories: [Directory]) {
        places = RankedMutex(Dictionary(directories.map { ($0.id, $0.place) }, uniquingKeysWith: { $1 }))
    }

    /// Queues the rows missing for a directory and its ancestors, before any other thread finds that they are there: a
    /// kill must not leave rows of documents without those of their directory.
    ///
    /// - Parameters:
    ///   - chain: the directory and its ancestors, as of ``NodeTable/chain(_:)``.
    ///   - isCurrent: whether no directory was moved since. The rows of a later move would come first.
    /// - Returns: false if one was moved; then no row is queued.
    func record(
        _ chain: [(node: Node, place: Place)], isCurrent: () -> Bool, queue: ([VersionStore.Mutation]) -> Void
    ) -> Bool {
        places.withLock { places in
            guard isCurrent() else { return false }
            let missing = chain.filter { places[$0.node.file] != $0.place }
            guard !missing.isEmpty else { return true }
            queue(missing.map { .directory(Directory(id: $0.node.file, place: $0.place)) })
            for (node, place) in missing { places[node.file] = place }
            return true
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

    /// The group that a deletion would belong to; nil if it would be the first of its own.
    func group(by actor: ActorRef, now: Timestamp) -> DeletionID? {
        groups.withLock { groups in
            groups[actor].flatMap { now.since($0.last) <= Self.windowNanoseconds ? $0.id : nil }
        }
    }

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
