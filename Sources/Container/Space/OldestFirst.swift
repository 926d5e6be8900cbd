// Giving things up, oldest first.

import Logging
import VersionModel
import VersionStore

/// What went, or would go.
struct GivenUp {
    var versions = 0
    var deleted = 0
    var bytes: UInt64 = 0

    var count: Int { versions + deleted }

    mutating func add(_ other: GivenUp) {
        (versions, deleted) = (versions + other.versions, deleted + other.deleted)
        bytes.addCapped(other.bytes)
    }
}

/// Gives up the oldest of what may go.
final class OldestFirst: Sendable {
    /// How many versions go in one transaction.
    static let mostAtOnce = 1024

    /// How it is done.
    struct Way {
        /// Whether the caller holds no lock.
        var mayWait = true
        /// Only says what would go.
        var isDry = false
        /// Versions that are given up by other means.
        var leavesOut: Set<VersionID> = []
        /// Hears of what is about to go.
        var willGo: ([VersionID]) throws -> Void = { _ in }
    }

    private let purgeables: Purgeables
    private let source: any PurgeableSource
    private let logger: Logger

    init(purgeables: Purgeables, source: any PurgeableSource, logger: Logger) {
        (self.purgeables, self.source, self.logger) = (purgeables, source, logger)
    }

    /// - Parameter missing: how many bytes are still to become free, now that this is the oldest and so much is given
    ///   up; 0: it stays.
    @discardableResult
    func giveUp(_ kinds: PurgeableKinds, _ way: Way, _ missing: (Purgeable, _ given: UInt64) -> UInt64) -> GivenUp {
        var given = GivenUp()
        do {
            try purgeables.forEachPage(of: kinds) { page in
                var rest = page.filter { candidate in
                    if case .history(let version) = candidate.kind { !way.leavesOut.contains(version.version) } else {
                        true
                    }
                }[...]
                while let oldest = rest.first {
                    let missing = missing(oldest, given.bytes)
                    guard missing > 0 else { return false }
                    let going = Self.oldest(rest, of: missing)
                    rest = rest.dropFirst(max(1, going.count))
                    given.add(try giveUp(oldest, with: going, way))
                }
                return true
            }
        } catch {
            logger.warning("what is purgeable could not be given up: \(error)")
        }
        return given
    }

    /// - Parameter versions: the versions that begin with it; none if it is an entry of the deleted list.
    private func giveUp(
        _ oldest: Purgeable, with versions: [Thinning.Candidate], _ way: Way
    ) throws -> GivenUp {
        guard case .deleted(let deletion) = oldest.kind else {
            try way.willGo(versions.map(\.version))
            if way.isDry {
                return GivenUp(versions: versions.count, bytes: versions.map { Occupied.whole($0.bytes) }.cappedSum)
            }
            let given = try source.giveUp(versions, mayWait: way.mayWait)
            return GivenUp(versions: given.count, bytes: given.bytes)
        }
        if way.isDry { return GivenUp(deleted: 1, bytes: Occupied.whole(oldest.bytes)) }
        guard let bytes = try source.giveUp(deletion, mayWait: way.mayWait) else { return GivenUp() }
        return GivenUp(deleted: 1, bytes: bytes)
    }

    /// The versions that these begin with, as many as take up so much. Those of a long history go together: what
    /// follows from that is done once.
    private static func oldest(_ candidates: ArraySlice<Purgeable>, of missing: UInt64) -> [Thinning.Candidate] {
        var (versions, contents, bytes): ([Thinning.Candidate], Set<ContentID>, UInt64) = ([], [], 0)
        for candidate in candidates.prefix(mostAtOnce) {
            guard bytes < missing, case .history(let version) = candidate.kind else { break }
            versions.append(version)
            guard contents.insert(version.content).inserted else { continue }
            bytes.addCapped(min(Occupied.whole(version.bytes), missing))
        }
        return versions
    }
}
