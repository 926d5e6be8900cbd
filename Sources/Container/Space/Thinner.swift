// Thinning: history by its schedule and within its share, the deleted area by its age and share (DESIGN 7).

import VersionModel
import VersionStore

/// Gives up history that is too dense for its age, and what has been in the deleted area for too long.
final class Thinner: Sendable {
    private let source: any PurgeableSource
    private let trimming: Trimming
    private let retention: Retention

    init(source: any PurgeableSource, trimming: Trimming, retention: Retention) {
        (self.source, self.trimming, self.retention) = (source, trimming, retention)
    }

    /// - Parameter dryRun: only say what would go.
    /// - Throws: `busy` while the clock is not to be trusted.
    func thin(
        dryRun: Bool, report: (_ done: Int, _ of: Int) throws -> Void
    ) throws(OperationError) -> RemovalOutcome {
        try operation {
            let clock = retention.note()
            guard !clock.isPaused else {
                throw OperationError(
                    .busy, "the system clock jumped by more than a day",
                    advice: "thinning goes on when the clock is right, or after a day")
            }
            var outcome = try thinBySchedule(clock, dryRun: dryRun, report)
            var way = OldestFirst.Way(isDry: dryRun)
            if dryRun { way.leavesOut = Set(outcome.versions.map(\.version.id)) }
            let freed = dryRun ? outcome.bytes : 0
            var going: [(version: Version, path: TreePath)] = []
            way.willGo = { [source] in going += try source.described($0) }
            let given = trimming.giveUpExcess(way, freed: freed)
            outcome.versions += going
            outcome.deleted += given.deleted
            outcome.bytes.addCapped(given.bytes)
            return outcome
        }
    }

    /// The documents go through one after another, so that a run that fails or is cancelled has done its part.
    private func thinBySchedule(
        _ clock: RetentionClock, dryRun: Bool, _ report: (_ done: Int, _ of: Int) throws -> Void
    ) throws -> RemovalOutcome {
        var outcome = RemovalOutcome()
        var item: ItemID?
        repeat {
            let page = try source.histories(after: item, by: clock)
            item = page.next
            let surplus = Thinning.surplus(page.versions, now: clock.seen)
            for start in stride(from: 0, to: surplus.count, by: OldestFirst.mostAtOnce) {
                let piece = Array(surplus[start..<min(start + OldestFirst.mostAtOnce, surplus.count)])
                try report(outcome.versions.count, outcome.versions.count + surplus.count - start)
                outcome.versions += try source.described(piece.map(\.version))
                outcome.bytes.addCapped(
                    dryRun ? piece.map(\.bytes).cappedSum : try source.giveUp(piece, mayWait: true).bytes)
            }
        } while item != nil
        return outcome
    }
}
