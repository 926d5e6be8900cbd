// Giving things up, oldest first.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Gives up the oldest of what may go.
final class OldestFirst: Sendable {
    /// How many versions go in one transaction.
    static let mostAtOnce = 1024

    private let purgeables: Purgeables
    private let versions: VersionRemoval
    private let deleted: DeletedRemoval
    private let names: ReadWriteLock
    private let logger: Logger

    init(
        purgeables: Purgeables, versions: VersionRemoval, deleted: DeletedRemoval, names: ReadWriteLock, logger: Logger
    ) {
        (self.purgeables, self.versions, self.deleted) = (purgeables, versions, deleted)
        (self.names, self.logger) = (names, logger)
    }

    /// - Parameter missing: how many bytes are still to become free, now that this is the oldest; 0: it stays.
    @discardableResult
    func giveUp(
        history: Bool, deleted: Bool, mayWait: Bool, _ missing: (Purgeable) -> UInt64
    ) -> (count: Int, bytes: UInt64) {
        var given: (count: Int, bytes: UInt64) = (0, 0)
        do {
            var candidates = try purgeables.all(history: history, deleted: deleted)[...]
            while let oldest = candidates.first {
                let missing = missing(oldest)
                guard missing > 0 else { break }
                switch oldest.kind {
                case .history:
                    let versions = Self.oldest(candidates, of: missing)
                    candidates = candidates.dropFirst(versions.count)
                    let going = versions.filter { self.versions.isStillHistory($0) }
                    guard !going.isEmpty else { continue }
                    given.bytes.addCapped(try self.versions.remove(going, mayWait: mayWait))
                    given.count += going.count
                case .deleted(let deletion):
                    candidates = candidates.dropFirst()
                    let remove = { (names: borrowing NamesHeldAlone) throws -> UInt64 in
                        try self.deleted.remove(names, deletion).bytes
                    }
                    let bytes = mayWait ? try names.writing(remove) : try names.writingIfFree(remove)
                    guard let bytes else { continue }
                    given = (given.count + 1, given.bytes + bytes)
                }
            }
        } catch {
            logger.warning("what is purgeable could not be given up: \(error)")
        }
        return given
    }

    /// The versions that these begin with, as many as take up so much. Those of a long history go together: whatever
    /// remains of it is looked through for what went back to them, once.
    private static func oldest(_ candidates: ArraySlice<Purgeable>, of missing: UInt64) -> [Version] {
        var (versions, contents, bytes): ([Version], Set<ContentID>, UInt64) = ([], [], 0)
        for candidate in candidates.prefix(mostAtOnce) {
            guard bytes < missing, case .history(let version) = candidate.kind else { break }
            versions.append(version)
            if contents.insert(version.content).inserted { bytes.addCapped(min(Occupied.whole(version.size), missing)) }
        }
        return versions
    }
}
