// Deleted files become objects, once the container has a catalog of schema 2.

import CLinux
internal import GRDB
import Logging
import SystemPackage
import VersionModel

/// Moves the entries of deleted files to `objects/`, and removes those that only stood for a name.
///
/// What was moved is recorded once it is durable. Made again, a move does nothing. So it goes on where a crash has
/// ended it.
public struct EntryMoves {
    private static let portion: Int64 = 4096

    let catalog: any DatabaseAccess
    let contents: ContentStore
    let deletedArea: DeletedArea
    let logger: Logger
    /// Called before each move; for tests, which end it there.
    var interrupt: () throws -> Void = {}

    /// - Parameter store: of the same container.
    public init(_ facts: FactStore, _ store: ContainerState) {
        catalog = facts.flushedCatalog
        (contents, deletedArea, logger) = (store.contents, store.deletedArea, store.options.logger)
    }

    /// - Returns: how many entries were moved or removed.
    @discardableResult
    public func run(_ progress: (_ done: Int) -> Void = { _ in }) throws -> Int {
        var done = 0
        while true {
            let moves = try catalog.access { try UpgradeTables.moves(limit: Self.portion, $0) }
            guard !moves.isEmpty else {
                try catalog.access { try UpgradeTables.dropMoves($0) }
                return done
            }
            for move in moves {
                try interrupt()
                try carryOut(move)
            }
            try System.call { linux_synchronize_all(deletedArea.staging.rawValue) }
            try catalog.access { database in
                _ = try CatalogConnection.stage(database) {
                    for move in moves { try UpgradeTables.remove(move, database) }
                }
                try CatalogConnection.commitStaged(database)
            }
            done += moves.count
            progress(done)
        }
    }

    private func carryOut(_ move: EntryMove) throws(Errno) {
        do throws(Errno) {
            guard let label = move.kept else { return try deletedArea.remove(move.deletion) }
            try deletedArea.moveToContents(move.deletion, as: label.version.content, label)
        } catch .noSuchFileOrDirectory {
            // It was moved before a crash.
            guard let label = move.kept, !contents.contains(label.version.content) else { return }
            logger.warning("a deleted entry is gone", metadata: ["entry": "\(move.deletion)"])
        }
    }
}
